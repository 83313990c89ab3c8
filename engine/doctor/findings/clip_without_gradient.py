"""Gradients clipped where there are none yet, or none left to clip."""

import ast
from collections.abc import Iterator

from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.doctor.mends import optimizer_names
from engine.doctor.program import Program, called

_CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm")


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield clippings before the backward or after the step of their block."""
    program = evidence.program
    if not evidence.tape.steps:
        return
    for clip in (call for name in _CLIPS for call in program.calls(name)):
        statement = program.statement_of(clip)
        if not isinstance(statement, ast.Expr | ast.Assign):
            continue
        block = program.siblings(statement)
        at = block.index(statement) if statement in block else -1
        backwards = _places(block, "backward")
        steps = [i for i in _places(block, "step") if _is_optimizers(program, block[i])]
        if at < 0 or len(backwards) != 1 or not steps or steps[0] < backwards[0]:
            continue
        backward, step = backwards[0], steps[-1]
        if backward < at < step:
            continue
        why = "before backward has computed them" if at < backward else "after step has used them"
        other = block[backward if at < backward else step]
        message = f"{called(clip)} runs {why} (line {other.lineno}): nothing is clipped"
        fix = _moved(program, statement, block[backward])
        yield Found(program.place(clip), message, (program.line(other.lineno),), fix)


def _places(block: list[ast.stmt], name: str) -> list[int]:
    """Return the indices of a block's statements that call a method of that name."""
    return [
        at
        for at, statement in enumerate(block)
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and called(statement.value) == name
    ]


def _is_optimizers(program: Program, statement: ast.stmt) -> bool:
    return bool(optimizer_names(program, statement.lineno))


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
