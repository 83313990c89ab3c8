"""Hints for common errors, from tables with one row per error.

The first row that matches wins, so specific rows precede general ones in each table.
"""

import re
from collections.abc import Mapping

from gradscribe.engine.hints import (
    autograd,
    classes,
    layers,
    loops,
    models,
    operands,
    python,
    ranks,
    tensors,
)
from gradscribe.engine.hints.advice import HintContext, HintRow
from gradscribe.engine.protocol.tape import Place

ROWS: tuple[HintRow, ...] = (
    *classes.ROWS,
    *loops.ROWS,
    *ranks.ROWS,
    *python.ROWS,
    *autograd.ROWS,
    *models.ROWS,
    *layers.ROWS,
    *tensors.ROWS,
)
_OF_TENSORS = frozenset((*models.ROWS, *layers.ROWS, *tensors.ROWS))
"""Rows whose hint is followed by the operands' shapes."""


def hint(exc: BaseException, source: str, place: Place, scope: Mapping[str, object] | None) -> str:
    """Return the hint for ``exc``, empty if there is none. Never raises.

    Args:
        exc: the exception that the program raised.
        source: the whole program.
        place: the range of source that failed.
        scope: the names visible in the failing frame.
    """
    try:
        text = str(exc.msg if isinstance(exc, SyntaxError) else exc)
        case = HintContext(exc, _code(source, place), scope or {}, source)
        for row in ROWS:
            match = re.search(row.pattern, text) if isinstance(exc, row.kind) else None
            if match is not None:
                about = operands.described(case) if row in _OF_TENSORS else ""
                return f"{answer(row, match, case)} {about}".strip()
    except BaseException:  # noqa: BLE001 - the exception is the user's and may raise on every touch
        return ""
    return ""


def answer(row: HintRow, match: re.Match[str], case: HintContext) -> str:
    """Return the hint of ``row`` with the groups of ``match`` filled in."""
    if isinstance(row.answer, str):
        return row.answer.format("", *match.groups()) if match.groups() else row.answer
    return row.answer(match, case)


def lines_of(source: str) -> list[str]:
    """Return the lines of a program as Python counts them."""
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _code(source: str, place: Place) -> str:
    lines = lines_of(source)
    if not 0 < place.line <= len(lines):
        return ""
    if place.end_line == place.line:
        return lines[place.line - 1][place.column : place.end_column]
    return lines[place.line - 1][place.column :]
