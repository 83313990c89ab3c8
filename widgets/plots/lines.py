"""Curves over steps: many of them, linear or log, smoothed, with what stands under the mouse."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QMouseEvent,
    QPainter,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from playback import text
from widgets.plots.axes import Axis, spanning
from widgets.plots.curve_key import draw_key
from widgets.plots.plot import EDGE, Plot, bottom_axis, empty, framed, left_axis, spot
from widgets.plots.series import Series, smoothed
from widgets.plots.strokes import Points, dashed, finite, places, strokes, swing, travel
from widgets.theme import Theme, faded

FINE = 450
"""A smoothed curve has at most so many points: thick smooth lines are dear."""
ALL_FINE, LEAST_FINE = 3600, 90
"""And all together, as long as each has a few."""
LONGEST_THICK = 1200.0
"""Pixels up and down: a line that swings more is thin, and dashed otherwise: both would be dear."""
MOST_SWINGS = 6
"""Of many shaded curves only those on top show how they swing: more would be a carpet, and dear."""
LISTED = 8
"""So many curves at most are named under the mouse."""


@dataclass(frozen=True)
class Curve:
    """One curve. ``shade`` shows how far the numbers swing around a smoothed line."""

    name: str
    series: Series
    color: QColor
    dashes: tuple[float, ...] = ()
    shade: bool = False
    width: float = 2.0
    label: str = ""
    """Written at its end."""


@dataclass
class _Drawn:
    """What was worked out for the last painting."""

    x: Axis = field(default_factory=lambda: Axis(0, 1))
    y: Axis = field(default_factory=lambda: Axis(0, 1))
    area: QRectF = field(default_factory=QRectF)
    lone: list[tuple[QPointF, QColor]] = field(default_factory=list)
    """Curves of one point."""


class Lines(Plot):
    """Curves over steps."""

    step_picked = Signal(int)
    """Somebody clicked at a step."""

    def __init__(
        self, title: str, subtitle: str = "", log: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(title, subtitle, parent)
        self.log = log
        self.smoothing = 0.0
        """Share of the visible steps that a smoothed curve remembers."""
        self.placeholder = "Nothing yet"
        self.is_keyed = False
        """Whether the names of the curves stand below them."""
        self._position: float | None = None
        self._curves: tuple[Curve, ...] = ()
        self._range: tuple[float, float] | None = None
        self._drawn = _Drawn()
        self._mouse: QPointF | None = None

    @property
    def position(self) -> float | None:
        """The step that is shown everywhere else; None marks none."""
        return self._position

    @position.setter
    def position(self, step: float | None) -> None:
        if step != self._position:
            self._position = step
            self.refresh()

    def set_curves(self, curves: Sequence[Curve]) -> None:
        """Show these curves, the last one on top."""
        self._curves = tuple(curves)
        self.refresh()

    def curves(self) -> tuple[Curve, ...]:
        """Return the curves that are shown."""
        return self._curves

    def set_log(self, log: bool) -> None:
        """Use a logarithmic axis."""
        self.log = log
        self.refresh()

    def set_smoothing(self, share: float) -> None:
        """Smooth over that share of the steps that are seen."""
        self.smoothing = share
        self.refresh()

    def zoom(self, low: float, high: float) -> None:
        """Show these steps only."""
        self._range = (low, high)
        self.refresh()

    def fit(self) -> None:
        """Show all steps again."""
        self._range = None
        self.refresh()

    # Drawing

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw axes, curves, and what stands under the mouse."""
        shown = [curve for curve in self._curves if len(curve.series)]
        if not shown:
            empty(painter, area, self.theme, self.placeholder)
            return
        if self.is_keyed:
            entries = [(one.name, one.color, one.dashes) for one in shown]
            inner = draw_key(painter, area.adjusted(EDGE, 0, -EDGE, -8), entries, self.theme)
            area = area.adjusted(0, 0, 0, inner.bottom() - area.bottom() + 8)
        low, high = self._range or self._reach(shown)
        wide = max(2, round(area.width()))
        parts = [curve.series.thinned(low, high, wide) for curve in shown]
        y = self._y_axis([rows for _, rows in parts])
        ticks = y.ticks(max(2, round(area.height() / 44)))
        frame = framed(area, 8, ticks, self.theme)
        x = Axis(low, high)
        self._drawn = _Drawn(x, y, frame)
        left_axis(painter, frame, y, self.theme, ticks)
        bottom_axis(painter, frame, x, self.theme, whole=True)
        painter.setClipRect(frame.adjusted(-1, -8, 1, 1))
        shaded = {id(curve) for curve in [one for one in shown if one.shade][-MOST_SWINGS:]}
        for curve, (steps, rows) in zip(shown, parts, strict=True):
            smooth = self.smoothing if curve.shade else 0.0
            if smooth > 0 and id(curve) in shaded:
                self._draw_swing(painter, curve, steps, rows)
            self._draw_curve(painter, curve, smooth, steps, rows)
            if curve.label:
                self._draw_label(painter, frame, curve, self._points(steps, rows[2]))
        self._draw_position(painter, frame)
        painter.setClipping(False)
        for point, color in self._drawn.lone:
            spot(painter, point, color, self.theme.panel)
        self._draw_hover(painter, frame, shown)

    def _reach(self, shown: Sequence[Curve]) -> tuple[float, float]:
        low = min(curve.series.first for curve in shown)
        # Of the untrained model there is no loss of a batch; all the same the axis begins with it.
        low = 0.0 if low == 1 else low
        high = max(curve.series.last for curve in shown)
        return low, max(high, low + 1)

    def _y_axis(self, rows: Sequence[NDArray[np.float32]]) -> Axis:
        """Return an axis that holds what is seen; on a log axis nothing at or below 0 counts."""
        together = np.concatenate([one.reshape(-1) for one in rows])
        finite = together[np.isfinite(together)]
        if self.log:
            finite = finite[finite > 0]
        if not finite.size:
            return spanning(math.nan, math.nan, self.log)
        return spanning(float(finite.min()), float(finite.max()), self.log)

    def _points(self, steps: NDArray[np.float64], y: NDArray[np.floating]) -> Points:
        drawn = self._drawn
        across = drawn.area.left() + drawn.x.share(steps) * drawn.area.width()
        return places(across, drawn.area.bottom() - drawn.y.share(y) * drawn.area.height())

    def _draw_curve(
        self,
        painter: QPainter,
        curve: Curve,
        smooth: float,
        steps: NDArray[np.float64],
        rows: NDArray[np.float32],
    ) -> None:
        # As coarse as the window over which one smooths: finer would not be seen.
        fine = max(LEAST_FINE, min(FINE, ALL_FINE // max(1, len(self._curves))))
        stride = max(1, -(-steps.size // fine))
        line = smoothed(rows[2], smooth * steps.size)[::stride]
        points = self._points(steps[::stride], line)
        thick = travel(points) < LONGEST_THICK
        pen = QPen(curve.color, curve.width * min(1.5, self.theme.scale) if thick else 1.0)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        if curve.dashes and thick:
            pen.setDashPattern([dash / curve.width * 1.5 for dash in curve.dashes])
        elif curve.dashes:
            points = dashed(points, curve.dashes)
        painter.setPen(pen)
        strokes(painter, points)
        if np.count_nonzero(~np.isnan(points[:, 0])) == 1:
            # A line of one point is as good as invisible.
            self._drawn.lone.append((finite(points)[0], curve.color))

    def _draw_label(self, painter: QPainter, frame: QRectF, curve: Curve, points: Points) -> None:
        """Write the label of a curve above its end, or below where there is no room."""
        known = np.flatnonzero(~np.isnan(points[:, 0]))
        if not known.size:
            return
        last = QPointF(*points[known[-1]].tolist())
        painter.setFont(self.theme.font(12, 600))
        metrics = QFontMetricsF(painter.font())
        box = QRectF(0, 0, metrics.horizontalAdvance(curve.label) + 8, metrics.height())
        box.moveRight(min(last.x(), frame.right() - 4))
        box.moveBottom(last.y() - 4)
        if box.top() < frame.top():
            box.moveTop(last.y() + 4)
        painter.fillRect(box, faded(self.theme.panel, 0.8))
        painter.setPen(curve.color)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, curve.label)

    def _draw_swing(
        self,
        painter: QPainter,
        curve: Curve,
        steps: NDArray[np.float64],
        rows: NDArray[np.float32],
    ) -> None:
        """Draw the numbers themselves, thin and pale; without antialiasing, which is dear."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(faded(curve.color, 0.42), 1))
        least = self._points(steps, rows[0])
        if np.array_equal(rows[0], rows[1], equal_nan=True):
            strokes(painter, least)
        else:
            swing(painter, least, self._points(steps, rows[1]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _draw_position(self, painter: QPainter, frame: QRectF) -> None:
        if self.position is not None:
            x = self._column(frame, self.position)
            painter.setPen(QPen(self.theme.selection, 1.5))
            painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))

    def _column(self, frame: QRectF, step: float) -> float:
        """Return the middle of the pixels of a step: between two columns a line is pale."""
        return math.floor(frame.left() + self._drawn.x.number_share(step) * frame.width()) + 0.5

    # Under the mouse

    def _draw_hover(self, painter: QPainter, frame: QRectF, shown: Sequence[Curve]) -> None:
        if self._mouse is None or not frame.adjusted(-4, -8, 4, 4).contains(self._mouse):
            return
        step = self._step_at(self._mouse)
        lines, at = [], step
        for curve in reversed(shown):
            near = curve.series.nearest(step)
            if near is not None:
                lines.append((curve, near))
        if lines:
            at = min((near[0] for _, near in lines), key=lambda x: abs(x - step))
        x = self._column(frame, at)
        painter.setPen(QPen(self.theme.line_strong, 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))
        for curve, near in lines:
            for point in finite(self._points(np.array([near[0]]), np.array([near[1]]))):
                if frame.adjusted(-1, -1, 1, 1).contains(point):
                    spot(painter, point, curve.color, self.theme.panel)
        words = [f"Step {at:,.0f}", *(f"{c.name}  {text.number(n[1])}" for c, n in lines[:LISTED])]
        colors = [self.theme.surface, *(c.color for c, _ in lines[:LISTED])]
        bubble(painter, frame, QPointF(x, self._mouse.y()), words, colors, self.theme)

    def _step_at(self, at: QPointF) -> float:
        area = self._drawn.area
        return self._drawn.x.number((at.x() - area.left()) / max(1.0, area.width()))

    def handle(self, happened: QEvent) -> bool:
        """Follow the mouse; the wheel zooms into steps, a double click shows all of them."""
        kind = happened.type()
        if kind == QEvent.Type.Leave:
            self._mouse = None
            self.refresh()
        elif isinstance(happened, QMouseEvent):
            self._mouse = happened.position()
            self.refresh()
            if kind == QEvent.Type.MouseButtonDblClick:
                self.fit()
            elif kind == QEvent.Type.MouseButtonRelease and self._curves:
                self.step_picked.emit(max(0, round(self._step_at(happened.position()))))
        elif isinstance(happened, QWheelEvent) and self._curves:
            self._zoom_at(happened)
            return True
        return False

    def _zoom_at(self, happened: QWheelEvent) -> None:
        centre = self._step_at(happened.position())
        factor = 0.8 ** (happened.angleDelta().y() / 120)
        low, high = self._drawn.x.low, self._drawn.x.high
        first, last = self._reach([c for c in self._curves if len(c.series)] or list(self._curves))
        low, high = centre - (centre - low) * factor, centre + (high - centre) * factor
        if high - low >= last - first:
            self.fit()
        elif high - low >= 2:
            self.zoom(max(low, first), min(high, last))


def bubble(
    painter: QPainter,
    frame: QRectF,
    at: QPointF,
    words: Sequence[str],
    colors: Sequence[QColor],
    theme: Theme,
) -> None:
    """Draw lines of text in a bubble beside ``at``, each with a spot of its colour.

    It stands inside the frame: long lines are cut in their middle, for numbers end them.
    """
    painter.setFont(theme.font(12, 500))
    metrics = QFontMetricsF(painter.font())
    middle, most = Qt.TextElideMode.ElideMiddle, max(0.0, frame.width() - 36)
    words = [metrics.elidedText(word, middle, most) for word in words]
    width = max(metrics.horizontalAdvance(word) for word in words) + 34
    height = metrics.height() * len(words) + 12
    left = at.x() + 12 if at.x() + 12 + width < frame.right() else at.x() - 12 - width
    left = max(frame.left(), left)
    top = min(max(frame.top(), at.y() - height / 2), max(frame.top(), frame.bottom() - height))
    painter.setPen(QPen(theme.line_strong, 1))
    painter.setBrush(theme.panel)
    painter.drawRoundedRect(QRectF(left, top, width, height), 7, 7)
    for row, (word, color) in enumerate(zip(words, colors, strict=True)):
        y = top + 6 + row * metrics.height()
        if row:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(QPointF(left + 12, y + metrics.height() / 2), 4, 4)
        painter.setPen(theme.ink if row else theme.ink2)
        painter.drawText(QPointF(left + 22 if row else left + 8, y + metrics.ascent()), word)
