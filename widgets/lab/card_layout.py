"""Layout of the lab canvas: one card of cells per tensor, with cells as large as fit."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF

from gradscribe.engine.protocol.messages import Cells

MAX_CELL, MIN_CELL = 46.0, 5.0
"""Largest and smallest cell size in pixels."""
GAP, SLICE_GAP, PAD = 34.0, 12.0, 14.0
HEAD, SLICE_HEAD = 44.0, 16.0
MIN_WIDTH = 112.0
MAX_SLICES = 12


class SliceGrid(NamedTuple):
    """Rows and columns of each slice, and the number of slices side by side."""

    rows: int
    columns: int
    slices: int
    whole: bool
    """False if there are more slices than are shown."""


class TensorCard(NamedTuple):
    """A tensor on the canvas: its frame, and grid and size of its cells."""

    key: str
    cells: Cells
    grid: SliceGrid
    frame: QRectF
    side: float

    def slice_at(self, number: int) -> QPointF:
        """Return the upper left corner of a slice."""
        head = HEAD + (SLICE_HEAD if self.grid.slices > 1 else 0.0)
        step = self.grid.columns * self.side + SLICE_GAP
        return self.frame.topLeft() + QPointF(PAD + number * step, head)

    def cell(self, index: int) -> QRectF | None:
        """Return the rectangle of a flat index, or None if its slice is not shown."""
        per = self.grid.rows * self.grid.columns
        number, rest = divmod(index, per) if per else (0, 0)
        if number >= self.grid.slices or not per:
            return None
        row, column = divmod(rest, self.grid.columns)
        corner = self.slice_at(number)
        x, y = corner.x() + column * self.side, corner.y() + row * self.side
        return QRectF(x, y, self.side, self.side)

    def boxes(self) -> list[QRectF]:
        """Return the rectangles of all cells shown, in the order of their flat indices."""
        side, boxes = self.side, []
        for number in range(self.grid.slices):
            corner = self.slice_at(number)
            across = [corner.x() + column * side for column in range(self.grid.columns)]
            for row in range(self.grid.rows):
                y = corner.y() + row * side
                boxes += [QRectF(x, y, side, side) for x in across]
        return boxes

    def at(self, point: QPointF) -> int | None:
        """Return the flat index under a point, or None."""
        if not self.frame.contains(point):
            return None
        for number in range(self.grid.slices):
            corner = self.slice_at(number)
            column = int((point.x() - corner.x()) // self.side)
            row = int((point.y() - corner.y()) // self.side)
            if 0 <= row < self.grid.rows and 0 <= column < self.grid.columns:
                return (number * self.grid.rows + row) * self.grid.columns + column
        return None


def slice_grid(shape: Sequence[int]) -> SliceGrid:
    """Return the grid of a shape: the last two axes as a matrix, the others as slices."""
    columns = shape[-1] if shape else 1
    rows = shape[-2] if len(shape) > 1 else 1
    slices = 1
    for size in shape[:-2]:
        slices *= size
    return SliceGrid(rows, columns, min(slices, MAX_SLICES), slices <= MAX_SLICES)


def arrange_cards(
    tensors: Sequence[tuple[str, Cells]], inputs: int, width: float
) -> list[TensorCard]:
    """Place a card for each tensor in rows of ``width``, results after the ``inputs`` inputs.

    All share one cell size, the largest at which the widest card fits.
    """
    grids = [slice_grid(cells.snapshot.shape) for _, cells in tensors]
    side = MAX_CELL
    for tensor_grid in grids:
        available = width - 2 * PAD - (tensor_grid.slices - 1) * SLICE_GAP
        side = min(
            side, max(MIN_CELL, available / max(1, tensor_grid.columns * tensor_grid.slices))
        )
        side = min(side, max(MIN_CELL, 340.0 / max(1, tensor_grid.rows)))
    placed: list[TensorCard] = []
    x = y = tallest = 0.0
    for index, ((key, cells), tensor_grid) in enumerate(zip(tensors, grids, strict=True)):
        wide, high = _extent(tensor_grid, side)
        if x and (x + wide > width or (index == inputs and x + GAP + wide > width)):
            x, y, tallest = 0.0, y + tallest + GAP * 0.6, 0.0
        placed.append(TensorCard(key, cells, tensor_grid, QRectF(x, y, wide, high), side))
        x += wide + GAP
        tallest = max(tallest, high)
    return placed


def _extent(tensor_grid: SliceGrid, side: float) -> tuple[float, float]:
    wide = (
        tensor_grid.slices * tensor_grid.columns * side
        + (tensor_grid.slices - 1) * SLICE_GAP
        + 2 * PAD
    )
    head = HEAD + (SLICE_HEAD if tensor_grid.slices > 1 else 0.0)
    return max(MIN_WIDTH, wide), head + tensor_grid.rows * side + PAD
