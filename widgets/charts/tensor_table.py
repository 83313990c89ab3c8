"""Table of the numbers of a tensor in sight, read piece by piece."""

import csv
import io
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gradscribe.engine.protocol.regions import MAX_SIDE, Box, ReadRegion, Region
from gradscribe.engine.protocol.structs import replace

MOST_CELLS = 1 << 22
"""Most numbers of a table."""
BAND_ROWS = 64


class TensorTable:
    """CSV of a box of a tensor: a row per row, a column per column, with their indices.

    Numbers have the digits that give the tensor's own again.
    """

    def __init__(self, request: ReadRegion, box: Box) -> None:
        """``request`` says which tensor, slice and part."""
        self._request, self.box = request, box
        self._boxes = self._pieces()
        self._serial = 0
        """That of the last request: negative, so that the picture's are others."""
        self._band: list[NDArray[np.generic]] = []
        self._text = io.StringIO()
        self._out = csv.writer(self._text, lineterminator="\n")
        self._out.writerow(["", *range(box[2], box[3])])
        self.asked: ReadRegion | None = None
        """The request whose reply comes next; None once the table is whole."""
        self._next()

    @property
    def is_too_large(self) -> bool:
        """True if there are more numbers than a table may have."""
        top, bottom, left, right = self.box
        return (bottom - top) * (right - left) > MOST_CELLS

    def _pieces(self) -> Iterator[Box]:
        top, bottom, left, right = self.box
        # A narrow table in fewer pieces.
        tall = min(MAX_SIDE, max(BAND_ROWS, BAND_ROWS * MAX_SIDE // max(1, right - left)))
        for row in range(top, bottom, tall):
            for column in range(left, right, MAX_SIDE):
                yield row, min(bottom, row + tall), column, min(right, column + MAX_SIDE)

    def _next(self) -> None:
        box = next(self._boxes, None)
        self._serial -= 1
        self.asked = None if box is None else replace(self._request, box=box, serial=self._serial)

    def take(self, region: Region) -> bool:
        """Take a reply; return False if the numbers are gone."""
        if region.exact is None or self.asked is None:
            return False
        self._band.append(region.exact.array())
        if region.box[3] == self.box[3]:
            for row, numbers in enumerate(np.concatenate(self._band, axis=1), region.box[0]):
                self._out.writerow([row, *(str(number) for number in numbers)])
            self._band = []
        self._next()
        return True

    def text(self) -> str:
        """Return what has come so far."""
        return self._text.getvalue()
