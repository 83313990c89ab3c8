"""Levels of a picture: the histogram of its numbers, and the two ends of its colours to drag."""

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QPainter
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gradscribe.engine.protocol.regions import RegionSummary
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.charts.view import ChartView
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.axes import Axis

WIDTH = 132
BAR, GAP, LABELS = 14, 4, 52
"""Pixels of the bar of colours, between it and the histogram, and of the labels."""
STEP = 0.02
"""Share of the range by which a key moves both levels apart or together."""


def default_levels(low: float, high: float) -> tuple[float, float]:
    """Return levels around zero that no number exceeds; ±1 if all are zero."""
    most = max(abs(low), abs(high))
    return (-most, most) if most > 0 else (-1.0, 1.0)


class LevelsView(QWidget):
    """Histogram of a tensor's numbers, from the least at the bottom to the largest at the top."""

    changed = Signal()
    """The levels were moved by hand."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.levels = (-1.0, 1.0)
        self.is_by_hand = False
        """True if the user has chosen the levels."""
        self._ends = (-1.0, 1.0)
        self.summary: RegionSummary | None = None
        self._counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._reach = (0.0, 0.0)
        self.view = ChartView(self._draw, lambda _painter: None, self)
        self.view.setAccessibleName(
            tr(
                "Levels of the colours: plus and minus move "
                "them apart and together, Home resets them"
            )
        )
        self.region = pg.LinearRegionItem((0, 1), orientation="horizontal", swapMode="block")
        self.view.add(self.region)
        self.region.sigRegionChanged.connect(self._drag)
        self.view.keyed.connect(self._press)
        self.view.box.freed.connect(self.reset)
        self.view.box.seen.connect(self.see)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.view)
        self.setFixedWidth(WIDTH)
        self._color()

    def show_summary(self, summary: RegionSummary) -> None:
        """Show the statistics of another tensor; levels that were chosen by hand stay."""
        self.summary = summary
        self._counts = summary.counts.array()
        self._reach = summary.low, summary.high
        if not self.is_by_hand:
            self.levels = default_levels(*self._reach)
        self._place()

    def reset(self) -> None:
        """Put the levels around zero so that no number exceeds them."""
        self.set_levels(*default_levels(*self._reach))
        self.is_by_hand = False

    def set_levels(self, low: float, high: float) -> bool:
        """Set both levels; return False, and change nothing, if they are no range."""
        if not (math.isfinite(low) and math.isfinite(high)) or low >= high:
            return False
        self.levels, self.is_by_hand = (low, high), True
        self._place()
        self.changed.emit()
        return True

    def see(self, _left: float, _right: float, bottom: float, top: float) -> None:
        """Show these shares of the range, so that levels close to each other can be dragged."""
        axis = self.axis()
        low, high = axis.number(bottom), axis.number(top)
        most = float(np.finfo(np.float64).max) / 4
        if 1e-9 * max(abs(low), abs(high)) < high - low and -most < low < high < most:
            self._show_range(low, high)

    def share(self, number: float) -> float:
        """Return the height of a number, from 0 at the bottom to 1."""
        low, high = self._ends
        # Quartered: the difference of two numbers near the largest float would overflow; but
        # subnormal numbers would vanish.
        scale = 4.0 if max(abs(low), abs(high)) > 1.0 else 1.0
        return (number / scale - low / scale) / (high / scale - low / scale)

    def axis(self) -> Axis:
        """Return the range of numbers from bottom to top."""
        return Axis(*self._ends)

    def _place(self) -> None:
        """Put histogram and levels where their numbers are."""
        low, high = min(self._reach[0], self.levels[0]), max(self._reach[1], self.levels[1])
        margin = high / 20 - low / 20
        largest = float(np.finfo(np.float64).max) / 4
        low, high = max(low - margin, -largest), min(high + margin, largest)
        self._show_range(*((low, high) if low < high else (low - 1.0, high + 1.0)))

    def _show_range(self, low: float, high: float) -> None:
        self._ends = low, high
        self.region.blockSignals(True)
        self.region.setRegion([self.share(level) for level in self.levels])
        self.region.blockSignals(False)
        self.view.refresh()

    def _drag(self) -> None:
        axis = self.axis()
        low, high = (axis.number(float(share)) for share in self.region.getRegion())
        if low < high:
            self.levels, self.is_by_hand = (low, high), True
            self.view.refresh()
            self.changed.emit()

    def _press(self, happened: QKeyEvent) -> None:
        low, high = self.levels
        step = STEP * (high - low)
        if happened.key() in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.set_levels(low - step, high + step)
        elif happened.key() == Qt.Key.Key_Minus:
            self.set_levels(low + step, high - step)
        elif happened.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            sign = 1 if happened.key() == Qt.Key.Key_Up else -1
            self.set_levels(low + sign * step, high + sign * step)
        elif happened.key() == Qt.Key.Key_Home:
            self.reset()
        else:
            return
        happened.accept()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self.theme = theme
        self._color()
        self.view.refresh()

    def _color(self) -> None:
        color, stroke = self.theme.selection, self.theme.stroke
        self.region.setBrush(faded(color, 0.16))
        self.region.setHoverBrush(faded(color, 0.24))
        for line in self.region.lines:
            line.setPen(pg.mkPen(color, width=stroke(1.5)))
            line.setHoverPen(pg.mkPen(color, width=stroke(3)))

    def _draw(self, painter: QPainter, area: QRectF) -> None:
        self.view.place(self.draw_still(painter, area))
        self.view.box.setRange(xRange=(0, 1), yRange=(0, 1), padding=0)

    def draw_still(self, painter: QPainter, area: QRectF) -> QRectF:
        """Draw numbers, histogram and colours; return where the histogram is."""
        theme = self.theme
        frame = area.adjusted(LABELS, 8, -BAR - GAP, -24)
        axis = self.axis()
        painter.setFont(theme.font(11))
        painter.setPen(theme.ink2)
        for number, label in axis.ticks(max(2, round(frame.height() / 60))):
            y = frame.bottom() - self.share(number) * frame.height()
            place = QRectF(0, y - 8, LABELS - 6, 16)
            painter.drawText(
                place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, label
            )
        painter.save()
        painter.setClipRect(frame, Qt.ClipOperation.IntersectClip)
        self._draw_bars(painter, frame)
        painter.restore()
        self._draw_colors(painter, QRectF(frame.right() + GAP, frame.top(), BAR, frame.height()))
        return frame

    def _draw_bars(self, painter: QPainter, frame: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.forward)
        counts = self._counts
        if not counts.size or not counts.max():
            return
        if self._reach[0] == self._reach[1]:
            counts = counts[:1]
        low, high = (self.share(end) for end in self._reach)
        high = high if high > low else low
        tall = max(1.5, (high - low) / counts.size * frame.height())
        for at, share in enumerate((counts / counts.max()).tolist()):
            if share:
                wide = max(1.0, share * frame.width())
                bottom = frame.bottom() - (low + (high - low) * at / counts.size) * frame.height()
                painter.drawRect(QRectF(frame.right() - wide, bottom - tall, wide, tall))

    def _draw_colors(self, painter: QPainter, bar: QRectF) -> None:
        """Draw the colour of each number, next to its height."""
        rows = max(1, round(bar.height()))
        axis = self.axis()
        shares = 1 - (np.arange(rows) + 0.5) / rows
        numbers = axis.low * (1 - shares) + axis.high * shares
        pixels = colored(numbers[:, np.newaxis], self.levels, self.theme.dark)
        painter.drawImage(bar, pixel_image(pixels))

    def middle(self) -> QPointF:
        """Return the place of the upper level, in pixels of the view."""
        frame = self.view.box.geometry()
        share = self.axis().number_share(self.levels[1])
        return QPointF(frame.center().x(), frame.bottom() - share * frame.height())


def colored(
    numbers: NDArray[np.generic], levels: tuple[float, float], dark: bool
) -> NDArray[np.uint8]:
    """Return the colours of a matrix between two levels, (rows, columns, 3)."""
    low, high = levels
    with np.errstate(all="ignore"):
        plain = numbers.astype(np.float64)
        # Quartered: the difference of two numbers near the largest float would overflow.
        shares = (plain / 4 - low / 4) / (high / 4 - low / 4)
        # No range is left of subnormal levels.
        shares = np.where(np.isfinite(shares), shares, np.where(plain > high, 1.0, 0.0))
        places = (np.clip(shares, 0, 1) * (heat.LEVELS - 1)).round().astype(np.intp)
    return heat.table(dark)[places]


def pixel_image(pixels: NDArray[np.uint8]) -> QImage:
    """Return an image of (rows, columns, 3) pixels, which it copies."""
    rows, columns, _ = pixels.shape
    data = np.ascontiguousarray(pixels).tobytes()
    return QImage(data, columns, rows, 3 * columns, QImage.Format.Format_RGB888).copy()
