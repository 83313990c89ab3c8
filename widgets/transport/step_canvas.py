"""The picture of the step strip: curves, ticks and marks over the steps of a loop."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip, QWidget

from gradscribe.playback.tape.loops.step_curves import StepCurve
from gradscribe.playback.tape.loops.steps import StepMarks, Steps
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import tip
from gradscribe.widgets.base.theme import Theme

CURVES, TALL_CURVES, BELOW = 28.0, 42.0, 16.0
"""Heights of the curves, also where there is space, and of the numbers below, in pixels at text
scale 1."""
EDGE = 8.0
LOG_FROM = 50.0
"""Ratio of the largest to the least number from which positive curves are drawn in decades."""
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2.5), (1.5, 2))
LEAST_TICK = 64.0
"""Least pixels between two numbers below the curves."""
MOST_MARKS = 400
"""Most marks of one kind that are painted, spread over the strip."""


class StepCanvas(QAbstractSlider):
    """A slider over the steps; its value is a step from 1 on.

    `picked` is emitted for the user's changes alone.
    """

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._curves: tuple[StepCurve, ...] = ()
        self._marks = StepMarks()
        self._steps = Steps((), 0)
        self._aimed = 0
        """The step under the mouse during a drag, if it was not recorded in full."""
        self._place = 0.0
        self._tall = False
        self._drawn: QPixmap | None = None
        self._wheel = 0
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(1, 1)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Steps"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    # Content

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self._theme = theme
        self.updateGeometry()
        self._redraw()

    def set_tall(self, tall: bool) -> None:
        """Draw the curves higher, for a large window."""
        if tall != self._tall:
            self._tall = tall
            self.updateGeometry()
            self._redraw()

    def set_steps(self, steps: Steps, marks: StepMarks) -> None:
        """Show steps with their marks, and no curves; emits nothing."""
        self._curves, self._marks, self._steps = (), marks, steps
        self.blockSignals(True)
        self.setRange(1, max(1, len(steps)))
        self.blockSignals(False)
        self._redraw()

    def set_growth(self, steps: int) -> None:
        """Make space for the steps that a running program has made; emits nothing."""
        self.blockSignals(True)
        self.setMaximum(max(len(self._steps), steps))
        self.blockSignals(False)

    def set_curves(self, curves: Sequence[StepCurve]) -> None:
        """Draw these curves."""
        self._curves = tuple(curves)
        names = ", ".join(curve.name for curve in self._curves)
        self.setAccessibleDescription(
            tr(
                "{names} over the steps. Arrows and Page Up and Page Down move by one step",
                names=names,
            )
        )
        self._redraw()

    def set_place(self, number: int, share: float) -> None:
        """Mark a step, and the ``share`` of it (0 to 1) that has happened; emits nothing."""
        self._place = number - 1 + share
        self.blockSignals(True)
        self.setValue(number)
        self.blockSignals(False)
        self.update()

    def text_at(self, number: int) -> str:
        """Return the tooltip of a step: its numbers, what it printed, its learning rate."""
        parts = [tr("Step {number:,} of {maximum:,}", number=number, maximum=self.maximum())]
        for curve in self._curves:
            numbers = curve.in_step(number)
            if len(numbers):
                last = formatting.number(float(numbers[-1]))
                more = (
                    tr(" (last of {numbers_count})", numbers_count=len(numbers))
                    if len(numbers) > 1
                    else ""
                )
                parts.append(f"{curve.name} = {last}{more}")
        for change in self._marks.rates_in(number):
            before, after = map(formatting.trim_zeros, (change.before, change.after))
            parts.append(
                tr(
                    "{optimizer} lr {before} → {after}",
                    optimizer=change.optimizer,
                    before=before,
                    after=after,
                )
            )
        if number in self._marks.printed:
            parts.append(tr("printed {printed}", printed=self._marks.printed[number]))
        if number > len(self._steps) > 0:
            parts.append(tr("the program runs: it can be shown once that has ended"))
        elif len(self._steps) and not self._steps.is_full(number):
            parts.append(tr("its numbers alone are recorded; a click brings it back in full"))
        return " · ".join(parts)

    # Geometry

    def sizeHint(self) -> QSize:
        """Return the size of the curves and the numbers below."""
        return QSize(400, round(self._curve_height() + BELOW * self._theme.scale))

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size in which steps can be picked."""
        return QSize(80, self.sizeHint().height())

    def _area(self) -> QRectF:
        return QRectF(EDGE, 0, max(1.0, self.width() - 2 * EDGE), self._curve_height())

    def _curve_height(self) -> float:
        return (TALL_CURVES if self._tall else CURVES) * self._theme.scale

    def x_of(self, place: float) -> float:
        """Return the x of a place, which counts steps from 0."""
        area = self._area()
        return area.left() + area.width() * place / self.maximum()

    def step_at(self, x: float) -> int:
        """Return the step at an x of the widget, clamped to those there are."""
        area = self._area()
        number = math.floor((x - area.left()) / area.width() * self.maximum()) + 1
        return min(max(1, number), self.maximum())

    # Mouse, wheel and keys

    def _pick(self, number: int) -> None:
        number = min(max(1, number), self.maximum())
        if number != self.value():
            self.picked.emit(number)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the step under the mouse."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._drag(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the mouse while the button is pressed."""
        if self.isSliderDown():
            self._drag(event)

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End the drag; a step that is not recorded in full is asked for only now."""
        self.setSliderDown(False)
        aimed, self._aimed = self._aimed, 0
        if aimed:
            self.picked.emit(aimed)

    def _drag(self, event: QMouseEvent) -> None:
        """Go to the step under the mouse, or show its numbers if these are all there is."""
        number = self.step_at(event.position().x())
        is_recorded = number <= len(self._steps) and self._steps.is_full(number)
        if not len(self._steps) or is_recorded:
            self._aimed = 0
            self._pick(number)
            return
        self._aimed = number
        self.set_place(number, 0.5)
        QToolTip.showText(event.globalPosition().toPoint(), tip(self.text_at(number)), self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Move by one step a notch; up and right go forward."""
        delta = event.angleDelta()
        self._wheel += delta.y() or delta.x()
        notches = int(self._wheel / 120)
        self._wheel -= 120 * notches
        if notches:
            self._pick(self.value() + notches)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move by one step with arrows and page keys, to the ends with Home and End."""
        now = self.value()
        targets = {
            Qt.Key.Key_Left: now - 1,
            Qt.Key.Key_Down: now - 1,
            Qt.Key.Key_PageUp: now - 1,
            Qt.Key.Key_Right: now + 1,
            Qt.Key.Key_Up: now + 1,
            Qt.Key.Key_PageDown: now + 1,
            Qt.Key.Key_Home: 1,
            Qt.Key.Key_End: self.maximum(),
        }
        key = Qt.Key(event.key())
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier or key not in targets:
            event.ignore()
            return
        self._pick(targets[key])

    def event(self, e: QEvent) -> bool:
        """Show a tooltip for the step under the mouse."""
        if isinstance(e, QHelpEvent) and e.type() == QEvent.Type.ToolTip:
            QToolTip.showText(e.globalPos(), tip(self.text_at(self.step_at(e.pos().x()))), self)
            return True
        return super().event(e)

    # Painting

    def _redraw(self) -> None:
        self._drawn = None
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw what has happened, the curves, and the place of the playback."""
        theme, area = self._theme, self._area()
        ratio = self.devicePixelRatioF()
        if self._drawn is None or self._drawn.size() != self.size() * ratio:
            self._drawn = self._draw(ratio)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.panel2)
            painter.drawRoundedRect(area, 4, 4)
            painter.setBrush(theme.selection_soft)
            here = self.x_of(self._place)
            # At least some pixels, so that the first step of many can be seen.
            painter.drawRoundedRect(area.adjusted(0, 0, here - area.right(), 0), 4, 4)
            painter.drawPixmap(0, 0, self._drawn)
            painter.setPen(QPen(theme.selection, theme.stroke(3.0 if self.hasFocus() else 2.0)))
            painter.drawLine(QPointF(here, 0), QPointF(here, area.bottom()))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.selection)
            size = 5.0 if self.hasFocus() else 4.0
            painter.drawEllipse(QPointF(here, area.bottom()), size, size)

    def _draw(self, ratio: float) -> QPixmap:
        """Return curves, ticks and marks, which stay while the place moves."""
        drawn = QPixmap(self.size() * ratio)
        drawn.setDevicePixelRatio(ratio)
        drawn.fill(Qt.GlobalColor.transparent)
        with QPainter(drawn) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw_full(painter)
            self._draw_ticks(painter)
            self._draw_marks(painter)
            self._draw_curves(painter)
        return drawn

    def _draw_full(self, painter: QPainter) -> None:
        """Underline the steps that were recorded in full, if not all were."""
        ranges = self._steps.full_ranges()
        if ranges == [(1, len(self._steps))]:
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.ink3)
        for first, last in ranges:
            left, right = self.x_of(first - 1), self.x_of(last)
            bar = QRectF(left, self._area().bottom() - 1.5, max(1.5, right - left), 1.5)
            painter.drawRect(bar)

    def _draw_ticks(self, painter: QPainter) -> None:
        theme, area = self._theme, self._area()
        painter.setFont(theme.font(11))
        metrics = QFontMetricsF(painter.font())
        every = tick_distance(self.maximum(), area.width() / (LEAST_TICK * theme.scale))
        baseline = area.bottom() + metrics.ascent() + 3
        numbers = sorted({1, *range(every, self.maximum() + 1, every)})
        free = 0.0
        for number in numbers:
            x, label = self.x_of(number - 0.5), f"{number:,}"
            painter.setPen(QPen(theme.line_strong, theme.stroke(1)))
            painter.drawLine(QPointF(x, area.bottom() - 3), QPointF(x, area.bottom()))
            wide = metrics.horizontalAdvance(label)
            left = min(max(0.0, x - wide / 2), self.width() - wide)
            if left < free:
                continue
            painter.setPen(theme.ink2)
            painter.drawText(QPointF(left, baseline), label)
            free = left + wide + 8

    def _draw_marks(self, painter: QPainter) -> None:
        """Mark the steps that printed with a dot below, those with another rate with a flag."""
        theme, area = self._theme, self._area()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.ink3)
        for number in _thinned(list(self._marks.printed)):
            painter.drawEllipse(QPointF(self.x_of(number - 0.5), area.bottom() - 3.5), 1.8, 1.8)
        for number in _thinned(sorted({change.step for change in self._marks.rates})):
            x = self.x_of(number - 0.5)
            painter.setPen(QPen(theme.parameter, theme.stroke(1.2), Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.parameter)
            flag = [QPointF(x, 0), QPointF(x + 7, 3.5), QPointF(x, 7)]
            painter.drawPolygon(QPolygonF(flag))

    def _draw_curves(self, painter: QPainter) -> None:
        area = self._area().adjusted(0, 3, 0, -6)
        share = _scale(self._curves)
        wide = self._theme.stroke(1.6)
        for at, curve in enumerate(self._curves):
            color = self.colors()[at % len(self.colors())]
            pen = QPen(color, wide)
            if dashes := DASHES[at % len(DASHES)]:
                pen.setDashPattern([dash / wide for dash in dashes])
            painter.setPen(pen)
            x = area.left() + area.width() * curve.at / self.maximum()
            y = area.bottom() - area.height() * share(curve.numbers)
            for part in polylines(x, y, area.width()):
                painter.drawPolyline(QPolygonF([QPointF(*point) for point in part.tolist()]))
            bad = x[~np.isfinite(curve.numbers)]
            if len(bad):
                painter.setPen(QPen(self._theme.error, self._theme.stroke(2.0)))
                painter.drawLine(QPointF(bad[0], area.top()), QPointF(bad[0], area.bottom()))

    def colors(self) -> tuple[QColor, ...]:
        """Return the colours of the curves in their order."""
        theme = self._theme
        return theme.forward, theme.data, theme.module


def tick_distance(count: int, most: float) -> int:
    """Return the round number of steps between two ticks, so that there are about ``most``."""
    least = max(1.0, count / max(1.0, most))
    power = 10 ** math.floor(math.log10(least))
    return next(int(power * by) for by in (1, 2, 5, 10) if power * by >= least)


def polylines(
    x: NDArray[np.float64], y: NDArray[np.float64], width: float
) -> list[NDArray[np.float64]]:
    """Return the points (n, 2) of the lines between gaps; no more than a pixel column can show."""
    points = np.stack([x, y], axis=1)
    if len(points) > 2 * width:
        column = np.floor(x).astype(np.int64)
        low, high = (np.where(np.isfinite(y), y, fill) for fill in (np.inf, -np.inf))
        starts = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
        ends = np.stack([np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)], 1)
        points = np.stack([np.repeat(x[starts], 2), ends.reshape(-1)], axis=1)
    good = np.isfinite(points[:, 1])
    cuts = np.flatnonzero(np.diff(good.astype(np.int8))) + 1
    parts = [part for part in np.split(points, cuts) if len(part) and np.isfinite(part[0, 1])]
    # A single number between two gaps is a short line.
    dash = np.array([(0.0, 0.0), (1.0, 0.0)])
    return [part + dash if len(part) == 1 else part for part in parts]


def _scale(curves: Sequence[StepCurve]) -> "_Scale":
    numbers = [curve.numbers[np.isfinite(curve.numbers)] for curve in curves]
    every = np.concatenate(numbers) if numbers else np.zeros(0)
    if not len(every):
        return _Scale(0.0, 1.0, False)
    low, high = float(every.min()), float(every.max())
    if low > 0 and high / low >= LOG_FROM:
        return _Scale(math.log(low), math.log(high), True)
    return _Scale(low, high, False)


class _Scale:
    """Maps numbers to shares of the height, 0 at the bottom."""

    def __init__(self, low: float, high: float, log: bool) -> None:
        self._low, self._high, self._log = low, high, log

    def __call__(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(all="ignore"):
            y = np.log(numbers) if self._log else numbers
            half = self._high / 2 - self._low / 2
            if not half > 0:
                return np.where(np.isfinite(y), 0.5, np.nan)
            # Halves, so that the range of the largest floats does not overflow.
            share = (y / 2 - self._low / 2) / half
        return np.where(np.isfinite(share), share, np.nan)


def _thinned(numbers: list[int]) -> list[int]:
    return numbers[:: max(1, -(-len(numbers) // MOST_MARKS))]
