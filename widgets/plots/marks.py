"""Thousands of marks at once: each look is painted a few times, then only copied."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QTransform

from widgets.plots.colors import draw_mark
from widgets.plots.strokes import Points

FINE, COARSE, MANY = 4, 2, 16
"""A mark stands in so many places within a pixel, each way: in one only, rows of marks would jump.
Of many looks each is painted less often."""
MOST_KEPT = 1_000
ACROSS = 64
"""Stamps stand in rows of so many on their sheet."""
RIM = 1.2
"""Pixels of the pen around a mark."""


@dataclass(frozen=True)
class Mark:
    """How a mark looks: its shape (see `draw_mark`), its colours, and half of its width."""

    shape: str
    fill: QColor
    rim: QColor
    size: float


@dataclass(frozen=True)
class _Stamp:
    """A painted mark: a square on a sheet of such, its point in the middle of it."""

    sheet: QPixmap
    left: int
    top: int
    reach: int


_Key = tuple[Mark, tuple[float, float], float]
"""A look, where its point is inside a pixel, and pixels of the screen in one."""


class Stamps:
    """Paints layers of marks; what it has painted for one serves the next."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], _Stamp] = {}

    def layer(
        self,
        size: QSizeF,
        ratio: float,
        points: Points,
        marks: Sequence[Mark],
        which: NDArray[np.intp],
    ) -> QPixmap:
        """Return a picture with a mark at each point, the later over the earlier, else clear.

        ``which`` of the ``marks`` stands where; a point that is NaN has none. ``ratio``: pixels of
        the screen in one of ``size``.
        """
        made = QPixmap(max(1, round(size.width() * ratio)), max(1, round(size.height() * ratio)))
        made.fill(Qt.GlobalColor.transparent)
        stands = ~np.isnan(points).any(axis=1)
        # What is far outside would not fit into Qt's integers.
        on_screen = np.clip(points[stands] * ratio, -9_999.0, 99_999.0)
        corner = np.floor(on_screen)
        fine = FINE if len(marks) <= MANY else COARSE
        phase = ((on_screen - corner) * fine).astype(np.intp)
        key = (which[stands] * fine + phase[:, 1]) * fine + phase[:, 0]
        used, kinds = np.unique(key, return_inverse=True)
        wanted: list[_Key] = []
        for one in used.tolist():
            inside = ((one % fine + 0.5) / fine, (one // fine % fine + 0.5) / fine)
            wanted.append((marks[one // fine**2], inside, ratio))
        stamps = self._stamps(wanted)
        painter = QPainter(made)
        try:
            for (x, y), kind in zip(corner.astype(int).tolist(), kinds.tolist(), strict=True):
                stamp = stamps[kind]
                away, side = stamp.reach, 2 * stamp.reach + 1
                place = stamp.left, stamp.top, side, side
                painter.drawPixmap(x - away, y - away, stamp.sheet, *place)
        finally:
            painter.end()
        made.setDevicePixelRatio(ratio)
        return made

    def _stamps(self, wanted: Sequence[_Key]) -> list[_Stamp]:
        names = [_name(*one) for one in wanted]
        pairs = zip(names, wanted, strict=True)
        missing = {name: one for name, one in pairs if name not in self._kept}
        if len(self._kept) + len(missing) > MOST_KEPT:
            self._kept.clear()
            missing = dict(zip(names, wanted, strict=True))
        self._kept.update(zip(missing, _sheet(list(missing.values())), strict=True))
        return [self._kept[name] for name in names]


def _name(mark: Mark, inside: tuple[float, float], ratio: float) -> tuple[object, ...]:
    return mark.shape, mark.fill.rgba(), mark.rim.rgba(), mark.size, inside, ratio


def _sheet(wanted: Sequence[_Key]) -> list[_Stamp]:
    """Paint marks onto one sheet: a picture and a painter for each took as long as the marks."""
    if not wanted:
        return []
    # Whole pixels of the plot, too, from the corner to the point: squares snap to these.
    reaches = [
        math.ceil(1.4 * mark.size + RIM) * math.ceil(ratio) for mark, _inside, ratio in wanted
    ]
    step = 2 * max(reaches) + 1
    rows = -(-len(wanted) // ACROSS)
    sheet = QPixmap(step * min(len(wanted), ACROSS), step * rows)
    sheet.fill(Qt.GlobalColor.transparent)
    painter, made = QPainter(sheet), []
    try:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for at, ((mark, inside, ratio), reach) in enumerate(zip(wanted, reaches, strict=True)):
            left, top = step * (at % ACROSS), step * (at // ACROSS)
            painter.setTransform(QTransform(ratio, 0, 0, ratio, left, top))
            painter.setPen(QPen(mark.rim, RIM))
            painter.setBrush(mark.fill)
            point = QPointF((reach + inside[0]) / ratio, (reach + inside[1]) / ratio)
            draw_mark(painter, mark.shape, point, mark.size)
            made.append(_Stamp(sheet, left, top, reach))
    finally:
        painter.end()
    return made
