"""Chart of curves over steps to explore: zoomed, panned, brushed, read and followed.

The numbers stay in their series, which give what fits the pixels in sight.
"""

import math
from collections.abc import Iterator, Sequence

import pyqtgraph as pg
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QPushButton, QWidget

from gradscribe.playback.text import formatting
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.charts.stretch import Stretch, measure, table_parts
from gradscribe.widgets.charts.view import WHEEL, ChartView
from gradscribe.widgets.plots.drawing.axes import LARGEST, Axis
from gradscribe.widgets.plots.plot import Canvas, Plot
from gradscribe.widgets.plots.views.curve_plot import LISTED, CurvePlot, PlotCurve, draw_bubble

LEAST_STEPS = 2
"""Fewest steps that can be zoomed to."""
PAN = 0.1
"""Share of the range that an arrow key pans."""
CLOSEST = 1e-6
"""Least height of the range that can be zoomed to, relative to its numbers."""
MARGIN = 8


class CurveChart(CurvePlot):
    """A plot of curves over steps that the user moves by hand."""

    range_moved = Signal()
    """Other steps are in sight."""
    retrained = Signal(int)
    """Carries the step from which the user wishes to train again."""
    log_changed = Signal(bool)
    enlarged = Signal()
    """The user wishes to see the chart in a window of its own."""
    refreshed = Signal()
    said = Signal(str)
    """A sentence for the user: where a file was written, or why not."""

    def __init__(
        self, title: str, subtitle: str = "", log: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(title, subtitle, log, parent, make_canvas=self._make_view)
        self.is_frozen = False
        self.is_trained = True
        """True if the run can be trained again from one of its steps."""
        self.stretch: tuple[float, float] | None = None
        """The ends of the brushed stretch."""
        self._measured: list[tuple[PlotCurve, Stretch]] = []
        self.marker = pg.InfiniteLine(angle=90, movable=True)
        self.marker.setCursor(Qt.CursorShape.SizeHorCursor)
        self.region = pg.LinearRegionItem(swapMode="sort")
        for item, height in ((self.region, 10), (self.marker, 20)):
            item.setZValue(height)
            item.hide()
            self.view.add(item)
        self.follow = self._button("Follow", "Show all steps again, and those that are to come")
        self.again = self._button("", "Go back to the first step of the stretch and train from it")
        self.follow.clicked.connect(self.fit)
        self.again.clicked.connect(self.retrain)
        self._connect()
        self._color()

    def _make_view(self, _plot: Plot) -> Canvas:
        self.view = ChartView(self._draw_cached, self._draw_over, self)
        self.view.setAccessibleName("Chart: arrows move it, plus and minus zoom, Home shows all")
        canvas: Canvas = self.view
        return canvas

    def _button(self, name: str, tip: str) -> QPushButton:
        button = QPushButton(name, self.view)
        button.setProperty("crumb", True)
        button.setToolTip(tip)
        button.setCursor(Qt.CursorShape.ArrowCursor)
        button.hide()
        return button

    def _connect(self) -> None:
        box, view = self.view.box, self.view
        box.seen.connect(self.see)
        box.brushed.connect(self.brush)
        box.clicked.connect(self._pick)
        box.freed.connect(self.fit)
        view.moved.connect(self._hover)
        view.left.connect(lambda: self._hover(None))
        view.keyed.connect(self._press)
        self.region.sigRegionChanged.connect(self._measure)
        self.marker.sigDragged.connect(self._drag)

    # The range

    @property
    def is_following(self) -> bool:
        """True while all steps are shown, as high as their numbers are."""
        return self._range is None and self._heights is None

    @property
    def steps(self) -> tuple[float, float] | None:
        """The steps in sight; None for all of them, also those to come."""
        return self._range

    def in_sight(self) -> tuple[Axis, Axis]:
        """Return the horizontal and the vertical axis as they are shown."""
        shown = self._shown()
        low, high = self._range or (self._reach(shown) if shown else (0.0, 1.0))
        rows = [c.series.summary(low, high, max(2, self.view.width()))[1] for c in shown]
        fitted = self._y_axis(rows) if rows else Axis(0, 1)
        return Axis(low, high), self._heights or fitted

    def set_steps(self, steps: tuple[float, float] | None) -> None:
        """Show these steps, as another chart does; None shows all."""
        if steps != self._range and not self.is_frozen:
            self._range = steps
            self.refresh()

    def see(self, left: float, right: float, bottom: float, top: float) -> None:
        """Show these shares of the present range, as far as there is anything to see."""
        shown = self._shown()
        if self.is_frozen or not shown:
            return
        x, y = self.in_sight()
        self._see_steps(x, left, right, self._reach(shown))
        if (bottom, top) != (0.0, 1.0):
            self._see_heights(y, bottom, top)
        self.refresh()
        self.range_moved.emit()

    def _see_steps(self, x: Axis, left: float, right: float, reach: tuple[float, float]) -> None:
        first, last = reach
        low, wide = x.number(left), (right - left) * (x.high - x.low)
        if wide >= last - first:
            self._range = None
        elif wide >= min(LEAST_STEPS, x.high - x.low):
            low = min(max(low, first), last - wide)
            self._range = (low, low + wide)

    def _see_heights(self, y: Axis, bottom: float, top: float) -> None:
        if y.log:
            ends = math.log10(y.low), math.log10(y.high)
            low, high = (ends[0] + share * (ends[1] - ends[0]) for share in (bottom, top))
            if high - low < CLOSEST or low < -307 or high > math.log10(LARGEST):
                return
            seen = Axis(10**low, 10**high, log=True)
        else:
            seen = Axis(y.number(bottom), y.number(top))
            size = max(abs(seen.low), abs(seen.high))
            if not CLOSEST * size < seen.high - seen.low < LARGEST:
                return
        self._heights = None
        fitted = self.in_sight()[1]
        if top - bottom < 1.001 or seen.low > fitted.low or seen.high < fitted.high:
            self._heights = seen

    def fit(self) -> None:
        """Show all steps again, as high as their numbers are, and those to come."""
        self.is_frozen, self._heights = False, None
        super().fit()
        self.range_moved.emit()

    def zoom(self, low: float, high: float) -> None:
        """Show only the steps from ``low`` to ``high``."""
        super().zoom(low, high)
        self.range_moved.emit()

    def freeze(self, frozen: bool) -> None:
        """Keep both axes as they are, whatever grows or moves; or follow the numbers again."""
        if not frozen:
            self.fit()
            return
        x, self._heights = self.in_sight()
        self._range, self.is_frozen = (x.low, x.high), True
        self.refresh()

    def set_log(self, log: bool) -> None:
        """Use a logarithmic or a linear axis."""
        if log != self.log:
            self._heights = None
            super().set_log(log)
            self.log_changed.emit(log)

    def refresh(self) -> None:
        """Draw what has grown; steps that are gone are no longer looked at."""
        shown = self._shown()
        if self._range is not None and shown and not self.is_frozen:
            first, last = self._reach(shown)
            if self._range[0] >= last or self._range[1] <= first:
                self._range = None
        super().refresh()
        self.follow.setVisible(bool(shown) and not self.is_following)
        if self.stretch is not None:
            self._measure()
        self.refreshed.emit()

    def _shown(self) -> list[PlotCurve]:
        return [curve for curve in self.curves if len(curve.series)]

    # The step that is shown elsewhere

    @property
    def position(self) -> float | None:
        """The step that other views show, marked by a line that can be dragged; None for none."""
        return self._position

    @position.setter
    def position(self, step: float | None) -> None:
        self._position = step
        if not self.marker.moving:
            self.marker.setVisible(step is not None)
            if step is not None:
                self.marker.setValue(step)

    def _pick(self, step: float) -> None:
        if self._shown():
            self.step_picked.emit(max(0, round(step)))

    def _drag(self) -> None:
        step = max(0, round(self.marker.value()))
        if step != self._position:
            self._position = float(step)
            self.step_picked.emit(step)

    # A stretch of steps

    def brush(self, low: float, high: float, _released: bool = True) -> None:
        """Select the steps from ``low`` to ``high``; fewer than one selects none."""
        shown = self._shown()
        first, last = self._reach(shown) if shown else (0.0, 0.0)
        low, high = max(low, first), min(high, last)
        self.stretch = (low, high) if high - low >= 1 else None
        self.region.blockSignals(True)
        self.region.setRegion((low, max(low, high)))
        self.region.blockSignals(False)
        self._measure()

    def drop_stretch(self) -> None:
        """Select no steps."""
        self.brush(0.0, 0.0)

    def measured(self) -> list[Stretch]:
        """Return the statistics of the stretch, the topmost curve first."""
        return [one for _, one in self._measured]

    def _measure(self) -> None:
        if self.stretch is not None:
            low, high = self.region.getRegion()
            self.stretch = (float(low), float(high))
            found = ((curve, measure(curve, low, high)) for curve in reversed(self._shown()))
            self._measured = [(curve, one) for curve, one in found if one is not None]
            self.again.setText(f"Train again from {self.first_step:,}")
            self.again.adjustSize()
        else:
            self._measured = []
        self.region.setVisible(self.stretch is not None)
        self.again.setVisible(self.stretch is not None and self.is_trained)
        words = self._stretch_words()
        self.view.setAccessibleDescription(". ".join(words))
        self.view.viewport().update()

    @property
    def first_step(self) -> int:
        """The first step of the stretch."""
        return max(0, math.ceil(self.stretch[0])) if self.stretch is not None else 0

    def retrain(self) -> None:
        """Have the run trained again from the begin of the stretch."""
        if self.stretch is not None:
            self.retrained.emit(self.first_step)

    def _stretch_words(self) -> list[str]:
        if self.stretch is None:
            return []
        words = [f"{self.step_word}s {self.first_step:,} to {math.floor(self.stretch[1]):,}"]
        for _, one in self._measured[:LISTED]:
            factor = "" if math.isnan(one.factor) else f"  ×{one.factor:.2g}"
            numbers = f"mean {formatting.number(one.mean)}  least {formatting.number(one.least)}"
            words.append(f"{one.name}  {numbers}{factor}")
        return words

    # Hands and eyes

    def _hover(self, at: QPointF | None) -> None:
        self.mouse = at
        self.view.viewport().update()

    def _press(self, happened: QKeyEvent) -> None:
        middle, key = self.view.box.rect().center(), happened.key()
        pans = {
            Qt.Key.Key_Left: (-PAN, 0.0),
            Qt.Key.Key_Right: (PAN, 0.0),
            Qt.Key.Key_Down: (0.0, -PAN),
            Qt.Key.Key_Up: (0.0, PAN),
        }
        if key in pans:
            x, y = pans[Qt.Key(key)]
            self.see(x, 1 + x, y, 1 + y)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.view.box.zoom_at(WHEEL, middle)
        elif key == Qt.Key.Key_Minus:
            self.view.box.zoom_at(1 / WHEEL, middle)
        elif key == Qt.Key.Key_Home:
            self.fit()
        elif key == Qt.Key.Key_Escape and self.stretch is not None:
            self.drop_stretch()
        else:
            return
        happened.accept()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        super().set_theme(theme)
        self._color()

    def _color(self) -> None:
        # Pens of pyqtgraph are as wide on the screen as they say: Qt's own would be in steps.
        color = self.theme.selection
        self.marker.setPen(pg.mkPen(color, width=1.5))
        self.marker.setHoverPen(pg.mkPen(color, width=3))
        self.region.setBrush(faded(color, 0.16))
        self.region.setHoverBrush(faded(color, 0.24))
        for line in self.region.lines:
            line.setPen(pg.mkPen(color))
            line.setHoverPen(pg.mkPen(color, width=3))

    def _draw_cached(self, painter: QPainter, area: QRectF) -> None:
        """Draw what does not follow the mouse, and place the items where that was drawn."""
        shown = self._draw_curves(painter, area)
        view, drawn = self.view, self._drawn
        view.box.setVisible(bool(shown))
        if shown:
            view.place(drawn.area)
            view.box.setRange(xRange=(drawn.x.low, drawn.x.high), yRange=(0, 1), padding=0)
            self._place_buttons(drawn.area)

    def draw_still(self, painter: QPainter, area: QRectF) -> None:
        """Draw the chart without what the mouse points at."""
        if self._draw_curves(painter, area):
            self._draw_position(painter, self._drawn.area)

    def _place_buttons(self, frame: QRectF) -> None:
        right = round(frame.right()) - MARGIN
        self.follow.adjustSize()
        top = round(frame.bottom()) - MARGIN - self.follow.height()
        self.follow.move(right - self.follow.width(), top)
        self.again.move(round(frame.left()) + MARGIN, top)

    def _draw_over(self, painter: QPainter) -> None:
        shown, frame = self._shown(), self._drawn.area
        if not shown:
            return
        if words := self._stretch_words():
            at = QPointF(frame.left(), frame.top())
            dots = [curve.color for curve, _ in self._measured[:LISTED]]
            draw_bubble(painter, frame, at, words, [self.theme.surface, *dots], self.theme)
        self._draw_hover(painter, frame, shown)

    # What can be taken away

    def table(self) -> Iterator[str]:
        """Yield the numbers in sight, exactly as they were recorded, as parts of a CSV file."""
        x, _ = self.in_sight()
        return table_parts(self._shown(), x.low, x.high)


class SharedSteps(QObject):
    """Charts that show the same steps."""

    def __init__(self, charts: Sequence[CurveChart], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._charts = tuple(charts)
        for chart in charts:
            chart.range_moved.connect(lambda chart=chart: self._share(chart))

    def _share(self, moved: CurveChart) -> None:
        for chart in self._charts:
            if chart is not moved:
                chart.set_steps(moved.steps)
