"""Thousands of marks at once: each look is painted a few times, then only copied."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from widgets.plots.colors import draw_mark
from widgets.plots.strokes import Points

FINE, COARSE, MANY = 4, 2, 16
"""A mark stands in so many places within a pixel, each way: in one only, rows of marks would jump.
Of many looks each is painted less often."""
MOST_KEPT = 1_000
RIM = 1.2
"""Pixels of the pen around a mark."""


@dataclass(frozen=True)
class Mark:
    """How a mark looks: its shape (see `draw_mark`), its colours, and half of its width."""

    shape: str
    fill: QColor
    rim: QColor
    size: float


class Stamps:
    """Paints layers of marks; what it has painted for one serves the next."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], QPixmap] = {}

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
        stamps = []
        for one in used.tolist():
            inside = ((one % fine + 0.5) / fine, (one // fine % fine + 0.5) / fine)
            stamps.append(self._stamp(marks[one // fine**2], inside, ratio))
        reach = [stamp.width() // 2 for stamp in stamps]
        painter = QPainter(made)
        try:
            for (x, y), kind in zip(corner.astype(int).tolist(), kinds.tolist(), strict=True):
                away = reach[kind]
                painter.drawPixmap(x - away, y - away, stamps[kind])
        finally:
            painter.end()
        made.setDevicePixelRatio(ratio)
        return made

    def _stamp(self, mark: Mark, inside: tuple[float, float], ratio: float) -> QPixmap:
        key = (mark.shape, mark.fill.rgba(), mark.rim.rgba(), mark.size, inside, ratio)
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = _stamp(mark, inside, ratio)
        return self._kept[key]


def _stamp(mark: Mark, inside: tuple[float, float], ratio: float) -> QPixmap:
    """Return one mark, its point ``inside`` the pixel in the middle."""
    # Whole pixels of the plot, too, from the corner to the point: squares snap to these.
    reach = round(np.ceil(1.4 * mark.size + RIM) * np.ceil(ratio))
    made = QPixmap(2 * reach + 1, 2 * reach + 1)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    try:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(ratio, ratio)
        painter.setPen(QPen(mark.rim, RIM))
        painter.setBrush(mark.fill)
        at = QPointF((reach + inside[0]) / ratio, (reach + inside[1]) / ratio)
        draw_mark(painter, mark.shape, at, mark.size)
    finally:
        painter.end()
    return made
