"""A picture from very far: cards are dots and wires are straight lines, thousands in one call."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from shiboken6 import wrapInstance

from widgets.paint.stage import Stage

T = TypeVar("T")
Numbers = NDArray[np.float64]


class Specks:
    """Ends of wires and boxes of cards as plain numbers, with a kind or a colour for each.

    ``color`` tells the colour of a card by its key, ``tone`` the kind of a wire, a small number.
    Both are asked once and again only for what `touch` names.
    """

    def __init__(
        self,
        stage: Stage,
        color: Callable[[str], QColor],
        tone: Callable[[str], int] = lambda _key: 0,
    ) -> None:
        self._stage, self._tone, self._color = stage, tone, color
        self._tones: NDArray[np.int64] | None = None
        self._colors: NDArray[np.int64] | None = None

    @cached_property
    def _lines(self) -> Numbers:
        """Of every wire: where it begins and where it ends."""
        lines = np.empty((len(self._stage.wire_keys), 4))
        for n, key in enumerate(self._stage.wire_keys):
            route = self._stage.placement.routes[key]
            lines[n] = *route[0], *route[-1]
        return lines

    @cached_property
    def _rects(self) -> Numbers:
        """Of every card: left, top, width and height."""
        rects = self._stage.card_spots.boxes.copy()
        rects[:, 2:] -= rects[:, :2]
        return rects

    @cached_property
    def _wire_at(self) -> dict[str, int]:
        return {key: n for n, key in enumerate(self._stage.wire_keys)}

    @cached_property
    def _card_at(self) -> dict[str, int]:
        return {key: n for n, key in enumerate(self._stage.card_keys)}

    def touch(self, cards: Iterable[str], wires: Iterable[str]) -> None:
        """Ask anew for these; what was never asked for is left for when it is painted."""
        if self._colors is not None:
            for key in cards:
                self._colors[self._card_at[key]] = self._color(key).rgba()
        if self._tones is not None:
            for key in wires:
                self._tones[self._wire_at[key]] = self._tone(key)

    def paint_wires(
        self, painter: QPainter, areas: Sequence[QRectF], take: Callable[[QPainter, int], None]
    ) -> None:
        """Paint the wires near ``areas``; ``take`` gives the painter the pen of a kind."""
        if self._tones is None:
            keys = self._stage.wire_keys
            self._tones = np.fromiter(map(self._tone, keys), np.int64, len(keys))
        found = self._stage.wire_spots.touching_any(areas)
        for kind, lines in _groups(self._tones[found], self._lines[found]):
            take(painter, kind)
            painter.drawLines(_first(lines, QLineF), len(lines))

    def paint_cards(self, painter: QPainter, areas: Sequence[QRectF]) -> None:
        """Paint the cards near ``areas``."""
        if self._colors is None:
            keys = self._stage.card_keys
            colors = (self._color(key).rgba() for key in keys)
            self._colors = np.fromiter(colors, np.int64, len(keys))
        found = self._stage.card_spots.touching_any(areas)
        painter.setPen(Qt.PenStyle.NoPen)
        for color, rects in _groups(self._colors[found], self._rects[found]):
            painter.setBrush(QColor.fromRgba(color))
            painter.drawRects(_first(rects, QRectF), len(rects))


def _groups(kinds: NDArray[np.int64], rows: Numbers) -> Iterable[tuple[int, Numbers]]:
    """Yield every kind with its rows, four numbers each, one after the other in memory."""
    if not len(kinds):
        return
    order = np.argsort(kinds, kind="stable")
    kinds, rows = kinds[order], np.ascontiguousarray(rows[order])
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    for start, stop in pairwise(edges):
        yield int(kinds[start]), rows[start:stop]


def _first(rows: Numbers, kind: type[T]) -> T:
    """Return the first row as an object of Qt's; the others follow it in memory."""
    return cast("T", wrapInstance(rows.ctypes.data, kind))
