"""The forward pass of training runs inside no_grad."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree
from gradscribe.engine.protocol.tape import Place


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each op inside no_grad that cuts wanted leaves off."""
    for cut, message in cuts.cuts_of_kind(evidence, "no_grad"):
        header, fix = _header(evidence, cut.op.place.line)
        last = evidence.pass_place(len(evidence.tape.passes) - 1)
        where = f" (line {header.line})" if header.line else ""
        text = f"{message}: {cut.op.op} on line {cut.op.place.line} ran inside no_grad{where}"
        place = header if header.line else cut.op.place
        yield FoundCase(place, text, (cut.op.place, last), fix)


def _header(evidence: Evidence, line: int) -> tuple[Place, str]:
    """Return the line that disables gradient recording, and the program without it."""
    program = evidence.program
    block = cuts.block_without_grad(program, line)
    if block is not None:
        place = program.line(block.lineno)
        text = program.lines[block.lineno - 1]
        return Place(block.lineno, place.column, block.lineno, len(text)), program.dedented(block)
    decorator = _decorator(program, line)
    if decorator is not None:
        rest = [x for i, x in enumerate(program.lines, 1) if i != decorator.lineno]
        return program.place(decorator), "\n".join(rest)
    for node in program.calls("set_grad_enabled"):
        if ast.unparse(node).endswith("(False)") and node.lineno < line:
            return program.place(node), program.without(node.lineno)
    # The op may be inside a module: check the lines of the module calls as well.
    for call in evidence.tape.calls:
        outer = cuts.block_without_grad(program, _call_line(evidence, call.id))
        if outer is not None and call.parent is None:
            return Place(
                outer.lineno, outer.col_offset, outer.lineno, len(program.lines[outer.lineno - 1])
            ), program.dedented(outer)
    return Place(), ""


def _call_line(evidence: Evidence, call: int) -> int:
    at = evidence.call_at.get(call)
    return evidence.tape.events[at].line if at is not None else 0


def _decorator(program: ProgramTree, line: int) -> ast.expr | None:
    statement = program.statement(line)
    for node in [statement, *program.above(statement)] if statement is not None else ():
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if "no_grad" in ast.unparse(decorator) or "inference" in ast.unparse(decorator):
                    return decorator
    return None


ENTRY = FindingKind(
    "cut-by-no-grad",
    "Training runs inside no_grad",
    "Inside no_grad nothing is recorded, so there is no way back from the loss to the parameters. "
    "Keep it for evaluation and for updates by hand.",
    detect,
)
