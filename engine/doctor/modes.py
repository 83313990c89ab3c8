"""Module calls in training and evaluation mode, and the layers that depend on the mode."""

import ast

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.protocol.tape import Call

_NORMS = ("BatchNorm", "SyncBatchNorm", "LazyBatchNorm")
_DROPS = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "FeatureDropout")


def is_mode_dependent(call: Call) -> bool:
    """Return whether a module behaves differently in training and in evaluation."""
    if call.kind.startswith(_NORMS):
        return True
    return call.kind.startswith(_DROPS) and not call.about.startswith("p=0.0")


def outer_calls(evidence: Evidence) -> list[Call]:
    """Return the outermost module calls."""
    return [call for call in evidence.tape.calls if call.parent is None]


def inside(evidence: Evidence) -> dict[int, list[Call]]:
    """Return for each outermost call the calls within it, itself included."""
    found: dict[int, list[Call]] = {}
    for call in evidence.tape.calls:
        outer = evidence.outermost_call(call.id)
        if outer is not None:
            found.setdefault(outer.id, []).append(call)
    return found


def results(evidence: Evidence) -> dict[int, list[int]]:
    """Return for each outermost call the values created inside it, in order."""
    found: dict[int, list[int]] = {}
    for op in evidence.tape.ops:
        outer = evidence.outermost_call_of(op) if op.phase == "forward" else None
        if outer is not None:
            found.setdefault(outer.id, []).extend(op.outputs)
    return found


def call_line(evidence: Evidence, call: Call) -> int:
    """Return the line of a module call."""
    at = evidence.call_at.get(call.id)
    return evidence.tape.events[at].line if at is not None else 0


def mode_lines(evidence: Evidence, mode: str) -> list[int]:
    """Return the lines that call ``.train()`` or ``.eval()``."""
    return [
        call.lineno for call in evidence.program.calls(mode) if isinstance(call.func, ast.Attribute)
    ]


def module_expression(evidence: Evidence, call: Call) -> str:
    """Return the program's expression for a call's module: ``self.net``; empty if unknown."""
    statement = evidence.program.statement(call_line(evidence, call))
    last = call.name.rpartition(".")[2]
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            text = ast.unparse(node.func)
            if text == call.name or (text.rpartition(".")[2] == last and "(" not in text):
                return text
    return call.name if call.name.isidentifier() and call.name != call.kind else ""
