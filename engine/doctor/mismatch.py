"""Tensors and modules on a failing line whose dtypes or devices differ."""

import ast
from typing import Literal, NamedTuple

from gradscribe.engine.doctor.errors import modules_at, tensors_at
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.snapshot_stats import shape
from gradscribe.engine.protocol.tape import Place


class Operand(NamedTuple):
    """A tensor or a module on the failing line; ``kind`` is its dtype or its device."""

    name: str
    kind: str
    place: Place
    node: ast.expr | None
    is_module: bool
    shape: tuple[int, ...] = ()


def operands_on_line(
    evidence: Evidence, line: int, what: Literal["dtype", "device"]
) -> list[Operand]:
    """Return what is read on the failing line, or on the line of the outermost module call."""
    found = _on(evidence, line, what)
    if len({p.kind for p in found}) < 2:
        for outer in _calling(evidence):
            more = _on(evidence, outer, what)
            if len({p.kind for p in more}) > 1:
                return more
    return found


def _on(evidence: Evidence, line: int, what: Literal["dtype", "device"]) -> list[Operand]:
    found = [
        Operand(
            evidence.program.source(call.func),
            getattr(parameters[0], what),
            parameters[0].place,
            call.func,
            True,
        )
        for call, parameters in modules_at(evidence, line)
    ]
    modules = {p.name for p in found}
    for node, value in tensors_at(evidence, line):
        if evidence.program.source(node) in modules:
            continue
        found.append(
            Operand(
                evidence.program.source(node),
                getattr(value, what),
                evidence.place_of(value.id),
                node,
                False,
                value.shape,
            )
        )
    return found


def _calling(evidence: Evidence) -> list[int]:
    """Return the line of the last outermost module call."""
    for event in reversed(evidence.tape.events):
        if event.kind == "enter" and evidence.tape.calls[event.ref].parent is None:
            return [event.line]
    return []


def describe_operands(parties_there: list[Operand]) -> str:
    """Return a message with the dtype or device of each; empty if all are the same."""
    if len({p.kind for p in parties_there}) < 2:
        return ""
    parts = [
        f"{p.name} {'has parameters in' if p.is_module else shape(p.shape) + ' is'} {p.kind}"
        for p in parties_there
    ]
    return ", ".join(dict.fromkeys(parts))
