"""Tables of what is between two axes."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gradscribe.widgets.plots.drawing.axes import Axis

ROWS = 2048
"""Most rows that are written at once."""


def between(numbers: NDArray[np.floating], axis: Axis) -> NDArray[np.bool_]:
    """Return which numbers are on an axis, its ends included."""
    return (numbers >= axis.low) & (numbers <= axis.high)


def rows_table(head: Sequence[str], columns: Sequence[NDArray[np.generic]]) -> Iterator[str]:
    """Yield CSV, some lines at a time: numbers have the digits that give them again."""
    yield csv_lines([head])
    count = len(columns[0]) if columns else 0
    for start in range(0, count, ROWS):
        parts = [[str(item) for item in column[start : start + ROWS]] for column in columns]
        yield csv_lines(zip(*parts, strict=True))


def grid_table(
    names: tuple[str, str],
    title: str,
    across: NDArray[np.float64],
    up: NDArray[np.float64],
    grid: NDArray[np.floating],
    x: Axis,
    y: Axis,
) -> Iterator[str]:
    """Yield the numbers of a grid between two axes as CSV: a row per place.

    ``across`` (columns,) and ``up`` (rows,) are the places of ``grid`` (rows, columns).
    """
    columns, rows = np.flatnonzero(between(across, x)), np.flatnonzero(between(up, y))
    yield csv_lines([[*names, title]])
    for row in rows:
        found = zip(across[columns], grid[row, columns], strict=True)
        yield csv_lines([str(place), str(up[row]), str(number)] for place, number in found)


def csv_lines(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as lines of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
