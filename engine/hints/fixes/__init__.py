"""Fixes of errors: the whole program with the edit that a hint speaks of.

A fix is offered only if Python can parse the program then, or gets further in it than before.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from itertools import islice

from gradscribe.engine.hints.fixes import classes, names, syntax, tensors
from gradscribe.engine.hints.fixes.context import ErrorFixRow, FailedProgram
from gradscribe.engine.protocol.tape import Place

ROWS: tuple[ErrorFixRow, ...] = (*syntax.ROWS, *classes.ROWS, *names.ROWS, *tensors.ROWS)
MOST_CANDIDATES = 40
"""Maximum number of programs that are parsed for an error."""
MOST_PARSED = 120_000
"""Maximum number of characters parsed for an error, about 0.1 s: most errors are typed past."""
MOST_ROUNDS = 8
"""Maximum number of the same mistakes in a row that are fixed together."""


def fixed(
    exc: BaseException, source: str, place: Place, scope: Mapping[str, object] | None, hint: str
) -> str:
    """Return the program with the error fixed; empty if no edit is known. Never raises.

    ``hint`` is that of the error. The text keeps its line ends where they are newlines.
    """
    if place.line < 1 or len(source) > MOST_PARSED // 3 or "\r" in source:
        return ""
    try:
        return _first_good(FailedProgram(exc, source, place, scope or {}, hint))
    except BaseException:  # noqa: BLE001 - the exception is the user's and may raise on every touch
        return ""


def _first_good(fault: FailedProgram) -> str:
    """Return the first candidate that can be parsed, else the first that gets further."""
    most = min(MOST_CANDIDATES, MOST_PARSED // max(1, len(fault.source)))
    before = syntax_error(fault.source)
    further: list[tuple[str, SyntaxError]] = []
    for program in islice(_candidates(fault), most):
        after = syntax_error(program) if program != fault.source else before
        if after is None and program != fault.source:
            return program
        if before is not None and after is not None and _position(after) > _position(before):
            further.append((program, after))
    # An indented line that belongs to nothing is what a wrong edit leaves behind, unless there was
    # another further down.
    left = "unexpected indent"
    good = [pair for pair in further if pair[1].msg != left or fault.message == left]
    return _go_on(*good[0], fault.message) if good else ""


def _go_on(program: str, error: SyntaxError, message: str) -> str:
    """Return a program with the same mistake fixed once more, if that is what comes next."""
    for _ in range(MOST_ROUNDS):
        if error.msg != message:
            # Another mistake further down is the next error to be shown.
            return program
        fault = FailedProgram(error, program, Place(*_position(error), *_end(error)), {}, "")
        for text in islice(_candidates(fault), MOST_CANDIDATES):
            after = syntax_error(text)
            if after is None:
                return text
            if _position(after) > _position(error):
                program, error = text, after
                break
        else:
            return ""
    return ""


def _candidates(fault: FailedProgram) -> Iterator[str]:
    for row in ROWS:
        if isinstance(fault.exc, row.kind):
            said = re.search(row.pattern, fault.message)
            words = re.search(row.hint, fault.hint)
            if said is not None and words is not None:
                yield from row.fixes(fault, said, words)


def syntax_error(source: str) -> SyntaxError | None:
    """Return the error that the parser finds in a program, if it finds one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError as error:
        return error
    return None


def _position(error: SyntaxError) -> tuple[int, int]:
    return error.lineno or 0, max(0, (error.offset or 1) - 1)


def _end(error: SyntaxError) -> tuple[int, int]:
    line, column = _position(error)
    return error.end_lineno or line, max(column + 1, (error.end_offset or 1) - 1)
