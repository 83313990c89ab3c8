"""Explanation of shapes: a sentence, and a table with a column for each axis."""

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


def axis_row(name: str, shape: Shape, width: int, kinds: tuple[Kind, ...] = ()) -> AxisRow:
    """Return a row for ``shape``, right-aligned in ``width`` columns; missing axes are empty."""
    chips = [Chip(str(size)) for size in shape]
    for index, kind in enumerate(kinds):
        chips[index] = Chip(chips[index].text, kind)
    return AxisRow(name, (Chip(""),) * (width - len(shape)) + tuple(chips))


def element_count(shape: Shape) -> int:
    """Return the number of elements of a tensor of that shape."""
    total = 1
    for size in shape:
        total *= size
    return total


def normalize_axis(number: int, dims: int) -> int:
    """Return an axis number as non-negative; -1 is the last axis."""
    return number + dims if number < 0 else number
