"""Where the cells of several tensors stand on the canvas: one card each, as large as fits."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF

from engine.wire import Cells

LARGEST, LEAST = 46.0, 5.0
"""Pixels of a cell."""
GAP, SLICE_GAP, PAD = 34.0, 12.0, 14.0
HEAD, SLICE_HEAD = 44.0, 16.0
LEAST_WIDTH = 112.0
MOST_SLICES = 12


class Grid(NamedTuple):
    """Rows and columns of each slice, and how many slices stand side by side."""

    rows: int
    columns: int
    slices: int
    whole: bool
    """False where more slices are there than are shown."""


class Card(NamedTuple):
    """A tensor on the canvas: its frame and how its cells stand in it."""

    key: str
    cells: Cells
    grid: Grid
    frame: QRectF
    side: float

    def slice_at(self, number: int) -> QPointF:
        """Return the upper left corner of a slice."""
        head = HEAD + (SLICE_HEAD if self.grid.slices > 1 else 0.0)
        step = self.grid.columns * self.side + SLICE_GAP
        return self.frame.topLeft() + QPointF(PAD + number * step, head)

    def cell(self, index: int) -> QRectF | None:
        """Return where a flat index stands, None where its slice is not shown."""
        per = self.grid.rows * self.grid.columns
        number, rest = divmod(index, per) if per else (0, 0)
        if number >= self.grid.slices or not per:
            return None
        row, column = divmod(rest, self.grid.columns)
        corner = self.slice_at(number)
        x, y = corner.x() + column * self.side, corner.y() + row * self.side
        return QRectF(x, y, self.side, self.side)

    def boxes(self) -> list[QRectF]:
        """Return where every cell stands that is shown, in the order of their flat index."""
        side, found = self.side, []
        for number in range(self.grid.slices):
            corner = self.slice_at(number)
            across = [corner.x() + column * side for column in range(self.grid.columns)]
            for row in range(self.grid.rows):
                y = corner.y() + row * side
                found += [QRectF(x, y, side, side) for x in across]
        return found

    def at(self, point: QPointF) -> int | None:
        """Return the flat index under a point."""
        if not self.frame.contains(point):
            return None
        for number in range(self.grid.slices):
            corner = self.slice_at(number)
            column = int((point.x() - corner.x()) // self.side)
            row = int((point.y() - corner.y()) // self.side)
            if 0 <= row < self.grid.rows and 0 <= column < self.grid.columns:
                return (number * self.grid.rows + row) * self.grid.columns + column
        return None


def grid(shape: Sequence[int]) -> Grid:
    """Return how a shape is drawn: the last two axes as a matrix, the others as slices."""
    columns = shape[-1] if shape else 1
    rows = shape[-2] if len(shape) > 1 else 1
    slices = 1
    for size in shape[:-2]:
        slices *= size
    return Grid(rows, columns, min(slices, MOST_SLICES), slices <= MOST_SLICES)


def arrange(tensors: Sequence[tuple[str, Cells]], inputs: int, width: float) -> list[Card]:
    """Place a card for each tensor in rows of ``width``, results after the ``inputs`` inputs.

    All share one size of cells, the largest at which the widest card fits.
    """
    grids = [grid(cells.snapshot.shape) for _, cells in tensors]
    side = LARGEST
    for one in grids:
        room = width - 2 * PAD - (one.slices - 1) * SLICE_GAP
        side = min(side, max(LEAST, room / max(1, one.columns * one.slices)))
        side = min(side, max(LEAST, 340.0 / max(1, one.rows)))
    placed: list[Card] = []
    x = y = tallest = 0.0
    for index, ((key, cells), one) in enumerate(zip(tensors, grids, strict=True)):
        wide, high = _extent(one, side)
        if x and (x + wide > width or (index == inputs and x + GAP + wide > width)):
            x, y, tallest = 0.0, y + tallest + GAP * 0.6, 0.0
        placed.append(Card(key, cells, one, QRectF(x, y, wide, high), side))
        x += wide + GAP
        tallest = max(tallest, high)
    return placed


def _extent(one: Grid, side: float) -> tuple[float, float]:
    wide = one.slices * one.columns * side + (one.slices - 1) * SLICE_GAP + 2 * PAD
    head = HEAD + (SLICE_HEAD if one.slices > 1 else 0.0)
    return max(LEAST_WIDTH, wide), head + one.rows * side + PAD
