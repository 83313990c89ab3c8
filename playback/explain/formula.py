"""Formula of a call: that of its rule, with the call's names and settings."""

from gradscribe.engine.protocol.tape import Op
from gradscribe.playback.explain.naming import TemplateNames
from gradscribe.playback.explain.rule import Rule
from gradscribe.playback.tape.expressions import ATOM
from gradscribe.playback.text import symbols


def formula(op: Op, rule: Rule | None, names: TemplateNames) -> str:
    """Return an op's formula with the names and settings of this call."""
    if rule is None:
        return names.fill("{y} = {op}({all})")
    template = rule.formula
    name = symbols.canonical_name(op.op)
    if name in ("pow", "float_power") and len(op.args) > 1 and op.args[1].value is None:
        raised = symbols.superscript(op.args[1].number)
        if raised != "ⁿ" and not op.args[1].name:
            template = "{y} = {a}" + raised
    if name == "linear" and len(op.inputs) < 3:
        template = "{y} = {a} {b}ᵀ"
    if name.startswith("conv") and not any(a.value for a in op.args[2:3]):
        template = template.replace(" + {c}", "")
    how = reduction(op)
    if how == "batchmean":
        template = template.replace("mean of", "1÷N × sum of")
    elif how != "mean":
        template = template.replace("mean of", "sum of" if how == "sum" else "each")
        template = template.replace("mean over rows of", "sum of" if how == "sum" else "each row's")
    if "y" in names.unnamed and names.bindings.get("y", ATOM) < ATOM:
        # An operator says nothing else than its formula.
        template = template.removeprefix("{y} = ")
    return names.fill(template)


def reduction(op: Op) -> str:
    """Return the ``reduction`` argument of a loss, by default ``mean``."""
    return next((a.text.strip("'") for a in op.args if a.keyword == "reduction"), "mean")
