"""Gradients cleared between backward and step."""

from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.step_before_backward import cleared_line, has_no_gradients
from gradscribe.engine.doctor.program_tree import ProgramTree


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the lines that clear gradients which the step after them needs."""
    tape, seen = evidence.tape, set[int]()
    for number, at in evidence.step_at.items():
        step = tape.steps[number]
        optimized = set(tape.held[step.held]) if step.held >= 0 else set()
        if step.changes or not has_no_gradients(evidence, optimized, at):
            continue
        line = cleared_line(evidence, at)
        if not line or line in seen:
            continue
        seen.add(line)
        backward = max((n for n, start in evidence.pass_at.items() if start < at), default=None)
        if backward is None or tape.passes[backward].line > step.line:
            continue
        message = (
            f"Line {line} clears the gradients that backward on line "
            f"{tape.passes[backward].line} computed, and the step on line {step.line} has none"
        )
        program = evidence.program
        related = (evidence.pass_place(backward), evidence.step_place(step))
        statement = program.statement(line)
        fix = ""
        if statement is not None:
            text = program.source(statement)
            moved = ProgramTree(program.without(line))
            fix = moved.inserted(
                tape.passes[backward].line - (line < tape.passes[backward].line), text
            )
        yield FoundCase(program.line(line), message, related, fix)


ENTRY = FindingKind(
    "zero-grad-before-step",
    "Gradients are cleared too early",
    "step() needs what backward() computed. Clear gradients before backward or after step, never "
    "between the two.",
    detect,
)
