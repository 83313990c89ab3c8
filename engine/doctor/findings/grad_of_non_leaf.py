"""``.grad`` of a tensor that was computed, which is always None."""

import ast
from collections.abc import Iterator

from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.doctor.findings.lost_leaf import lost_names
from engine.tape import Value


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield each read of ``.grad`` of a result that took part in a pass."""
    program, seen = evidence.program, set(lost_names(evidence))
    if not evidence.tape.passes:
        return
    for node in program.nodes:
        if not isinstance(node, ast.Attribute) or node.attr != "grad":
            continue
        name = ast.unparse(node.value)
        if not isinstance(node.ctx, ast.Load) or name in seen:
            continue
        seen.add(name)
        value = evidence.latest(name)
        if value is None or not _is_computed(evidence, value, name):
            continue
        made = evidence.op_of(value.id)
        what = f"{made.op} on line {made.place.line}" if made is not None else "an op"
        message = (
            f"{name} was computed by {what}, so {name}.grad stays None: only leaves "
            f"that require a gradient keep one"
        )
        place = evidence.place_of(value.id)
        fix = program.inserted(place.line, f"{name}.retain_grad()", after=True)
        yield Found(program.place(node), message, (place,), fix if name.isidentifier() else "")


def _is_computed(evidence: Evidence, value: Value, name: str) -> bool:
    if value.is_leaf or not value.requires_grad or value.op is None:
        return False
    kept = (c for c in evidence.program.calls("retain_grad"))
    if any(ast.unparse(c.func) == f"{name}.retain_grad" for c in kept):
        return False
    return value.id in evidence.used_for_training


ENTRY = Entry(
    "grad-of-non-leaf",
    "A computed tensor keeps no gradient",
    "Gradients of results are used up on the way back and not stored. Call retain_grad() on the "
    "tensor before backward(), or look at the leaf it was computed from.",
    detect,
)
