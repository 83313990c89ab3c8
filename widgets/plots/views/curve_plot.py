"""Plot of curves over steps: linear or log, smoothed, zoomable, with values under the mouse."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QWidget

from gradscribe.playback.text import formatting
from gradscribe.playback.translation import pgettext, tr
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.plots.drawing.axes import Axis, axis_around
from gradscribe.widgets.plots.drawing.curve_legend import draw_legend
from gradscribe.widgets.plots.drawing.flags import StepFlag, draw_flags, flags_near
from gradscribe.widgets.plots.drawing.polylines import (
    PixelPoints,
    draw_polyline,
    draw_range,
    finite_points,
    vertical_travel,
    with_dash_gaps,
)
from gradscribe.widgets.plots.plot import (
    EDGE,
    AxesFrame,
    Canvas,
    Plot,
    draw_dot,
    draw_placeholder,
    plot_frame,
)
from gradscribe.widgets.plots.step_series import StepSeries, exponential_average

FINE = 450
"""Most points of a smoothed curve: thick antialiased lines are expensive."""
ALL_FINE, LEAST_FINE = 3600, 90
"""Most points of all curves together, and the least of each."""
LONGEST_THICK = 1200.0
"""Vertical pixels beyond which a line is drawn thin, and dashed by `with_dash_gaps` instead of by
its pen, as both are expensive."""
MOST_SWINGS = 6
"""Most shaded curves with their raw numbers, those on top: more would be unreadable and slow."""
LISTED = 8
"""Most curves in the bubble under the mouse."""

PALE = 0.45
"""Opacity of a curve from before a run went back."""
MOST_LABEL_ROWS = 6
"""Most rows above and below the end of a curve in which a place for its label is looked for."""


@dataclass(frozen=True)
class PlotCurve:
    """A curve. ``shade`` shows the raw numbers around a smoothed line."""

    name: str
    series: StepSeries
    color: QColor
    dashes: tuple[float, ...] = ()
    shade: bool = False
    width: float = 2.0
    label: str = ""
    """Written at its end."""
    is_drawn: bool = True
    """False for a curve that is only in the readout and the table."""
    is_listed: bool = True
    """False for a curve that has no entry of its own in the legend."""


Backdrop = Callable[[QPainter, AxesFrame], None]
"""Draws below the curves, within the axes."""


class CurvePlot(Plot):
    """A plot of curves over steps."""

    step_picked = Signal(int)
    """Carries the step that was clicked."""

    def __init__(
        self,
        title: str,
        subtitle: str = "",
        log: bool = False,
        parent: QWidget | None = None,
        make_canvas: Callable[[Plot], Canvas] = Canvas,
    ) -> None:
        super().__init__(title, subtitle, parent, make_canvas)
        self.log = log
        self.smoothing = 0.0
        """Distance of the smoothing in pixels, the same for all curves and whatever is in sight."""
        self.placeholder = tr("Nothing yet")
        self.is_keyed = False
        """True to show a legend below the plot."""
        self.step_word = pgettext("of a run", "Step")
        """Word for a step, in the bubble under the mouse."""
        self._position: float | None = None
        self.curves: tuple[PlotCurve, ...] = ()
        self._range: tuple[float, float] | None = None
        self._heights: Axis | None = None
        """The vertical axis if it does not follow the visible numbers."""
        self._drawn = AxesFrame(QRectF(), Axis(0, 1), Axis(0, 1))
        """The axes as drawn last."""
        self.backdrop: Backdrop | None = None
        self.flags: tuple[StepFlag, ...] = ()
        """Steps after which something was changed, and what."""
        self._lone: list[tuple[QPointF, QColor]] = []
        """Curves of one point."""

    @property
    def position(self) -> float | None:
        """The step that other views show, marked by a line; None for none."""
        return self._position

    @position.setter
    def position(self, step: float | None) -> None:
        if step != self._position:
            self._position = step
            self.refresh()

    def set_curves(self, curves: Sequence[PlotCurve]) -> None:
        """Show these curves, the last on top."""
        self.curves = tuple(curves)
        self.refresh()

    def set_flags(self, flags: Sequence[StepFlag]) -> None:
        """Mark steps after which something was changed."""
        if tuple(flags) != self.flags:
            self.flags = tuple(flags)
            self.refresh()

    def set_log(self, log: bool) -> None:
        """Use a logarithmic or a linear axis."""
        self.log = log
        self.refresh()

    def set_smoothing(self, pixels: float) -> None:
        """Smooth over so many pixels, with what came before: nothing shows before its cause."""
        self.smoothing = pixels
        self.refresh()

    def zoom(self, low: float, high: float) -> None:
        """Show only the steps from ``low`` to ``high``."""
        self._range = (low, high)
        self.refresh()

    def fit(self) -> None:
        """Show all steps again."""
        self._range = None
        self.refresh()

    # Drawing

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw axes, curves, and the values under the mouse."""
        shown = self._draw_curves(painter, area)
        if shown:
            self._draw_position(painter, self._drawn.area)
            self._draw_hover(painter, self._drawn.area, shown)

    def _draw_curves(self, painter: QPainter, area: QRectF) -> list[PlotCurve]:
        """Draw axes and curves; return the curves that have numbers."""
        shown = [curve for curve in self.curves if len(curve.series)]
        if not shown:
            draw_placeholder(painter, area, self.theme, self.placeholder)
            return []
        if self.is_keyed:
            drawn = [curve for curve in shown if curve.is_drawn and curve.is_listed]
            entries = [(curve.name, curve.color, curve.dashes) for curve in drawn]
            inner = draw_legend(painter, area.adjusted(EDGE, 0, -EDGE, -8), entries, self.theme)
            area = area.adjusted(0, 0, 0, inner.bottom() - area.bottom() + 8)
        low, high = self._range or self._reach(shown)
        wide = max(2, round(area.width()))
        parts = [curve.series.summary(low, high, wide) for curve in shown]
        y = self._heights or self._y_axis([rows for _, rows in parts])
        ticks = y.ticks(max(2, round(area.height() / 44)))
        frame = plot_frame(area, 8, ticks, self.theme)
        self._drawn, self._lone = AxesFrame(frame, Axis(low, high), y), []
        self._drawn.draw(painter, self.theme, ticks, whole=True)
        painter.setClipRect(frame.adjusted(-1, -8, 1, 1))
        if self.backdrop is not None:
            self.backdrop(painter, self._drawn)
        labels: list[QRectF] = []
        shaded = {id(curve) for curve in [c for c in shown if c.shade][-MOST_SWINGS:]}
        for curve, (steps, rows) in zip(shown, parts, strict=True):
            if not curve.is_drawn:
                continue
            smooth = self.smoothing if curve.shade else 0.0
            if smooth > 0 and id(curve) in shaded:
                self._draw_swing(painter, curve, steps, rows)
            self._draw_curve(painter, curve, smooth, steps, rows)
        for curve, (steps, rows) in zip(shown, parts, strict=True):
            if curve.is_drawn and curve.label:
                self._draw_label(painter, labels, curve, self._drawn.points(steps, rows[2]))
        painter.setClipping(False)
        draw_flags(painter, self._drawn, self.flags, self.theme)
        for point, color in self._lone:
            draw_dot(painter, point, color, self.theme.panel)
        return shown

    def _reach(self, shown: Sequence[PlotCurve]) -> tuple[float, float]:
        low = min(curve.series.first for curve in shown)
        # The untrained model has no batch loss, but the axis begins with step 0 all the same.
        low = 0.0 if low == 1 else low
        high = max(curve.series.last for curve in shown)
        return low, max(high, low + 1)

    def _y_axis(self, rows: Sequence[NDArray[np.float32]]) -> Axis:
        """Return an axis for the visible numbers; a log axis ignores those at or below 0."""
        together = np.concatenate([part.reshape(-1) for part in rows])
        finite = together[np.isfinite(together)]
        if self.log:
            finite = finite[finite > 0]
        if not finite.size:
            return axis_around(math.nan, math.nan, self.log)
        return axis_around(float(finite.min()), float(finite.max()), self.log)

    def _draw_curve(
        self,
        painter: QPainter,
        curve: PlotCurve,
        smooth: float,
        steps: NDArray[np.float64],
        rows: NDArray[np.float32],
    ) -> None:
        # As coarse as the smoothing window: finer details are not visible.
        fine = max(LEAST_FINE, min(FINE, ALL_FINE // max(1, len(self.curves))))
        stride = max(1, -(-steps.size // fine))
        line = exponential_average(rows[2], smooth * self._points_a_pixel(steps))[::stride]
        points = self._drawn.points(steps[::stride], line)
        thick = vertical_travel(points) < LONGEST_THICK
        wide = self.theme.stroke(curve.width * min(1.5, self.theme.scale) if thick else 1.0)
        pen = QPen(curve.color, wide)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        if curve.dashes and thick:
            pen.setDashPattern([dash / curve.width * 1.5 for dash in curve.dashes])
        elif curve.dashes:
            points = with_dash_gaps(points, curve.dashes)
        painter.setPen(pen)
        draw_polyline(painter, points)
        if np.count_nonzero(~np.isnan(points[:, 0])) == 1:
            # A line of a single point would be nearly invisible.
            self._lone.append((finite_points(points)[0], curve.color))

    def _points_a_pixel(self, steps: NDArray[np.float64]) -> float:
        """Return how many numbers of a curve there are in a pixel; fewer than 1 if far apart."""
        ends = self._drawn.x.share(steps[[0, -1]]) if steps.size else np.zeros(2)
        wide = float(ends[1] - ends[0]) * self._drawn.area.width()
        return (steps.size - 1) / wide if wide > 0 else 0.0

    def _draw_label(
        self, painter: QPainter, labels: list[QRectF], curve: PlotCurve, points: PixelPoints
    ) -> None:
        """Write the label of a curve above its end, or below, where no other of ``labels`` is."""
        known = np.flatnonzero(~np.isnan(points[:, 0]))
        if not known.size:
            return
        last = QPointF(*points[known[-1]].tolist())
        painter.setFont(self.theme.font(12, 600))
        metrics = QFontMetricsF(painter.font())
        box = QRectF(0, 0, metrics.horizontalAdvance(curve.label) + 8, metrics.height())
        box.moveRight(min(last.x(), self._drawn.area.right() - 4))
        box = _free_place(box, last.y(), self._drawn.area, labels)
        labels.append(box)
        painter.fillRect(box, faded(self.theme.panel, 0.8))
        painter.setPen(curve.color)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, curve.label)

    def _draw_swing(
        self,
        painter: QPainter,
        curve: PlotCurve,
        steps: NDArray[np.float64],
        rows: NDArray[np.float32],
    ) -> None:
        """Draw the raw numbers, thin and pale; without antialiasing, which is expensive."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(faded(curve.color, 0.42 * curve.color.alphaF()), 1))
        least = self._drawn.points(steps, rows[0])
        if np.array_equal(rows[0], rows[1], equal_nan=True):
            draw_polyline(painter, least)
        else:
            draw_range(painter, least, self._drawn.points(steps, rows[1]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _draw_position(self, painter: QPainter, frame: QRectF) -> None:
        if self.position is not None:
            x = self._column(frame, self.position)
            painter.setPen(QPen(self.theme.selection, self.theme.stroke(1.5)))
            painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))

    def _column(self, frame: QRectF, step: float) -> float:
        """Return the centre of the pixel column of a step: between two columns a line is pale."""
        return math.floor(frame.left() + self._drawn.x.number_share(step) * frame.width()) + 0.5

    # Mouse

    def _draw_hover(self, painter: QPainter, frame: QRectF, shown: Sequence[PlotCurve]) -> None:
        if self.mouse is None or not frame.adjusted(-4, -8, 4, 4).contains(self.mouse):
            return
        step = self._drawn.x_at(self.mouse)
        lines, at = [], step
        for curve in reversed(shown):
            near = curve.series.nearest(step)
            if near is not None:
                lines.append((curve, near))
        if lines:
            at = min((near[0] for _, near in lines), key=lambda x: abs(x - step))
        x = self._column(frame, at)
        painter.setPen(QPen(self.theme.line_strong, self.theme.stroke(1), Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))
        for curve, near in lines:
            for point in finite_points(
                self._drawn.points(np.array([near[0]]), np.array([near[1]]))
            ):
                if frame.adjusted(-1, -1, 1, 1).contains(point):
                    draw_dot(painter, point, curve.color, self.theme.panel)
        words = [
            f"{self.step_word} {at:,.0f}",
            *(f"{c.name}  {formatting.number(n[1])}" for c, n in lines[:LISTED]),
        ]
        colors = [self.theme.surface, *(c.color for c, _ in lines[:LISTED])]
        flags = flags_near(self._drawn, self.flags, self.mouse.x())
        words += [
            tr("after step {step:,}: {change}", step=step, change=change)
            for step, change in flags[:LISTED]
        ]
        colors += [self.theme.parameter] * len(flags[:LISTED])
        draw_bubble(painter, frame, QPointF(x, self.mouse.y()), words, colors, self.theme)

    def handle(self, happened: QEvent) -> bool:
        """Follow the mouse; zoom with the wheel, show all steps on a double click."""
        kind, mouse = happened.type(), self.follow_mouse(happened)
        if kind == QEvent.Type.MouseButtonDblClick:
            self.fit()
        elif mouse is not None and kind == QEvent.Type.MouseButtonRelease and self.curves:
            self.step_picked.emit(max(0, round(self._drawn.x_at(mouse.position()))))
        elif isinstance(happened, QWheelEvent) and self.curves:
            self._zoom_at(happened)
            return True
        return False

    def _zoom_at(self, happened: QWheelEvent) -> None:
        centre = self._drawn.x_at(happened.position())
        factor = 0.8 ** (happened.angleDelta().y() / 120)
        low, high = self._drawn.x.low, self._drawn.x.high
        first, last = self._reach([c for c in self.curves if len(c.series)] or list(self.curves))
        low, high = centre - (centre - low) * factor, centre + (high - centre) * factor
        if high - low >= last - first:
            self.fit()
        elif high - low >= 2:
            self.zoom(max(low, first), min(high, last))


def draw_bubble(
    painter: QPainter,
    frame: QRectF,
    at: QPointF,
    words: Sequence[str],
    colors: Sequence[QColor],
    theme: Theme,
) -> None:
    """Draw lines of text in a bubble next to ``at``, all but the first with a coloured dot.

    It stays inside the frame: long lines are elided in the middle, as numbers are at their ends.
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
    painter.setPen(QPen(theme.line_strong, theme.stroke(1)))
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


def _free_place(box: QRectF, y: float, frame: QRectF, taken: Sequence[QRectF]) -> QRectF:
    """Return ``box`` as near as possible to the height ``y`` of what it names, clear of others."""
    high = box.height()
    above, below = y - 4 - high, y + 4
    tops = [
        top for row in range(MOST_LABEL_ROWS) for top in (above - row * high, below + row * high)
    ]
    places = [QRectF(box.left(), top, box.width(), high) for top in tops]
    inside = [p for p in places if p.top() >= frame.top() and p.bottom() <= frame.bottom()]
    free = (p for p in inside if not any(p.intersects(other) for other in taken))
    return next(free, (inside or places)[0])
