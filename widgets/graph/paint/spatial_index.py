"""Spatial index of boxes: finds what touches an area without a scan of all boxes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF

Boxes = NDArray[np.float64]
"""Left, top, right, bottom in each row."""
SCAN_LIMIT = 500
"""Number of boxes up to which a scan is faster than the index."""
Tile = tuple[int, int]
TALL_FACTOR = 8.0
"""Multiple of the median height above which a box is always checked; else every search would have
to reach that far."""


class BoxIndex:
    """Boxes (n, 4), sorted from top to bottom; very tall ones are stored separately."""

    def __init__(self, boxes: Boxes) -> None:
        self.boxes = boxes
        heights = boxes[:, 3] - boxes[:, 1]
        middle = len(boxes) // 2
        # Not NumPy's median: that imports all of numpy.ma, which would delay the first picture.
        usual = float(np.partition(heights, middle)[middle]) if len(boxes) else 0.0
        tall = heights > TALL_FACTOR * usual
        if len(boxes) <= SCAN_LIMIT:
            tall[:] = True
        self._tall = np.flatnonzero(tall)
        short = np.flatnonzero(~tall)
        self._order = short[np.argsort(boxes[short, 1], kind="stable")]
        self._sorted = boxes[self._order]
        self._tops = np.ascontiguousarray(self._sorted[:, 1])
        self._reach = float(heights[short].max(initial=0.0))

    def touching(self, area: QRectF, reach: float = 0.0) -> NDArray[np.intp]:
        """Return the indices of the boxes within ``reach`` of ``area``, ascending."""
        left, top = area.left() - reach, area.top() - reach
        right, bottom = area.right() + reach, area.bottom() + reach
        first = int(np.searchsorted(self._tops, top - self._reach))
        stop = int(np.searchsorted(self._tops, bottom, side="right"))
        band = self._sorted[first:stop]
        hit = (band[:, 0] <= right) & (band[:, 2] >= left) & (band[:, 3] >= top)
        numbers = self._order[first:stop][hit]
        if len(self._tall):
            aside = self.boxes[self._tall]
            hit = (aside[:, 0] <= right) & (aside[:, 2] >= left)
            hit &= (aside[:, 1] <= bottom) & (aside[:, 3] >= top)
            numbers = np.concatenate([numbers, self._tall[hit]])
        numbers.sort()
        return numbers

    def touching_any(self, areas: Sequence[QRectF]) -> NDArray[np.intp]:
        """Return the indices of the boxes that touch any of the areas, ascending."""
        if len(areas) == 1:
            return self.touching(areas[0])
        numbers = [self.touching(area) for area in areas]
        return np.unique(np.concatenate(numbers)) if numbers else np.empty(0, np.intp)


def group_by_tile(boxes: Boxes, side: float, reach: float) -> dict[Tile, tuple[list[int], QRectF]]:
    """Group boxes by the square tile, ``side`` wide, that contains their centre.

    Return for each tile the indices of its boxes and their bounds, enlarged by ``reach``.
    """
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    cells, owners = np.unique(np.floor(middles / side), axis=0, return_inverse=True)
    order = np.argsort(owners.reshape(-1), kind="stable")
    stops = np.cumsum(np.bincount(owners.reshape(-1), minlength=len(cells))).tolist()
    tiles: dict[Tile, tuple[list[int], QRectF]] = {}
    for (column, row), start, stop in zip(cells.tolist(), [0, *stops], stops, strict=False):
        members = order[start:stop]
        left, top = boxes[members, :2].min(axis=0).tolist()
        right, bottom = boxes[members, 2:].max(axis=0).tolist()
        area = QRectF(left, top, right - left, bottom - top)
        area = area.adjusted(-reach, -reach, reach, reach)
        tiles[int(column), int(row)] = (members.tolist(), area)
    return tiles
