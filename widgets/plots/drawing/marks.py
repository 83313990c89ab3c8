"""Fast drawing of thousands of marks: each look is painted a few times, then copied."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QTransform

from gradscribe.widgets.plots.drawing.colors import draw_mark
from gradscribe.widgets.plots.drawing.polylines import PixelPoints

FINE, COARSE, MANY = 4, 2, 16
"""Subpixel positions per axis at which a mark is painted, without which rows of marks look uneven;
`COARSE` if there are more than `MANY` looks."""
MOST_KEPT = 1_000
ACROSS = 64
"""Stamps in a row of a sheet."""
RIM = 1.2
"""Pixels of the pen around a mark."""


@dataclass(frozen=True)
class Mark:
    """The look of a mark: its shape (see `draw_mark`), its colours, and half of its width."""

    shape: str
    fill: QColor
    rim: QColor
    size: float


@dataclass(frozen=True)
class _Stamp:
    """A painted mark: a square on a sheet, centred on the mark's point."""

    sheet: QPixmap
    left: int
    top: int
    reach: int


_Key = tuple[Mark, tuple[float, float], float]
"""A look, the position of its point inside a pixel, and the device pixel ratio."""


class MarkStamps:
    """Paints layers of marks, with a cache of painted stamps."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], _Stamp] = {}

    def layer(
        self,
        size: QSizeF,
        ratio: float,
        points: PixelPoints,
        marks: Sequence[Mark],
        which: NDArray[np.intp],
    ) -> QPixmap:
        """Return a transparent pixmap with a mark at each point, later ones on top.

        ``which``: index into ``marks`` for each point; a point that is NaN has no mark. ``ratio``:
        device pixels per pixel of ``size``.
        """
        layer = QPixmap(max(1, round(size.width() * ratio)), max(1, round(size.height() * ratio)))
        layer.fill(Qt.GlobalColor.transparent)
        stands = ~np.isnan(points).any(axis=1)
        # Points far outside would overflow Qt's integers.
        on_screen = np.clip(points[stands] * ratio, -9_999.0, 99_999.0)
        corner = np.floor(on_screen)
        fine = FINE if len(marks) <= MANY else COARSE
        phase = ((on_screen - corner) * fine).astype(np.intp)
        key = (which[stands] * fine + phase[:, 1]) * fine + phase[:, 0]
        used, kinds = np.unique(key, return_inverse=True)
        wanted: list[_Key] = []
        for code in used.tolist():
            inside = ((code % fine + 0.5) / fine, (code // fine % fine + 0.5) / fine)
            wanted.append((marks[code // fine**2], inside, ratio))
        stamps = self._stamps(wanted)
        with QPainter(layer) as painter:
            for (x, y), kind in zip(corner.astype(int).tolist(), kinds.tolist(), strict=True):
                stamp = stamps[kind]
                away, side = stamp.reach, 2 * stamp.reach + 1
                place = stamp.left, stamp.top, side, side
                painter.drawPixmap(x - away, y - away, stamp.sheet, *place)
        layer.setDevicePixelRatio(ratio)
        return layer

    def _stamps(self, wanted: Sequence[_Key]) -> list[_Stamp]:
        names = [_name(*key) for key in wanted]
        pairs = zip(names, wanted, strict=True)
        missing = {name: key for name, key in pairs if name not in self._kept}
        if len(self._kept) + len(missing) > MOST_KEPT:
            self._kept.clear()
            missing = dict(zip(names, wanted, strict=True))
        self._kept.update(zip(missing, _sheet(list(missing.values())), strict=True))
        return [self._kept[name] for name in names]


def _name(mark: Mark, inside: tuple[float, float], ratio: float) -> tuple[object, ...]:
    return mark.shape, mark.fill.rgba(), mark.rim.rgba(), mark.size, inside, ratio


def _sheet(wanted: Sequence[_Key]) -> list[_Stamp]:
    """Paint marks onto a shared sheet: a pixmap and a painter for each would double the time."""
    if not wanted:
        return []
    # Also a whole number of logical pixels from the corner to the point: squares snap to these.
    reaches = [
        math.ceil(1.4 * mark.size + RIM) * math.ceil(ratio) for mark, _inside, ratio in wanted
    ]
    step = 2 * max(reaches) + 1
    rows = -(-len(wanted) // ACROSS)
    sheet = QPixmap(step * min(len(wanted), ACROSS), step * rows)
    sheet.fill(Qt.GlobalColor.transparent)
    made = []
    with QPainter(sheet) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for at, ((mark, inside, ratio), reach) in enumerate(zip(wanted, reaches, strict=True)):
            left, top = step * (at % ACROSS), step * (at // ACROSS)
            painter.setTransform(QTransform(ratio, 0, 0, ratio, left, top))
            painter.setPen(QPen(mark.rim, RIM))
            painter.setBrush(mark.fill)
            point = QPointF((reach + inside[0]) / ratio, (reach + inside[1]) / ratio)
            draw_mark(painter, mark.shape, point, mark.size)
            made.append(_Stamp(sheet, left, top, reach))
    return made
