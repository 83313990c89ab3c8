"""The training page: layout of bar, set-up, plots and step axis."""

import math
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QSlider,
    QSplitter,
    QStackedWidget,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from gradscribe.app.ui.layout import GUTTER, Panel, scroll_area, separator, tab_widget
from gradscribe.app.ui.theming import Themed
from gradscribe.engine.protocol.training import Parameter
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.tabs import CompactTabs
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.views.boundary import BoundaryPlot
from gradscribe.widgets.plots.views.confusion import ConfusionMatrix
from gradscribe.widgets.plots.views.curve_plot import CurvePlot
from gradscribe.widgets.plots.views.fit_plot import FitPlot
from gradscribe.widgets.plots.views.gradient_bars import GradientBars
from gradscribe.widgets.plots.views.histograms import HistogramGrid
from gradscribe.widgets.plots.views.loss_surface import LossSurface
from gradscribe.widgets.plots.views.unit_maps import UnitMaps
from gradscribe.widgets.training.bar import TrainingBar
from gradscribe.widgets.training.button_pages import ButtonPages
from gradscribe.widgets.training.run_table import RunTable
from gradscribe.widgets.training.setup.element_picker import ElementPicker
from gradscribe.widgets.training.setup.file_preview import FilePreview
from gradscribe.widgets.training.setup.setup_form import SetupForm
from gradscribe.widgets.training.step_graph import StepGraph
from gradscribe.widgets.training.step_lines import StepLines
from gradscribe.widgets.training.step_slider import StepSlider
from gradscribe.widgets.training.weight_table import WeightTable

LEFT, RIGHT = 296, 396
"""Widths of the outer columns in a window of the default width."""
LEAST, BORDER = 270, 1
OPTIMIZER_CAPTION = "optimizer state of each parameter"
DIRECTIONS = {
    "random": "random",
    "pca": "PCA",
    "parameters": "parameters",
}
"""Kinds of directions for the loss surface."""
CLASS_LABELS = tuple(f"class {number}" for number in range(5))
"""Classes of points that can be drawn."""
SHORT_TITLES = {"Loss surface": "Surface", "Over time": "Time"}
"""Short titles of tabs, as four of them share a narrow column."""


class TrainingPage(QWidget):
    """All widgets of the training page; `TrainPresenter` fills them and connects their signals.

    With ``at_once`` false they are built by iterating over `making`, a widget or two a step.
    """

    def __init__(self, parent: QWidget | None = None, at_once: bool = True) -> None:
        super().__init__(parent)
        self.making = self._make()
        if at_once:
            for _ in self.making:
                pass

    def _make(self) -> Iterator[None]:
        # From the outside in: reparenting restyles a widget with all its children.
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)
        self.bar = TrainingBar(self)
        self._rows.addWidget(self.bar)
        yield
        yield from self._make_frame()
        yield from self._make_form()
        yield from self._make_pictures()
        yield from self._make_steps()
        yield from self._make_curves()
        yield from self._make_numbers()

    def _make_frame(self) -> Iterator[None]:
        """Build the columns and strips that contain everything else."""
        self.message, self.beside = Label("error", "", self), Label("warning", "", self)
        self.strip = self._strip()
        self._rows.addWidget(separator())
        self._rows.addWidget(self.strip)
        yield
        self.columns = _splitter(Qt.Orientation.Horizontal)
        middle = QVBoxLayout()
        middle.setContentsMargins(GUTTER, GUTTER, GUTTER, GUTTER)
        middle.addWidget(self.columns)
        self._rows.addLayout(middle, 1)
        self.mistake_strip = _quiet_strip(self.beside)
        self._rows.addWidget(self.mistake_strip)
        self._rows.addWidget(separator())
        yield
        ground = QFrame()
        ground.setProperty("bar", True)
        self._rows.addWidget(ground)
        inside = QHBoxLayout(ground)
        inside.setContentsMargins(0, 0, 0, 0)
        self.axis = StepSlider()
        inside.addWidget(self.axis)
        yield

    def _make_form(self) -> Iterator[None]:
        self._setup = setup = Panel(None, "Set-up")
        centre, right = _splitter(Qt.Orientation.Vertical), _splitter(Qt.Orientation.Vertical)
        self._right = right
        _put(self.columns, setup, centre, right, sizes=(LEFT, 700, RIGHT))
        for place, share in enumerate((0, 3, 2)):
            self.columns.setStretchFactor(place, share)
        # Widgets without a place at a yield have the page as their parent: they would leak if the
        # building were stopped there.
        self.says, self.below = tab_widget(), tab_widget()
        views = Panel(self.says, "Model output")
        self._below = Panel(self.below, "Steps, runs and weights")
        _put(centre, views, self._below, sizes=(470, 250))
        yield
        self.loss, self.numbers = CurvePlot("Loss", "", log=True), tab_widget()
        curves = Panel(self.loss, "Loss")
        _put(right, curves, Panel(self.numbers, "Gradients and more"), sizes=(330, 390))
        yield
        self.form = SetupForm(self, at_once=False)
        yield from self.form.making
        self.sheet = scroll_area(self.form)
        setup.hold(self.sheet)
        self.form.installEventFilter(self)
        self.form.renew.clicked.connect(lambda: self.bar.pressed.emit("new_data"))
        yield
        self.file = FilePreview()
        self.form.extra.addWidget(self.file)
        yield

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Keep the set-up column as wide as its rows need: larger text takes more space."""
        if watched is self.form and happened.type() == QEvent.Type.LayoutRequest:
            bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
            needs = self.form.minimumSizeHint().width() + bar + 2 * BORDER
            self._setup.setMinimumWidth(max(LEAST, needs))
        return super().eventFilter(watched, happened)

    def _make_pictures(self) -> Iterator[None]:
        self.picture = QStackedWidget()
        self.says.addTab(self.picture, "Output")
        self.boundary = BoundaryPlot()
        self._make_boundary_tools()
        self.picture.addWidget(self.boundary)
        yield
        self.fit, self.confusion = FitPlot(self), ConfusionMatrix(self)
        for view in (self.fit, self.confusion):
            self.picture.addWidget(view)
            yield
        self.units = UnitMaps()
        self.says.addTab(self.units, "Network")
        yield
        self.surface = LossSurface()
        self._make_directions()
        self.says.addTab(self.surface, "Loss surface")
        yield
        self.graph = StepGraph(self)
        yield
        self.says.addTab(self.graph, "Graph")
        self.says.shorten(SHORT_TITLES)
        yield

    def _make_steps(self) -> Iterator[None]:
        self.lines, self.table, self.weights = StepLines(self), RunTable(self), WeightTable(self)
        yield
        self.below.addTab(scroll_area(self.lines), "One step")
        yield
        for title, page in (("Runs", self.table), ("Weights", self.weights)):
            self.below.addTab(page, title)
            yield

    def _make_curves(self) -> Iterator[None]:
        self._make_loss_tools()
        self.flow = CurvePlot("Gradients over time", "norm of ∂L/∂p of each parameter", True, self)
        yield
        self.ratios = CurvePlot(
            "Update by weight", "norm of each update over that of its weights", True, self
        )
        self.flow.is_keyed = self.ratios.is_keyed = True
        self.rate = CurvePlot("Learning rate", "", True, self)
        yield
        self.over_time = ButtonPages(
            ("Gradients", self.flow), ("Updates", self.ratios), ("Rate", self.rate), parent=self
        )
        yield

    def _make_numbers(self) -> Iterator[None]:
        self.gradients, self.histograms = GradientBars(self), HistogramGrid(self)
        self.spread_of = _choice("Which numbers", ("weight", "gradient", "activation"))
        self.histograms.tools.addWidget(self.spread_of)
        yield
        self.optimizer = HistogramGrid(self)
        self.optimizer.heading.set_text("Optimizer state")
        self.optimizer.set_caption(OPTIMIZER_CAPTION)
        yield
        pages = {"Now": self.gradients, "Over time": self.over_time}
        pages |= {"Spread": self.histograms, "State": self.optimizer}
        for title, page in pages.items():
            self.numbers.addTab(page, title)
            yield
        self.numbers.shorten(SHORT_TITLES)

    def _make_directions(self) -> None:
        self._has_two = False
        self.directions = _choice("Directions", ())
        for kind, title in DIRECTIONS.items():
            self.directions.addItem(title, kind)
        self.across, self.up = ElementPicker("Across"), ElementPicker("Up")
        for pick in (self.across, self.up):
            pick.hide()
            self.surface.tools.addWidget(pick)
        self.surface.tools.addWidget(self.directions)

    def offer_directions(self, parameters: Sequence[Parameter]) -> None:
        """Offer directions for the loss surface; a model of two numbers has only one plane."""
        for flat, pick in enumerate((self.across, self.up)):
            pick.set_parameters(parameters, flat)
        has_two, had_two = sum(math.prod(p.shape) for p in parameters) == 2, self._has_two
        self._has_two = has_two
        if has_two != had_two:
            with QSignalBlocker(self.directions):
                kind = "parameters" if has_two else "random"
                self.directions.setCurrentIndex(self.directions.findData(kind))

    def _make_loss_tools(self) -> None:
        self.log = _switch("Log", "Logarithmic axis", True)
        self.log.toggled.connect(self.loss.set_log)
        self.smooth = QSlider(Qt.Orientation.Horizontal)
        self.smooth.setRange(0, 10)
        self.smooth.setValue(3)
        self.smooth.setFixedWidth(70)
        self.smooth.setAccessibleName("Smoothing")
        self.smooth.setToolTip("Smoothing of the training loss; pale: the batches themselves")
        self.smooth.valueChanged.connect(self._set_smoothing)
        for part in (self.smooth, self.log):
            self.loss.tools.addWidget(part)
        self._set_smoothing(self.smooth.value())

    def _make_boundary_tools(self) -> None:
        self.discrete = _switch("Discrete", "Show which side it takes, not how sure it is", False)
        self.discrete.toggled.connect(self.boundary.set_discrete)
        self.held_back = _switch("Validation", "Show the points it does not learn from", True)
        self.held_back.toggled.connect(self.boundary.set_validation)
        self.brush = _choice("Class that a click draws", CLASS_LABELS)
        self.brush.setCurrentIndex(self.boundary.brush)
        self.brush.currentIndexChanged.connect(self._set_brush)
        self.brush.hide()
        for part in (self.brush, self.held_back, self.discrete):
            self.boundary.tools.addWidget(part)

    def _set_brush(self, place: int) -> None:
        self.boundary.brush = place

    def name_classes(self, names: Sequence[str]) -> None:
        """Rename the first classes that a click can draw; the rest have their default names."""
        for kind, name in enumerate((*names, *CLASS_LABELS[len(names) :])[: len(CLASS_LABELS)]):
            self.brush.setItemText(kind, name)

    def set_drawable(self, drawable: bool, validates: bool = True) -> None:
        """Enable or disable drawing, moving and removing points in the plots.

        ``validates``: some points may be for validation, so that their switch is shown.
        """
        for plot in (self.boundary, self.fit):
            plot.editable = drawable
            plot.refresh()
        self.brush.setVisible(drawable)
        self.held_back.setVisible(validates or not drawable)

    def _set_smoothing(self, place: int) -> None:
        self.loss.set_smoothing(place * place / 1000)

    def _strip(self) -> QFrame:
        """Return the strip below the bar that shows a run's error."""
        strip = QFrame()
        strip.setProperty("bar", True)
        self.again, self.there = QPushButton("Begin again"), QPushButton("Show where")
        self.back = QPushButton("Go back 100 steps")
        row = QHBoxLayout(strip)
        row.setContentsMargins(16, 6, 14, 6)
        self.message.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row.addWidget(self.message, 1)
        for button in (self.there, self.back, self.again):
            row.addWidget(button)
        self.there.hide()
        strip.hide()
        return strip

    def set_alone(self, alone: bool) -> None:
        """Hide or show everything but the model's views: set-up, steps and curves."""
        for part in (self._setup, self._right, self._below):
            part.setVisible(not alone)

    def plots(self) -> tuple[CurvePlot, ...]:
        """Return the plots over steps."""
        return (self.loss, self.flow, self.ratios, self.rate)

    def seen(self) -> dict[str, QWidget]:
        """Return the visible views by title."""
        plots = (self.boundary, self.fit, self.confusion, self.units, self.surface, self.loss)
        more = (self.gradients, self.flow, self.ratios, self.rate, self.histograms)
        views: dict[str, QWidget] = {view.accessibleName(): view for view in (*plots, *more)}
        views |= {"Graph": self.graph, "Optimizer state": self.optimizer, "One step": self.lines}
        views |= {"Runs": self.table, "Weights": self.weights}
        return {title: view for title, view in views.items() if view.isVisibleTo(self)}

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme`` everywhere."""
        for part in self.theme_targets():
            part.set_theme(theme)

    def theme_targets(self) -> tuple[Themed, ...]:
        """Return the widgets to which a theme is applied."""
        return (
            self.bar,
            *self.form.sections(),
            self.form.thumbnails,
            self.file,
            self.boundary,
            self.fit,
            self.confusion,
            self.units,
            self.surface,
            self.graph,
            self.gradients,
            self.histograms,
            self.optimizer,
            *self.plots(),
            self.lines,
            self.weights,
            self.table,
            self.axis,
        )


def _splitter(way: Qt.Orientation) -> QSplitter:
    splitter = QSplitter(way)
    splitter.setHandleWidth(GUTTER)
    splitter.setChildrenCollapsible(False)
    return splitter


def _put(into: QSplitter, *parts: QWidget, sizes: tuple[int, ...]) -> None:
    for part in parts:
        part.setMinimumHeight(110)
        part.setMinimumWidth(LEAST)
        into.addWidget(part)
    into.setSizes(list(sizes))


def _quiet_strip(words: Label) -> QFrame:
    """Return a strip above the steps that shows the cost of a mistake against the correct run."""
    strip = QFrame()
    strip.setProperty("bar", True)
    strip.setAccessibleName("Cost of the mistakes")
    row = QHBoxLayout(strip)
    row.setContentsMargins(16, 6, 14, 6)
    row.addWidget(words)
    strip.hide()
    return strip


def _switch(name: str, tip: str, on: bool) -> QPushButton:
    button = QPushButton(name)
    button.setProperty("crumb", True)
    button.setCheckable(True)
    button.setChecked(on)
    button.setToolTip(tip)
    return button


def _choice(name: str, choices: tuple[str, ...]) -> Choice:
    box = Choice()
    box.setAccessibleName(name)
    box.setToolTip(name)
    box.addItems(list(choices))
    return box


def tab_index(tab: CompactTabs, title: str) -> int:
    """Return the index of the tab with the full title ``title``."""
    return next(i for i in range(tab.count()) if tab.full_text(i) == title)
