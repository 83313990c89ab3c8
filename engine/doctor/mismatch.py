"""Tensors and modules on a failing line whose dtypes or devices differ."""

import ast
from typing import Literal, NamedTuple

from engine.doctor.errors import modules_at, tensors_at
from engine.doctor.evidence import Evidence
from engine.doctor.numbers import shape
from engine.tape import Place


class Party(NamedTuple):
    """A tensor or a module on the failing line; ``kind`` is its dtype or its device."""

    name: str
    kind: str
    place: Place
    node: ast.expr | None
    is_module: bool
    shape: tuple[int, ...] = ()


def parties(evidence: Evidence, line: int, what: Literal["dtype", "device"]) -> list[Party]:
    """Return what is read on the failing line, or on the line of the outermost module call."""
    found = _on(evidence, line, what)
    if len({p.kind for p in found}) < 2:
        for outer in _calling(evidence):
            more = _on(evidence, outer, what)
            if len({p.kind for p in more}) > 1:
                return more
    return found


def _on(evidence: Evidence, line: int, what: Literal["dtype", "device"]) -> list[Party]:
    found = [
        Party(
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
            Party(
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


def told(parties_there: list[Party]) -> str:
    """Return a message with the dtype or device of each; empty if all are the same."""
    if len({p.kind for p in parties_there}) < 2:
        return ""
    parts = [
        f"{p.name} {'has parameters in' if p.is_module else shape(p.shape) + ' is'} {p.kind}"
        for p in parties_there
    ]
    return ", ".join(dict.fromkeys(parts))
