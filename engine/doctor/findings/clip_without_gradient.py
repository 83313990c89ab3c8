"""Gradients clipped where there are none yet, or none left to clip."""

import ast
from collections.abc import Iterator

from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.doctor.program import Program, called

_CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm")


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield clippings that stand before the backward or behind the step of their block."""
    program = evidence.program
    if not evidence.tape.steps:
        return
    for clip in (call for name in _CLIPS for call in program.calls(name)):
        statement = program.statement_of(clip)
        if not isinstance(statement, ast.Expr | ast.Assign):
            continue
        block = program.siblings(statement)
        at = block.index(statement) if statement in block else -1
        backward, step = _only(block, "backward"), _only(block, "step")
        if at < 0 or backward < 0 or step < backward:
            continue
        if backward < at < step:
            continue
        why = "before backward has computed them" if at < backward else "after step has used them"
        other = block[backward if at < backward else step]
        message = f"{called(clip)} runs {why} (line {other.lineno}): nothing is clipped"
        fix = _moved(program, statement, block[backward])
        yield Found(program.place(clip), message, (program.line(other.lineno),), fix)


def _only(block: list[ast.stmt], name: str) -> int:
    """Return which statement of a block calls a method of that name; -1 unless exactly one does.

    Schedules step behind the optimizer: of several steps the first counts.
    """
    found = [
        at
        for at, statement in enumerate(block)
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and called(statement.value) == name
    ]
    return found[0] if len(found) == 1 or (found and name == "step") else -1


def _moved(program: Program, clip: ast.stmt, backward: ast.stmt) -> str:
    if clip.lineno != clip.end_lineno or isinstance(clip, ast.Assign):
        return ""
    text = program.source(clip)
    if clip.lineno > backward.lineno:
        left = Program(program.without(clip.lineno))
        return left.inserted(backward.lineno, text, after=True)
    added = Program(program.inserted(backward.lineno, text, after=True))
    return added.without(clip.lineno)


ENTRY = Entry(
    "clip-without-gradient",
    "Clipping at the wrong moment",
    "Clipping changes what backward left in .grad, before step uses it. The order is zero_grad, "
    "forward, loss, backward, clip, step.",
    detect,
)
