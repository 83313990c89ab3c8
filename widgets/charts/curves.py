"""Chart of curves over steps to explore: zoomed, panned, brushed, read and followed.

The numbers stay in their series, which give what fits the pixels in sight.
"""

import math
from collections.abc import Iterator, Sequence

import pyqtgraph as pg
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QWidget

from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.charts.menu import ChartMenu, MenuEntry
from gradscribe.widgets.charts.navigation import Navigation
from gradscribe.widgets.charts.stretch import Stretch, in_words, measure, table_parts
from gradscribe.widgets.charts.view import ChartView
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.plot import Canvas, Plot
from gradscribe.widgets.plots.views.curve_plot import LISTED, CurvePlot, PlotCurve, draw_bubble

LEAST_STEPS = 2
"""Fewest steps that can be zoomed to."""
MARGIN = 8


class CurveChart(CurvePlot):
    """A plot of curves over steps that the user moves by hand."""

    range_moved = Signal()
    """Other steps are in sight."""
    retrained = Signal(int)
    """Carries the step from which the user wishes to train again."""
    log_changed = Signal(bool)
    refreshed = Signal()
    marked = Signal(object)
    """Carries the step that other views show; None for none."""

    def __init__(
        self, title: str, subtitle: str = "", log: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(title, subtitle, log, parent, make_canvas=self._make_view)
        self.navigation = Navigation(
            self.view, self._fitted, self, is_bounded=True, least=LEAST_STEPS
        )
        self.menu = ChartMenu(self, self.view, self.navigation)
        self.is_trained = True
        """True if the run can be trained again from one of its steps."""
        self.picks_while_dragged = True
        """False if a step is picked only once the line is let go, as going there takes long."""
        self.stretch: tuple[float, float] | None = None
        """The ends of the brushed stretch."""
        self._measured: list[tuple[PlotCurve, Stretch]] = []
        self._played: int | None = None
        self.marker = pg.InfiniteLine(angle=90, movable=True)
        self.marker.setCursor(Qt.CursorShape.SizeHorCursor)
        self.region = pg.LinearRegionItem(swapMode="sort")
        self.played = pg.InfiniteLine(
            angle=90, label=tr("graph"), labelOpts={"position": 0.94, "movable": False}
        )
        for item, height in ((self.region, 10), (self.marker, 20), (self.played, 15)):
            item.setZValue(height)
            item.hide()
            self.view.add(item)
        self.follow = self.view.add_button(
            tr("Follow"), tr("Show all steps again, and those that are to come")
        )
        self.again = self.view.add_button(
            "", tr("Go back to the first step of the stretch and train from it")
        )
        self.follow.clicked.connect(self.fit)
        self.again.clicked.connect(self.retrain)
        self._connect()
        self._color()

    def _make_view(self, _plot: Plot) -> Canvas:
        self.view = ChartView(self._draw_cached, self._draw_over, self)
        self.view.entered.connect(self._describe)
        canvas: Canvas = self.view
        return canvas

    def _connect(self) -> None:
        box, view = self.view.box, self.view
        box.brushed.connect(self.brush)
        box.clicked.connect(self._pick)
        view.moved.connect(self._hover)
        view.left.connect(lambda: self._hover(None))
        view.keyed.connect(self._press)
        self.navigation.changed.connect(self._navigate)
        self.region.sigRegionChanged.connect(self._measure)
        self.marker.sigDragged.connect(self._drag)
        self.marker.sigPositionChangeFinished.connect(self._drop_marker)

    # The range

    @property
    def is_following(self) -> bool:
        """True while all steps are shown, as high as their numbers are."""
        return self.navigation.is_following

    @property
    def steps(self) -> tuple[float, float] | None:
        """The steps in sight; None for all of them, also those to come."""
        return self._range

    def _fitted(self, x: Axis | None) -> tuple[Axis, Axis] | None:
        shown = self._shown()
        if not shown:
            return None
        low, high = (x.low, x.high) if x is not None else self._reach(shown)
        wide = max(2, self.view.width())
        rows = [curve.series.summary(low, high, wide)[1] for curve in shown]
        return Axis(low, high), self._y_axis(rows)

    def _navigate(self) -> None:
        x, self._heights = self.navigation.x, self.navigation.y
        moved = (x.low, x.high) if x is not None else None
        is_other, self._range = moved != self._range, moved
        self.refresh()
        if is_other:
            self.range_moved.emit()

    def set_steps(self, steps: tuple[float, float] | None) -> None:
        """Show these steps, as another chart does; None shows all."""
        if steps != self._range:
            self.navigation.show(Axis(*steps) if steps is not None else None, self.navigation.y)

    def fit(self) -> None:
        """Show all steps again, as high as their numbers are, and those to come."""
        self.navigation.fit()

    def zoom(self, low: float, high: float) -> None:
        """Show only the steps from ``low`` to ``high``."""
        self.navigation.show(Axis(low, high), self.navigation.y)

    def set_log(self, log: bool) -> None:
        """Use a logarithmic or a linear axis."""
        if log != self.log:
            self.log = log
            if not self.navigation.is_frozen:
                self.navigation.show(self.navigation.x)
            else:
                self.navigation.fit()
            self.refresh()
            self.log_changed.emit(log)

    def refresh(self) -> None:
        """Draw what has grown; steps that are gone are no longer looked at."""
        shown = self._shown()
        is_fixed = self.navigation.is_frozen or self.marker.moving
        if self._range is not None and shown and not is_fixed:
            first, last = self._reach(shown)
            if self._range[0] >= last or self._range[1] <= first:
                self._range = self.navigation.x = None
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
        self.mark(step)

    def mark(self, step: float | None) -> None:
        """Move the line to the step that other views show; None hides it."""
        is_other, self._position = step != self._position, step
        if not self.marker.moving:
            self.marker.setVisible(step is not None)
            if step is not None:
                self.marker.setValue(step)
        if is_other:
            self.marked.emit(step)

    def set_played(self, step: int | None) -> None:
        """Mark the step that a graph plays while the curves go on; None for none."""
        self._played = step
        if step is not None:
            self.played.setValue(float(step))
        self._show_played()

    def _show_played(self) -> None:
        """Show the line of the step that a graph plays, if that is on the axis.

        The graph may be ahead of the curves, and the label of a line that is outside is cut.
        """
        axis = self._drawn.x
        self.played.setVisible(self._played is not None and axis.low <= self._played <= axis.high)

    def _pick(self, step: float) -> None:
        if self._shown():
            self.step_picked.emit(max(0, round(step)))

    def _drag(self) -> None:
        if self._range is None:
            # A run that goes back has fewer steps: the axis would slip away under the mouse.
            self._range = self._drawn.x.low, self._drawn.x.high
        step = max(0, round(self.marker.value()))
        if step != self._position:
            self._position = float(step)
            self.marked.emit(self._position)
            if self.picks_while_dragged:
                self.step_picked.emit(step)

    def _drop_marker(self) -> None:
        step = max(0, round(self.marker.value()))
        x = self.navigation.x
        self._range = (x.low, x.high) if x is not None else None
        self.mark(float(step))
        self.refresh()
        if not self.picks_while_dragged:
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
            self.again.setText(tr("Train again from {first_step:,}", first_step=self.first_step))
            self.again.adjustSize()
        else:
            self._measured = []
        (self.view.keys.add if self.stretch is not None else self.view.keys.discard)(
            Qt.Key.Key_Escape
        )
        self.region.setVisible(self.stretch is not None)
        self.again.setVisible(self.stretch is not None and self.is_trained)
        self._describe()
        self.view.viewport().update()

    def _describe(self) -> None:
        """Describe the curves, or the selected stretch, to screen readers."""
        words = self._stretch_words()
        if not words and self.view.hasFocus():
            # Curves grow many times a second: they are read where the keyboard is.
            words = list(self.sentences()[:LISTED])
        self.view.setAccessibleDescription(". ".join(filter(None, words)))

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
        words = [
            tr(
                "{step_word}s {first_step:,} to {floor:,}",
                step_word=self.step_word,
                first_step=self.first_step,
                floor=math.floor(self.stretch[1]),
            )
        ]
        for _, one in self._measured[:LISTED]:
            factor = "" if math.isnan(one.factor) else f"  ×{one.factor:.2g}"
            numbers = tr(
                "mean {number}  least {number_2}",
                number=formatting.number(one.mean),
                number_2=formatting.number(one.least),
            )
            words.append(f"{one.name}  {numbers}{factor}")
        return words

    # Hands and eyes

    def _hover(self, at: QPointF | None) -> None:
        self.mouse = at
        self.view.viewport().update()

    def _press(self, happened: QKeyEvent) -> None:
        key = happened.key()
        if key == Qt.Key.Key_Escape and self.stretch is not None:
            self.drop_stretch()
        elif not self.navigation.press(key):
            return
        happened.accept()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self.view.theme = theme
        super().set_theme(theme)
        self._color()

    def _color(self) -> None:
        # Pens of pyqtgraph are as wide on the screen as they say: Qt's own would be in steps.
        color, stroke = self.theme.selection, self.theme.stroke
        self.marker.setPen(pg.mkPen(color, width=stroke(1.5)))
        self.marker.setHoverPen(pg.mkPen(color, width=stroke(3)))
        self.played.setPen(
            pg.mkPen(self.theme.backward, width=stroke(1.5), style=Qt.PenStyle.DashLine)
        )
        self.played.label.setColor(self.theme.backward)
        self.region.setBrush(faded(color, 0.16))
        self.region.setHoverBrush(faded(color, 0.24))
        for line in self.region.lines:
            line.setPen(pg.mkPen(color, width=stroke(1)))
            line.setHoverPen(pg.mkPen(color, width=stroke(3)))

    def _draw_cached(self, painter: QPainter, area: QRectF) -> None:
        """Draw what does not follow the mouse, and place the items where that was drawn."""
        shown = self._draw_curves(painter, area)
        view, drawn = self.view, self._drawn
        view.box.setVisible(bool(shown))
        if shown:
            view.place(drawn.area)
            view.box.setRange(xRange=(drawn.x.low, drawn.x.high), yRange=(0, 1), padding=0)
            self._place_buttons(drawn.area)
            self._show_played()

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

    # What can be done with it, and taken away

    def entries(self) -> Sequence[MenuEntry]:
        """Return what the menu offers besides what every chart has."""
        made = [MenuEntry(tr("Logarithmic axis"), lambda: self.set_log(not self.log), self.log)]
        if self.stretch is not None:
            low, high = self.stretch
            made.append(MenuEntry(tr("Zoom to the stretch"), lambda: self.zoom(low, high)))
            if self.is_trained:
                again = tr("Train again from step {first_step:,}", first_step=self.first_step)
                made.append(MenuEntry(again, self.retrain))
            made.append(MenuEntry(tr("Drop the stretch"), self.drop_stretch))
        return made

    def sentences(self) -> Sequence[str]:
        """Return steps, latest and least number and trend of each curve, and the stretch's."""
        return [*self._stretch_words(), *map(in_words, self._shown())]

    def table(self) -> Iterator[str]:
        """Yield the numbers in sight, exactly as they were recorded, as parts of a CSV file."""
        x, _ = self.navigation.axes()
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
