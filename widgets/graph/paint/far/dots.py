"""The graph at the farthest zoom: cards as dots and wires as lines, thousands in one call."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from shiboken6 import wrapInstance

from gradscribe.widgets.graph.paint.stage import Stage

T = TypeVar("T")
Numbers = NDArray[np.float64]
_UNKNOWN = -1


class DotPainter:
    """Ends of wires and boxes of cards as arrays, with a kind or a colour for each.

    ``color`` returns the colour of a card by its key, ``tone`` the kind of a wire, a small number.
    Both are called once for what is painted, and again only for keys passed to `touch`.
    """

    def __init__(
        self,
        stage: Stage,
        color: Callable[[str], QColor],
        tone: Callable[[str], int] = lambda _key: 0,
    ) -> None:
        self._stage, self._tone, self._color = stage, tone, color
        self._tones = np.full(len(stage.wire_keys), _UNKNOWN)
        self._colors = np.full(len(stage.card_keys), _UNKNOWN)

    @cached_property
    def _lines(self) -> Numbers:
        """Start and end of every wire: (n, 4) of x, y, x, y."""
        lines = np.empty((len(self._stage.wire_keys), 4))
        for n, key in enumerate(self._stage.wire_keys):
            route = self._stage.placement.routes[key]
            lines[n] = *route[0], *route[-1]
        return lines

    @cached_property
    def _rects(self) -> Numbers:
        """Left, top, width and height of every card."""
        rects = self._stage.card_index.boxes.copy()
        rects[:, 2:] -= rects[:, :2]
        return rects

    @cached_property
    def _wire_at(self) -> dict[str, int]:
        return {key: n for n, key in enumerate(self._stage.wire_keys)}

    @cached_property
    def _card_at(self) -> dict[str, int]:
        return {key: n for n, key in enumerate(self._stage.card_keys)}

    def invalidate(self, cards: Iterable[str], wires: Iterable[str]) -> None:
        """Invalidate the colours of cards and the kinds of wires."""
        for key in cards:
            self._colors[self._card_at[key]] = _UNKNOWN
        for key in wires:
            self._tones[self._wire_at[key]] = _UNKNOWN

    def paint_wires(
        self, painter: QPainter, areas: Sequence[QRectF], take: Callable[[QPainter, int], None]
    ) -> None:
        """Paint the wires near ``areas``; ``take`` sets the painter's pen for a kind."""
        keys, numbers = self._stage.wire_keys, self._stage.wire_index.touching_any(areas)
        for at in numbers[self._tones[numbers] == _UNKNOWN].tolist():
            self._tones[at] = self._tone(keys[at])
        for kind, lines in _groups(self._tones[numbers], self._lines[numbers]):
            take(painter, kind)
            painter.drawLines(_first(lines, QLineF), len(lines))

    def paint_cards(self, painter: QPainter, areas: Sequence[QRectF], pixel: float = 0.0) -> None:
        """Paint the cards near ``areas``; of several in a ``pixel``, the largest fills it."""
        keys, numbers = self._stage.card_keys, self._stage.card_index.touching_any(areas)
        rects = self._rects[numbers]
        if pixel:
            chosen, rects = _coarse(rects, pixel)
            numbers = numbers[chosen]
        for at in numbers[self._colors[numbers] == _UNKNOWN].tolist():
            self._colors[at] = self._color(keys[at]).rgba()
        painter.setPen(Qt.PenStyle.NoPen)
        for color, same in _groups(self._colors[numbers], rects):
            painter.setBrush(QColor.fromRgba(color))
            painter.drawRects(_first(same, QRectF), len(same))


def _coarse(rects: Numbers, pixel: float) -> tuple[NDArray[np.intp], Numbers]:
    """Return the indices of the boxes to paint, and these boxes.

    Small boxes with their centres in the same ``pixel`` are replaced by that pixel, with the index
    of the largest: ops are larger than constants.
    """
    small = np.flatnonzero(rects[:, 2:].max(axis=1, initial=0.0) < pixel)
    small = small[np.argsort(rects[small, 2:].prod(axis=1), kind="stable")]
    cells = np.floor((rects[small, :2] + rects[small, 2:] / 2) / pixel)
    across, down = cells.T
    # A single number for each cell: finding unique pairs takes ten times as long.
    width = np.ptp(across) + 1 if len(small) else 1.0
    _, last = np.unique((down * width + across)[::-1], return_index=True)
    last = len(small) - 1 - last
    chosen = np.ones(len(rects), np.bool_)
    chosen[small] = False
    chosen[small[last]] = True
    rects = rects.copy()
    rects[small[last], :2], rects[small[last], 2:] = cells[last] * pixel, pixel
    return np.flatnonzero(chosen), rects[chosen]


def _groups(kinds: NDArray[np.int64], rows: Numbers) -> Iterable[tuple[int, Numbers]]:
    """Yield every kind with its rows of four numbers, contiguous in memory."""
    if not len(kinds):
        return
    order = np.argsort(kinds, kind="stable")
    kinds, rows = kinds[order], np.ascontiguousarray(rows[order])
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    for start, stop in pairwise(edges):
        yield int(kinds[start]), rows[start:stop]


def _first(rows: Numbers, kind: type[T]) -> T:
    """Return the first row as a Qt object; the others follow it in memory."""
    return cast("T", wrapInstance(rows.ctypes.data, kind))
