"""The part of a shown run that is still right, while the current text fails or runs for long.

A program runs its statements in order: what ran before the first statement that has changed would
run in the same way again. What a function does may have been called from anywhere, so events on
its lines count only up to the latest event outside of functions.
"""

import ast

from gradscribe.engine.protocol.tape import Tape

MOST_EVENTS, MOST_CHARACTERS = 100_000, 200_000
"""Longer tapes and texts are taken to have changed as a whole: they are looked at while typing."""


def fresh_events(tape: Tape, shown: str, current: str) -> int:
    """Return how many of the first events of a tape are those of the text ``current``, too.

    ``shown``: the text that the tape was recorded from. Comments and blank lines do not count.
    """
    if shown == current:
        return len(tape.events)
    if len(tape.events) > MOST_EVENTS or len(shown) + len(current) > MOST_CHARACTERS:
        return 0
    statements = _statements(shown)
    if statements is None:
        return 0
    changed = _first_changed(statements, shown, current)
    if changed is None:
        return len(tape.events)
    fresh = 0
    places: dict[int, int | None] = {}
    for at, event in enumerate(tape.events):
        line = event.line
        if line not in places:
            places[line] = _statement_at(statements, line)
        place = places[line]
        if place is None or isinstance(statements[place], _FUNCTIONS):
            continue
        if place >= changed:
            break
        fresh = at + 1
    return fresh


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _statements(source: str) -> list[ast.stmt] | None:
    """Return the top-level statements of a program; None if it is not Python."""
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _first_changed(statements: list[ast.stmt], shown: str, current: str) -> int | None:
    """Return the index of the first statement that differs; None if all are there unchanged.

    The index after the last one stands for statements that were added at the end.
    """
    others = _statements(current)
    if others is not None:
        pairs = zip(statements, others, strict=False)
        same = next((n for n, (a, b) in enumerate(pairs) if not _is_same(a, b)), None)
        if same is not None:
            return same
        return None if len(statements) <= len(others) else len(others)
    # Half-typed text: whole lines are compared, and a statement counts once the next has begun.
    lines, now = shown.split("\n"), current.split("\n")
    count = next((n for n, (a, b) in enumerate(zip(lines, now, strict=False)) if a != b), None)
    if count is None:
        count = min(len(lines), len(now))
        if count == len(lines):
            return None
    return next(
        (n for n, one in enumerate(statements) if (one.end_lineno or one.lineno) > count), None
    )


def _is_same(a: ast.stmt, b: ast.stmt) -> bool:
    return ast.dump(a) == ast.dump(b)


def _statement_at(statements: list[ast.stmt], line: int) -> int | None:
    """Return the index of the statement on a line; None for none (by bisection)."""
    low, high = 0, len(statements)
    while low < high:
        middle = (low + high) // 2
        if statements[middle].lineno <= line:
            low = middle + 1
        else:
            high = middle
    if low and line <= (statements[low - 1].end_lineno or line):
        return low - 1
    return None
