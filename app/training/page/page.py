"""The training page: layout of bar, set-up, plots and step axis."""

from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QPushButton,
    QSizePolicy,
    QSlider,
    QStackedWidget,
    QStyle,
    QWidget,
)

from gradscribe.app.panels.area import PanelArea
from gradscribe.app.panels.homes import SplitterHome
from gradscribe.app.training.page.arrangement import GRAPH, LEAST_WIDTH, PageArrangement
from gradscribe.app.ui.layout import GUTTER, scroll_area, separator
from gradscribe.app.ui.theming import Themed
from gradscribe.engine.protocol.training import ViewReply
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.open_windows import OpenWindows
from gradscribe.widgets.charts.curves import CurveChart, SharedSteps
from gradscribe.widgets.charts.enlarged import ChartWindow, enlarge_curves, enlarge_picture
from gradscribe.widgets.charts.plane import PlaneHands, enlarge_plane
from gradscribe.widgets.charts.spread import SpreadChart
from gradscribe.widgets.plots import views
from gradscribe.widgets.plots.plot import Plot, switch_button
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView
from gradscribe.widgets.plots.views.boundary import BoundaryPlot
from gradscribe.widgets.plots.views.fit_plot import FitPlot
from gradscribe.widgets.plots.views.loss_surface import LossSurface
from gradscribe.widgets.plots.views.unit_maps import UnitMaps
from gradscribe.widgets.plots.views.weight_table import WeightTable
from gradscribe.widgets.tables.parameter_table import ParameterTable
from gradscribe.widgets.training.bar import TrainingBar
from gradscribe.widgets.training.button_pages import ButtonPages
from gradscribe.widgets.training.run_table import RunTable
from gradscribe.widgets.training.setup.file_preview import FilePreview
from gradscribe.widgets.training.setup.setup_form import SetupForm
from gradscribe.widgets.training.step_graph import StepGraph
from gradscribe.widgets.training.step_lines import StepLines
from gradscribe.widgets.training.step_slider import StepSlider

BORDER = 1
EXPLORED = (BoundaryPlot, FitPlot, LossSurface)
"""Views that are explored as charts."""
SMOOTHING = 0.4
"""Pixels of smoothing for the square of the slider's position."""
PASSED_ON = ("step_picked", "drawn", "moved", "removed", "named", "switched", "weighed")
"""Signals that the large window of a view sends as if they came from the view."""
SHORT_TITLES = {
    tr("Loss surface"): tr("Surface"),
    tr("Over time"): tr("Time"),
    tr("Histograms"): tr("Hist."),
}
"""Short titles of tabs, as four of them share a narrow column."""


W = TypeVar("W", bound=QWidget)


class TrainingPage(QWidget):
    """All widgets of the training page; `TrainPresenter` fills them and connects their signals.

    With ``at_once`` false they are built by iterating over `making`, a widget or two a step.
    """

    def __init__(self, parent: QWidget | None = None, at_once: bool = True) -> None:
        super().__init__(parent)
        self.views: list[tuple[TrainingView[Any], Any]] = []
        """The views with their widgets, in the order of their tabs."""
        self.planes: list[PlaneHands] = []
        """The hands of the views that are explored as charts."""
        self._large = OpenWindows[object, ChartWindow]()
        self._is_made = False
        self.making = self._make()
        if at_once:
            for _ in self.making:
                pass

    def _make(self) -> Iterator[None]:
        # From the outside in: reparenting restyles a widget with all its children.
        self._rows = vbox(self, spacing=0)
        self.bar = TrainingBar(self)
        self._rows.addWidget(self.bar)
        yield
        yield from self._make_frame()
        yield from self._make_form()
        yield from self._make_parts()
        yield from self._make_tabs()
        self.arrangement.take_graph(self.graph, SHORT_TITLES)
        self.arrangement.fit(self.width(), self.height())
        self._is_made = True
        self._add_panels()
        self.boundary, self.fit = self.view(BoundaryPlot), self.view(FitPlot)
        self.units, self.weights = self.view(UnitMaps), self.view(WeightTable)

    def _make_frame(self) -> Iterator[None]:
        """Build the columns and strips that contain everything else."""
        self.message, self.beside = Label("error", "", self), Label("warning", "", self)
        self.strip = self._strip()
        self._rows.addWidget(separator())
        self._rows.addWidget(self.strip)
        yield
        self.arrangement = PageArrangement(self)
        self.columns = self.arrangement.columns
        self.arrangement.set_margin(GUTTER)
        self.area = PanelArea(self.columns, self.arrangement)
        self._rows.addWidget(self.area, 1)
        self.mistake_strip = _quiet_strip(self.beside)
        self._rows.addWidget(self.mistake_strip)
        self._rows.addWidget(separator())
        yield
        ground = QFrame()
        ground.setProperty("bar", True)
        self._rows.addWidget(ground)
        inside = hbox(ground)
        self.axis = StepSlider()
        inside.addWidget(self.axis)
        yield

    def _make_form(self) -> Iterator[None]:
        self.loss = CurveChart(tr("Loss"), "", log=True, parent=self)
        yield from self.arrangement.make(self.loss)
        self.says, self.below = self.arrangement.says, self.arrangement.below
        self.numbers = self.arrangement.numbers
        self.form = SetupForm(self, at_once=False)
        yield from self.form.making
        self.sheet = scroll_area(self.form)
        self.sheet.setAccessibleName(tr("Set-up"))
        self._make_remarks()
        self.arrangement.setup.hold(self._remarks_row)
        self.arrangement.setup.hold(self.sheet)
        self.form.installEventFilter(self)
        self.form.renew.clicked.connect(lambda: self.bar.pressed.emit("new_data"))
        yield
        self.file = FilePreview()
        self.form.extra.addWidget(self.file)
        yield

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Give the graph a column if there is space for it."""
        super().resizeEvent(happened)
        if self._is_made:
            self.arrangement.fit(self.width(), self.height())

    def _make_remarks(self) -> None:
        """Build the way to advice on the set-up that is out of sight."""
        self._remarks_row = QWidget(self)
        self.remarks = QPushButton(self._remarks_row)
        self.remarks.setProperty("crumb", True)
        self.remarks.setToolTip(tr("Show the next remark on this set-up"))
        row = hbox(self._remarks_row, margins=(16, 8, 12, 0))
        row.addWidget(self.remarks)
        row.addStretch(1)
        self._remarks_row.hide()

    def show_remarks(self, words: str) -> None:
        """Say how much advice is out of sight; an empty text removes that."""
        self.remarks.setText(words)
        self._remarks_row.setVisible(bool(words))

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Keep the set-up column as wide as its rows need: larger text takes more space."""
        if watched is self.form and happened.type() == QEvent.Type.LayoutRequest:
            bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
            needs = self.form.minimumSizeHint().width() + bar + 2 * BORDER
            self.arrangement.setup.setMinimumWidth(max(LEAST_WIDTH, needs))
        return super().eventFilter(watched, happened)

    def _make_tabs(self) -> Iterator[None]:
        """Build all tabs: those of the registered views, and those that others fill."""
        for place, tabs in (("model", self.says), ("steps", self.below), ("numbers", self.numbers)):
            entries = [entry for entry in views.entries() if entry.place == place]
            made: list[tuple[int, str, Callable[[], QWidget]]] = [
                (entry.order, entry.tab, partial(self._make_view, entry)) for entry in entries
            ]
            for _, title, make in sorted([*made, *self._own_tabs(place)], key=itemgetter(0)):
                tabs.addTab(make(), title)
                yield
            tabs.shorten(SHORT_TITLES)

    def _add_panels(self) -> None:
        """Let the user move every panel, see `PanelArea`."""
        parts = self.arrangement
        self.area.add("setup", SplitterHome(self.columns, parts.setup, tr("Set-up")))
        self.area.add("loss", SplitterHome(parts.right, parts.curves, tr("Loss")))
        for tabs in (self.says, self.below, self.numbers):
            for page in tabs.pages_in_order():
                page.setObjectName(page.objectName() or type(page).__name__)
        if not self.graph.objectName():
            # It has a column of its own and becomes a tab in a small window.
            self.graph.setObjectName(type(self.graph).__name__)
        for tabs in (self.says, self.below, self.numbers):
            self.area.add_tabs(tabs)

    def _own_tabs(self, place: str) -> list[tuple[int, str, Callable[[], QWidget]]]:
        tabs: dict[str, list[tuple[int, str, Callable[[], QWidget]]]] = {
            "model": [(10, tr("Output"), self._make_outputs), (40, GRAPH, lambda: self.graph)],
            "steps": [
                (10, tr("One step"), lambda: scroll_area(self.lines)),
                (20, tr("Runs"), lambda: self.table),
                (40, tr("Parameters"), lambda: self.parameters),
            ],
            "numbers": [(20, tr("Over time"), lambda: self.over_time)],
        }
        return tabs[place]

    def _make_view(self, entry: TrainingView[Any]) -> QWidget:
        widget: QWidget
        if entry.make in EXPLORED:
            make = partial(_explored, entry.make)
            hands: PlaneHands = make()
            hands.menu.enlarged.connect(partial(self._enlarge_plane, hands, make))
            self.planes.append(hands)
            widget = hands.widget
        else:
            widget = entry.make()
            if isinstance(widget, Plot) and hasattr(widget, "copy_from"):
                widget.enlarges = True
                widget.enlarged.connect(partial(self._enlarge_picture, widget, entry.make))
        self.views.append((entry, widget))
        return widget

    def _enlarge_plane(self, source: PlaneHands, make: Callable[[], PlaneHands]) -> None:
        self._large.show(source, lambda: self._make_larger(source, make))

    def _enlarge_picture(self, source: Plot, make: Callable[[], Any]) -> None:
        def enlarged() -> ChartWindow:
            window = enlarge_picture(source, make)
            _pass_on(window.chart, source)
            return window

        self._large.show(source, enlarged)

    def _make_larger(self, source: PlaneHands, make: Callable[[], PlaneHands]) -> ChartWindow:
        larger = make()
        mine: Any = larger.widget
        theirs: Any = source.widget
        _pass_on(mine, theirs)
        return enlarge_plane(source, larger, lambda: mine.copy_from(theirs))

    def _make_outputs(self) -> QWidget:
        for entry in views.entries():
            if entry.place == "output":
                self.picture.addWidget(self._make_view(entry))
        return self.picture

    def view(self, kind: type[W]) -> W:
        """Return the view whose widget is a ``kind``."""
        return next(widget for _, widget in self.views if isinstance(widget, kind))

    @property
    def is_graph_shown(self) -> bool:
        """True if the graph has a column, or if its tab is open."""
        return self.arrangement.is_wide or self.says.is_open(self.graph)

    def show_history(self, kind: int, name: str) -> bool:
        """Show the numbers of a tensor over the steps; False if the run does not collect them."""
        self.numbers.setCurrentWidget(self.over_time)
        self.over_time.show_page(self.spread.chart)
        return self.spread.show_tensor(kind, name)

    def open_views(self) -> list[tuple[TrainingView[Any], QWidget]]:
        """Return the views whose tabs are open."""
        every = (self.says, self.below, self.numbers)
        current = [p for tabs in every for p in tabs.pages_in_order() if tabs.is_open(p)]
        shown = [self.picture.currentWidget() if w is self.picture else w for w in current]
        return [view for view in self.views if view[1] in shown]

    def show_data(self, run: ShownRun, drawn: NDArray[np.float64] | None) -> None:
        """Show a run's data, and the output that fits them."""
        outputs = (view for view in self.views if view[0].place == "output")
        self.picture.setCurrentWidget(next(w for entry, w in outputs if entry.applies(run)))
        for entry, widget in self.views:
            entry.show_data(widget, run, drawn)

    def show_view(self, run: ShownRun, reply: ViewReply) -> None:
        """Show a view of the engine wherever it belongs."""
        for entry, widget in self.views:
            if reply.kind in entry.kinds:
                entry.show(widget, run, reply)
                self._show_step(entry, widget, run)

    def show_steps(self, run: ShownRun) -> None:
        """Say which step each view shows while the graph, which shows another, is visible."""
        for entry, widget in self.views:
            self._show_step(entry, widget, run)
        self.parameters.show_step(self._step_of(run, "gradients"))

    def _show_step(self, entry: TrainingView[Any], widget: QWidget, run: ShownRun) -> None:
        if isinstance(widget, Plot | WeightTable):
            widget.show_step(self._step_of(run, entry.kinds[0]))

    def _step_of(self, run: ShownRun, kind: str) -> int | None:
        reply = run.views.get(kind)
        return reply.step if reply is not None and self.is_graph_shown else None

    def clear_views(self) -> None:
        """Clear all views: the current run has not begun."""
        for entry, widget in self.views:
            entry.clear(widget)
        self.show_steps(ShownRun())

    def _make_parts(self) -> Iterator[None]:
        """Build the widgets that are no views of the engine."""
        self.picture = QStackedWidget(self)
        self.graph = StepGraph(self)
        yield
        self.lines, self.table = StepLines(self), RunTable(self)
        self.parameters = ParameterTable(self)
        yield
        yield from self._make_curves()

    def _make_curves(self) -> Iterator[None]:
        self._make_loss_tools()
        self.loss.log_changed.connect(self.log.setChecked)
        self.flow = CurveChart(
            tr("Gradients over time"), tr("norm of ∂L/∂p of each parameter"), True, self
        )
        yield
        self.ratios = CurveChart(
            tr("Update by weight"), tr("norm of each update over that of its weights"), True, self
        )
        self.flow.is_keyed = self.ratios.is_keyed = True
        self.rate = CurveChart(tr("Learning rate"), "", True, self)
        yield
        self.spread = SpreadChart(self)
        yield
        self.over_time = ButtonPages(
            (tr("Gradients"), self.flow),
            (tr("Updates"), self.ratios),
            (tr("Rate"), self.rate),
            (tr("Spread"), self.spread.chart),
            parent=self,
        )
        yield
        self.steps = SharedSteps(self.plots(), self)
        for chart in self.plots():
            chart.picks_while_dragged = False
            chart.menu.enlarged.connect(partial(self._enlarge, chart))
        yield

    def _enlarge(self, chart: CurveChart) -> None:
        self._large.show(chart, lambda: enlarge_curves(chart))

    def _make_loss_tools(self) -> None:
        self.log = switch_button(tr("Log"), tr("Logarithmic axis"), True)
        self.log.toggled.connect(self.loss.set_log)
        self.smooth = QSlider(Qt.Orientation.Horizontal)
        self.smooth.setRange(0, 10)
        self.smooth.setValue(3)
        self.smooth.setFixedWidth(70)
        self.smooth.setAccessibleName(tr("Smoothing"))
        self.smooth.valueChanged.connect(self._set_smoothing)
        for part in (self.smooth, self.log):
            self.loss.tools.addWidget(part)
        self._set_smoothing(self.smooth.value())

    def set_drawable(self, drawable: bool, validates: bool = True) -> None:
        """Enable or disable drawing, moving and removing points in the plots."""
        self.boundary.set_drawable(drawable, validates)
        self.fit.editable = drawable
        self.fit.refresh()

    def _set_smoothing(self, place: int) -> None:
        pixels = SMOOTHING * place * place
        self.loss.set_smoothing(pixels)
        over = tr("over {pixels:g} pixels", pixels=pixels) if pixels else "off"
        self.smooth.setToolTip(
            tr("Smoothing of the losses: {over}; pale: the batches themselves", over=over)
        )
        self.smooth.setAccessibleDescription(over)

    def _strip(self) -> QFrame:
        """Return the strip below the bar that shows a run's error."""
        strip = QFrame()
        strip.setProperty("bar", True)
        self.again, self.there = QPushButton(tr("Begin again")), QPushButton(tr("Show where"))
        self.back = QPushButton(tr("Go back 100 steps"))
        row = hbox(strip, margins=(16, 6, 14, 6))
        self.message.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row.addWidget(self.message, 1)
        for button in (self.there, self.back, self.again):
            row.addWidget(button)
        self.there.hide()
        strip.hide()
        return strip

    def set_alone(self, alone: bool) -> None:
        """Hide or show everything but the model's views and the graph."""
        self.arrangement.set_alone(alone)

    def plots(self) -> tuple[CurveChart, ...]:
        """Return the plots over steps."""
        return (self.loss, self.flow, self.ratios, self.rate, self.spread.chart)

    def seen(self) -> dict[str, QWidget]:
        """Return the visible views by title."""
        named = [w for entry, w in self.views if entry.place in ("output", "model")] + [self.loss]
        named += [w for entry, w in self.views if entry.place == "numbers"]
        named += [self.flow, self.ratios, self.rate, self.spread.chart]
        shown: dict[str, QWidget] = {widget.accessibleName(): widget for widget in named}
        shown |= {tr("Graph"): self.graph, tr("One step"): self.lines, tr("Runs"): self.table}
        shown |= {w.accessibleName(): w for entry, w in self.views if entry.place == "steps"}
        return {title: widget for title, widget in shown.items() if widget.isVisibleTo(self)}

    def theme_targets(self) -> tuple[Themed, ...]:
        """Return the widgets to which a theme is applied."""
        return (
            self.bar,
            *self.form.sections(),
            self.form.thumbnails,
            self.file,
            *(widget for _, widget in self.views),
            self.graph,
            *self.plots(),
            self.lines,
            self.table,
            self.parameters,
            self.axis,
        )


def _explored(make: Callable[..., Any]) -> PlaneHands:
    return PlaneHands(lambda make_canvas: make(make_canvas=make_canvas))


def _pass_on(mine: QWidget, theirs: QWidget) -> None:
    """Let an enlarged view order what the view itself would order."""
    for name in PASSED_ON:
        if hasattr(mine, name):
            getattr(mine, name).connect(getattr(theirs, name))


def _quiet_strip(words: Label) -> QFrame:
    """Return a strip above the steps that shows the cost of a mistake against the correct run."""
    strip = QFrame()
    strip.setProperty("bar", True)
    strip.setAccessibleName(tr("Cost of the mistakes"))
    row = hbox(strip, margins=(16, 6, 14, 6))
    row.addWidget(words)
    strip.hide()
    return strip
