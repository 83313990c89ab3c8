"""One plain line of help for each error that people meet: tables, one row an error.

The first row that matches wins, so within a table the special stands before the general.
"""

import re
from collections.abc import Mapping

from engine.hints import autograd, layers, operands, parts, python, tensors
from engine.hints.advice import Case, Row
from engine.tape import Place

ROWS: tuple[Row, ...] = (
    *python.ROWS,
    *autograd.ROWS,
    *parts.ROWS,
    *layers.ROWS,
    *tensors.ROWS,
)
_OF_TENSORS = frozenset((*parts.ROWS, *layers.ROWS, *tensors.ROWS))
"""Rows whose help goes on with what took part."""


def hint(exc: BaseException, source: str, place: Place, scope: Mapping[str, object] | None) -> str:
    """Return the help for ``exc``, empty where there is none. Never raises.

    Args:
        exc: what the program raised.
        source: the whole program.
        place: the range that failed.
        scope: the names that the failing frame could see.
    """
    try:
        text = str(exc.msg if isinstance(exc, SyntaxError) else exc)
        case = Case(exc, _code(source, place), scope or {}, source)
        for row in ROWS:
            match = re.search(row.pattern, text) if isinstance(exc, row.kind) else None
            if match is not None:
                about = operands.told(case) if row in _OF_TENSORS else ""
                return f"{answer(row, match, case)} {about}".strip()
    except BaseException:  # noqa: BLE001 - the exception is the user's and may raise on every touch
        return ""
    return ""


def answer(row: Row, match: re.Match[str], case: Case) -> str:
    """Return the hint of ``row`` with the groups of ``match`` put in."""
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
