"""Explanation of shapes: a sentence, and a table with a column for each axis."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Kind = Literal["", "stretched", "missing", "summed", "new", "gone", "joined", "picked", "clash"]

Shape = tuple[int, ...]


class Chip(NamedTuple):
    """A cell of the table: the size of an axis or its change, and the kind of its highlight."""

    text: str
    kind: Kind = ""


class AxisRow(NamedTuple):
    """A row of the table: a tensor's axes, with a chip for each column."""

    name: str
    chips: tuple[Chip, ...]


class AxisTable(NamedTuple):
    """Explanation of shapes: a sentence, and rows that are aligned by column."""

    sentence: str
    rows: tuple[AxisRow, ...] = ()


def axis_row(name: str, shape: Shape, kinds: Mapping[int, Kind] | None = None) -> AxisRow:
    """Return a row for ``shape``; ``kinds`` are those of some axes."""
    given = kinds or {}
    return AxisRow(name, tuple(Chip(str(size), given.get(i, "")) for i, size in enumerate(shape)))


def normalize_axis(number: int, dims: int) -> int:
    """Return an axis number as non-negative; -1 is the last axis."""
    return number + dims if number < 0 else number
