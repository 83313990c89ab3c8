"""Names of operands and results in a formula, and their numbers."""

import math
import string
from collections.abc import Mapping

import numpy as np

from gradscribe.engine.protocol.tape import Op, Value
from gradscribe.playback.explain.rule import CallNumbers, Rule, rule_table
from gradscribe.playback.explain.settings import settings
from gradscribe.playback.tape import operands
from gradscribe.playback.tape.expressions import (
    ATOM,
    SUM,
    Expression,
    own_name,
    value_expression,
)
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting, symbols

_PRODUCTS: dict[tuple[int, ...], str] = {(1, 1): "dot", (2, 1): "mv", (1, 2): "vm"}
_EUCLIDEAN = {"2", "2.0", "None", "'fro'"}
KEYS = "abcdefghijklmnop"
"""Keys of the operands in a template."""


def rule_of(index: Index, op: Op) -> Rule | None:
    """Return the op's rule, None if no rule is correct for this call."""
    name = symbols.canonical_name(op.op)
    keywords = {arg.keyword: arg.text for arg in op.args if arg.value is None and arg.keyword}
    if name in ("max", "min") and len(op.inputs) == 2:
        name += "imum"
    elif name == "matmul":
        dims = tuple(min(len(index.values[v].shape), 2) for v in op.inputs)
        name = _PRODUCTS.get(dims, name)
    elif name == "norm":
        order = [a.text for a in op.args[1:2] if not a.keyword]
        order += [keywords[word] for word in ("p", "ord") if word in keywords]
        return rule_table()[name] if _EUCLIDEAN.issuperset(order) else None
    elif name in ("pow", "float_power") and len(op.inputs) == 2:
        name = "pow_by_tensor"
    elif name in ("max", "min") and len(op.args) == 1:
        name = f"a{name}"
    elif name.startswith("dropout") and keywords.get("training") == "False":
        name = "clone"
    if name == "abs" and index.values[op.inputs[0]].dtype.startswith("complex"):
        name = "abs_of_complex"
    if name == "cross_entropy" and len(op.inputs) == 3:
        name = "cross_entropy_weighted"
    if not _is_special(index, op, name, keywords):
        return rule_table().get(name)
    if name == "cross_entropy":
        name = _cross_entropy(index, op)
    return rule_table().get(f"{name}_special")


def _cross_entropy(index: Index, op: Op) -> str:
    """Return the variant: probabilities, smoothed classes, or ignored rows."""
    if index.values[op.inputs[1]].dtype.startswith(("float", "bfloat")):
        return "cross_entropy" if settings(op)["eps"] != "0" else "cross_entropy_of_probabilities"
    return "cross_entropy_smoothed" if settings(op)["eps"] != "0" else "cross_entropy"


def _is_special(index: Index, op: Op, name: str, keywords: Mapping[str, str]) -> bool:
    """Return whether the settings of a call make the op's usual rule wrong."""
    given = {**dict(zip(_SETTINGS.get(name, ()), _positional(op), strict=False)), **keywords}
    for keyword, usual in _USUAL.get(name, ()):
        if keyword in given and _number(given[keyword]) != usual:
            return True
    if name in ("cross_entropy", "nll_loss") and len(op.inputs) > 1:
        target = index.values[op.inputs[1]]
        classes_snapshot = index.snapshot(target.snapshot)
        classes = classes_snapshot.array() if classes_snapshot is not None else None
        # Probabilities instead of classes, or ignored rows.
        return target.dtype.startswith(("float", "bfloat")) or (
            classes is not None and bool((classes < 0).any())
        )
    return False


_SETTINGS = {"softplus": ("beta",)}
"""Op -> keywords of the settings that may follow the tensor as positional arguments."""
_USUAL: dict[str, tuple[tuple[str, float | str], ...]] = {
    "softplus": (("beta", 1.0),),
    "gelu": (("approximate", "'none'"),),
    "cross_entropy": (("label_smoothing", 0.0), ("ignore_index", -100.0)),
    "nll_loss": (("ignore_index", -100.0),),
    "kl_div": (("log_target", "False"),),
    "div": (("rounding_mode", "None"),),
    "addmm": (("alpha", 1.0), ("beta", 1.0)),
    "addmv": (("alpha", 1.0), ("beta", 1.0)),
    "baddbmm": (("alpha", 1.0), ("beta", 1.0)),
    "embedding": (("scale_grad_by_freq", "False"),),
}
"""Op -> (keyword, value) of the settings for which its usual rule is correct."""


def _positional(op: Op) -> list[str]:
    return [arg.text for arg in op.args[1:] if arg.value is None and not arg.keyword]


def _number(written: str) -> float | str:
    try:
        return float(written)
    except ValueError:
        return written


_OPEN = ("(", "[", ", ", "= ", " of ", "|", "‖", " if ", " where ", "else ")
_CLOSED = (")", "]", ",", "|", "‖", " if ", " where ", " in ", " > ", " < ", " ≥ ", " ≤ ")
_TERM_AFTER, _TERM_BEFORE = (" + ", " − "), (" + ", " − ", " × ", " ÷ ", "·")


class TemplateNames(dict[str, str]):
    """Values for a template. ``unnamed`` are the keys of values without a name in the source.

    Those are called by their expressions; ``bindings`` tells how tightly these hold together.
    """

    unnamed: set[str] = set()
    bindings: dict[str, int] = {}

    def __missing__(self, key: str) -> str:
        return "…"

    def atom(self, key: str) -> str:
        """Return a value, in parentheses if it is an expression with an operator."""
        return Expression(self[key], self.bindings.get(key, ATOM)).inside(ATOM)

    def _filled(self, template: str) -> str:
        """Return the template with its values, in parentheses where they need them."""
        if not any(binding < ATOM for binding in self.bindings.values()):
            return template.format_map(self)
        pieces = list(string.Formatter().parse(template))
        parts: list[str] = []
        for at, (before, key, _, _) in enumerate(pieces):
            parts.append(before)
            if key is not None:
                after = pieces[at + 1][0] if at + 1 < len(pieces) else ""
                is_whole = _stands_alone(before, after, self.bindings.get(key, ATOM))
                parts.append(self[key] if is_whole else self.atom(key))
        return "".join(parts)

    def fill(self, template: str) -> str:
        """Return the filled template; a doubled minus sign becomes a plus or is dropped."""
        twice, filled = 2 * formatting.MINUS, self._filled(template)
        if twice not in filled:
            return filled
        return filled.removeprefix(twice).replace(f"({twice}", "(").replace(twice, "+")

    def with_values(self, **more: str) -> "TemplateNames":
        """Return a copy with more values."""
        found = TemplateNames(self, **more)
        found.unnamed, found.bindings = self.unnamed, self.bindings
        return found

    def has_all_names(self, template: str) -> bool:
        """Return whether all values in the template have a name in the source."""
        return not any("{" + key + "}" in template for key in self.unnamed)


def _stands_alone(before: str, after: str, binding: int) -> bool:
    """Return whether an expression between two pieces of a template needs no parentheses."""
    if binding == ATOM:
        return True
    free_left = not before or before.endswith(_OPEN)
    free_right = not after or after.startswith(_CLOSED)
    if binding == SUM:
        return free_left and (free_right or after.startswith(_TERM_AFTER))
    is_term = before.endswith(_TERM_AFTER) and (free_right or after.startswith(_TERM_AFTER))
    return is_term or (free_left and (free_right or after.startswith(_TERM_BEFORE)))


def template_names(index: Index, op: Op) -> TemplateNames:
    """Return the template values of a call.

    ``a``, ``b``, ... are its operands, ``y`` its result, ``op`` its title, ``n`` the number of
    elements per element of the result, ``as`` and ``at`` the shape and transposed shape of ``a``.
    """
    found = TemplateNames(op=symbols.op_title(op))
    found.unnamed, found.bindings = set(), {}
    called: dict[int, Expression] = {}
    args = operands.operands(op)
    for key, arg in zip(KEYS, args, strict=False):
        if arg.value is None:
            found[key] = formatting.variable(arg.name) or _literal(arg.number, arg.text)
            continue
        value = index.values[arg.value]
        if value.id not in called:
            called[value.id] = _called(index, value, called)
        if not name_of(index, value):
            found.unnamed.add(key)
        found[key], found.bindings[key] = called[value.id].text, called[value.id].binding
        _shapes(found, key, value)
    found.update(settings(op))
    every = [found[key] for key, _ in zip(KEYS, args, strict=False)]
    found["all"] = ", ".join([*every, "…"] if len(args) > len(KEYS) else every)
    if op.outputs:
        made = index.values[op.outputs[0]]
        result = _called(index, made, {})
        found["y"], found.bindings["y"] = result.text, result.binding
        if not made.name:
            found.unnamed.add("y")
        _shapes(found, "g", made)
    others = [formatting.variable(index.values[v].name) for v in op.outputs[1:4]]
    found["parts"] = ", ".join(filter(None, [found["y"], *others]))
    found["last"] = next((found[k] for k in reversed(KEYS) if k in found), "…")
    if op.outputs:
        found["n"] = str(_averaged(index, op))
    return found


def _called(index: Index, value: Value, taken: Mapping[int, Expression]) -> Expression:
    """Return the name of a value, else its expression, which differs from those ``taken``."""
    name = name_of(index, value)
    if name:
        return Expression(formatting.variable(name))
    made = value_expression(index, value.id, formatting.variable)
    if made is None:
        op = index.op(value.op) if value.op is not None else None
        maker = value.maker.rsplit(".", 1)[-1] or "tensor"
        made = Expression(f"{symbols.op_title(op)}(…)" if op is not None else maker)
    while any(other.text == made.text for other in taken.values()):
        made = Expression(made.inside(ATOM) + "′")
    return made


def name_of(index: Index, value: Value) -> str:
    """Return a value's name without the path of its module: ``weight``; "" for none."""
    return own_name(index, value)


def scalar_numbers(index: Index, op: Op) -> CallNumbers | None:
    """Return the numbers of a scalar call; None if an operand or the result is no scalar."""
    found = partial_numbers(index, op)
    complete = found.inputs and not any(map(math.isnan, (*found.inputs, found.output)))
    return found if complete else None


def partial_numbers(index: Index, op: Op) -> CallNumbers:
    """Return the numbers of a call, with NaN for every operand that is not a single number."""
    inputs = []
    for arg in operands.operands(op):
        if arg.value is not None:
            number = scalar(index, index.values[arg.value].snapshot)
            inputs.append(math.nan if number is None else number)
        elif not arg.keyword:
            inputs.append(math.nan if arg.number is None else arg.number)
    output = scalar(index, index.values[op.outputs[0]].snapshot) if op.outputs else None
    options = {a.keyword: a.number for a in op.args if a.keyword and a.number is not None}
    return CallNumbers(tuple(inputs), math.nan if output is None else output, options)


def scalar(index: Index, snapshot: int | None) -> float | None:
    """Return the real number in a snapshot; None if it has more elements or a complex one."""
    held_snapshot = index.snapshot(snapshot)
    item = held_snapshot.item() if held_snapshot is not None and held_snapshot.numel == 1 else None
    return float(item) if isinstance(item, float | int) else None


def parenthesize_slope(filled: str) -> str:
    """Put parentheses around a slope of several terms: ``(1−o²)``."""
    inner = filled[1:]
    several = any(sign in inner for sign in "+−÷")
    return f"({filled})" if several and not filled.startswith("(") else filled


def shape(dims: tuple[int, ...]) -> str:
    """Return a shape without spaces: ``16×8``; empty for a scalar."""
    return "×".join(map(str, dims))


def _shapes(found: dict[str, str], key: str, value: Value) -> None:
    found[key + "s"] = shape(value.shape)
    turned = (*value.shape[:-2], *reversed(value.shape[-2:]))
    found[key + "t"] = shape(turned)


def _averaged(index: Index, op: Op) -> int:
    """Return the number of input elements per element of the result."""
    shapes = [index.values[v].shape for v in op.inputs]
    try:
        full = np.broadcast_shapes(*shapes)
    except ValueError:
        full = shapes[0]
    return math.prod(full) // max(1, math.prod(index.values[op.outputs[0]].shape))


def _literal(number: float | None, written: str) -> str:
    return formatting.trim_zeros(number) if number is not None else written
