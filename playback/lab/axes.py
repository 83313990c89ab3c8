"""What the lab says of shapes: a sentence, and a table with a column for each axis."""

from typing import Literal, NamedTuple

Kind = Literal["", "stretched", "missing", "summed", "new", "gone", "joined", "picked", "clash"]

Shape = tuple[int, ...]


class Chip(NamedTuple):
    """One axis of one tensor: its size or what becomes of it, and how it is marked."""

    text: str
    kind: Kind = ""


class Row(NamedTuple):
    """A tensor's axes, one chip for each column of the table."""

    name: str
    chips: tuple[Chip, ...]


class Axes(NamedTuple):
    """How shapes belong together: a sentence, and rows whose columns stand over each other."""

    sentence: str
    rows: tuple[Row, ...] = ()


def row(name: str, shape: Shape, width: int, kinds: tuple[Kind, ...] = ()) -> Row:
    """Return a row for ``shape``, right-aligned in ``width`` columns; missing axes are empty."""
    chips = [Chip(str(size)) for size in shape]
    for index, kind in enumerate(kinds):
        chips[index] = Chip(chips[index].text, kind)
    return Row(name, (Chip(""),) * (width - len(shape)) + tuple(chips))


def product(shape: Shape) -> int:
    """Return how many elements a tensor of that shape has."""
    total = 1
    for size in shape:
        total *= size
    return total


def axis(number: int, dims: int) -> int:
    """Return an axis number counted from the front, as -1 is the last one."""
    return number + dims if number < 0 else number
