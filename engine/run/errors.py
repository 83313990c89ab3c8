"""Turn an exception of the user's program into what the window shows: place, message, hint."""

import ast
import contextlib
from types import CodeType, FrameType, TracebackType

from gradscribe.engine import hints
from gradscribe.engine.hints import fixes
from gradscribe.engine.protocol.check_tape import MAX_LINES
from gradscribe.engine.protocol.safe_text import type_name, without_surrogates
from gradscribe.engine.protocol.tape import Place, Problem
from gradscribe.engine.record import code_positions
from gradscribe.engine.run.watchdog import Interrupted
from gradscribe.engine.sandbox.policy.refusal import Refusal

MAX_MESSAGE_CHARS = 4_000
"""Characters after which a message is cut."""

REFUSED = "Refused"
"""Problem type of what the policy forbids."""

_SILENT: dict[type[BaseException], str] = {
    MemoryError: "Not enough memory",
    AssertionError: "Assertion failed",
}
"""Messages for exceptions that have none."""


def to_problem(exc: BaseException, source: str, filename: str) -> Problem:
    """Return what to show for ``exc``, raised by the program ``source`` compiled as ``filename``.

    The message is the exception's own, verbatim except for CUDA's advice on debugging torch and
    the list of other backends of an operator. The place is the innermost expression of the user's
    file that was running; ``Place()`` (line 0) if the program was not running at all.
    """
    place = _place(exc, source, filename)
    frame, _ = _innermost(exc, filename)
    if isinstance(exc, Interrupted):
        if place.end_line != place.line:
            place = line_place(place.line, hints.lines_of(source))
        return _stopped(exc, source, place)
    if isinstance(exc, SystemExit):
        text = _clipped(hints.hint(exc, source, place, None))
        return Problem("SystemExit", exit_text(exc), text, place)
    if isinstance(exc, Refusal):
        return Problem(
            REFUSED,
            _clipped(exc.message),
            _clipped(exc.hint),
            exc.place if exc.place.line else place,
        )
    message = without_surrogates(error_message(exc))
    # The names that the failing frame could see.
    scope = {**frame.f_builtins, **frame.f_globals, **frame.f_locals} if frame else None
    text = _clipped(hints.hint(exc, source, place, scope))
    fix = without_surrogates(fixes.fixed(exc, source, place, scope, text))
    return Problem(type_name(type(exc)), message, text, place, fix=fix)


USER_ERRORS = BaseException
"""Exceptions that a user's module may raise. SystemExit must not end the engine, and Ctrl-C never
reaches it: a KeyboardInterrupt is raised by the module itself."""


def is_clean_exit(exc: BaseException) -> bool:
    """Return whether ``exc`` ends a program successfully: ``sys.exit()``, ``sys.exit(0)``."""
    return isinstance(exc, SystemExit) and exc.code in (None, 0, False)


def exit_text(exc: SystemExit) -> str:
    """Return a message for the argument of `sys.exit`."""
    if exc.code is None or isinstance(exc.code, int):
        return f"The program ended itself with exit code {int(exc.code or 0)}"
    return without_surrogates(error_message(exc))


def _clipped(text: str) -> str:
    return without_surrogates(
        text if len(text) <= MAX_MESSAGE_CHARS else text[:MAX_MESSAGE_CHARS] + " …"
    )


def error_message(exc: BaseException) -> str:
    """Return the message of an exception; empty if its ``__str__`` fails."""
    if isinstance(exc, SyntaxError):
        return str(exc.msg)[:MAX_MESSAGE_CHARS]
    try:
        text = str.__str__(str(exc))
    except BaseException:  # noqa: BLE001 - the user's own __str__ may raise anything
        text = ""
    if text.startswith("CUDA error:"):
        text = text.partition("\n")[0]
    if text.startswith("Could not run 'aten::"):
        # A list of all backends that torch was built with follows.
        text = text.partition(" This could be because the operator")[0]
    return _clipped(text) or _SILENT.get(type(exc), "")


def _stopped(exc: Interrupted, source: str, place: Place) -> Problem:
    lines = hints.lines_of(source)
    line = lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""
    code = f": {line[:80]}" if line else ""
    if exc.why == "timeout":
        message = f"Still running after {exc.seconds:g} s{code}"
        return Problem(
            "Timeout",
            message,
            "Does a loop never end? If it only needs longer, raise the time limit.",
            place,
        )
    message = f"The program was here{code}" if place.line else "The program was stopped"
    return Problem("Stopped", message, "", place)


def _innermost(exc: BaseException, filename: str) -> tuple[FrameType | None, int]:
    """Return the innermost frame of ``filename`` (None: none is) and its instruction offset."""
    found: TracebackType | None = None
    trace = exc.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            found = trace
        trace = trace.tb_next
    return (found.tb_frame, found.tb_lasti) if found else (None, 0)


def _place(exc: BaseException, source: str, filename: str) -> Place:
    lines = hints.lines_of(source)
    if isinstance(exc, SyntaxError) and exc.filename == filename and exc.lineno:
        return _syntax_place(exc, lines)
    frame, instruction = _innermost(exc, filename)
    if frame is None:
        return _unread_place(exc, lines)
    return code_place(frame.f_code, instruction, lines)


def _unread_place(exc: BaseException, lines: list[str]) -> Place:
    """Return the place of a compile error for which Python names no line."""
    if isinstance(exc, RecursionError | MemoryError) and exc.__traceback__ is not None:
        longest = max(range(len(lines)), key=lambda number: len(lines[number]))
        return line_place(longest + 1, lines)
    if isinstance(exc, SyntaxError | ValueError) and "null bytes" in str(exc):
        for number, line in enumerate(lines, 1):
            if (at := line.find("\0")) >= 0:
                return Place(number, at, number, at + 1)
    return Place()


def code_place(code: CodeType, instruction: int, lines: list[str]) -> Place:
    """Return the range of the instruction at byte offset ``instruction`` of ``code``.

    ``lines`` is the source; without columns in ``code`` the range is the whole line.
    """
    found = code_positions.positions(code)
    index = instruction // 2
    unknown = (None, None, None, None)
    line, end_line, column, end_column = found[index] if 0 <= index < len(found) else unknown
    if line is None:
        line = code.co_firstlineno
    # A code object may be constructed with line numbers that the text does not have.
    if not 0 < line <= len(lines):
        return Place()
    if end_line is None or column is None or end_column is None or end_line > len(lines):
        return line_place(line, lines)
    return Place(
        line, _characters(lines, line, column), end_line, _characters(lines, end_line, end_column)
    )


def line_place(line: int, lines: list[str]) -> Place:
    """Return the range of the text on ``line`` (from 1), without its indentation."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return Place(line, len(text) - len(text.lstrip()), line, max(len(text.rstrip()), 1))


def _characters(lines: list[str], line: int, column: int) -> int:
    """Convert a column in UTF-8 bytes to a column in characters."""
    if not 0 < line <= len(lines):
        return column
    return len(lines[line - 1].encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))


def _syntax_place(exc: SyntaxError, lines: list[str]) -> Place:
    """Return a visible range: never empty, never past the last line with text."""
    # A SyntaxError raised by the program may have any place, even values that are no numbers.
    given = (exc.lineno, exc.offset, exc.end_lineno, exc.end_offset)
    numbers = [min(max(n, 0), MAX_LINES) if type(n) is int else 0 for n in given]
    line = min(numbers[0] or 1, len(lines) + 1)
    column = max((numbers[1] or 1) - 1, 0)
    end_line = numbers[2] or line
    end_column = numbers[3] - 1
    if not _from_parser(exc, lines):
        column = _characters(lines, line, column)
        end_column = _characters(lines, end_line, end_column)
    while line > 1 and (line > len(lines) or not lines[line - 1].strip()):
        line -= 1
        column = end_column = len(lines[line - 1]) if line <= len(lines) else 0
        end_line = line
    text = lines[line - 1] if line <= len(lines) else ""
    column = min(column, max(len(text) - 1, 0))
    if end_line < line or end_line > len(lines):
        end_line = line
    # For text missing at the end of a line Python 3.13 puts the end after the line break.
    end_column = min(end_column, len(lines[end_line - 1]) if end_line <= len(lines) else 0)
    if end_line == line and end_column <= column:
        end_column = column + 1
    return Place(line, column, end_line, end_column)


def _from_parser(exc: SyntaxError, lines: list[str]) -> bool:
    """Return whether the parser raised the error: it counts characters, the compiler bytes."""
    if all(line.isascii() for line in lines):
        return True
    with contextlib.suppress(ValueError, RecursionError, MemoryError):
        try:
            ast.parse("\n".join(lines))
        except SyntaxError as again:
            return (again.msg, again.lineno) == (exc.msg, exc.lineno)
    return False
