"""The training room's page: bar, set-up, pictures and the axis of steps, in their places."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QSlider,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.panels import GUTTER, Panel, rule, scrolled, tabs
from app.theming import Themed
from widgets.labels import Label
from widgets.plots.bars import GradientBars
from widgets.plots.boundary import Boundary
from widgets.plots.confusion import Confusion
from widgets.plots.fit import Fit
from widgets.plots.histograms import Histograms
from widgets.plots.lines import Lines
from widgets.plots.surface import Surface
from widgets.plots.unit_maps import UnitMaps
from widgets.theme import Theme
from widgets.training.bar import TrainingBar
from widgets.training.element_pick import ElementPick
from widgets.training.file_look import FileLook
from widgets.training.pages import Pages
from widgets.training.run_table import RunTable
from widgets.training.setup_form import SetupForm
from widgets.training.step_axis import StepAxis
from widgets.training.step_graph import StepGraph
from widgets.training.step_lines import StepLines
from widgets.training.weights import Weights

LEFT, RIGHT = 296, 396
"""Widths of the outer columns in a window of the usual width."""
LEAST = 270
TABS = """
QTabBar { margin-top: 6px; } QTabBar::tab { padding: 4px 7px; margin: 1px; }
QTabBar QToolButton { padding: 0px; min-height: 12px; border-radius: 4px; }
"""
"""Four tabs stand in a narrow column."""


class TrainingRoom(QWidget):
    """All widgets of the training room; `Showing` fills them and listens to them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = TrainingBar()
        self.form, self.file = SetupForm(), FileLook()
        self.form.extra.addWidget(self.file)
        self.boundary, self.fit, self.confusion = Boundary(), Fit(), Confusion()
        self.units, self.surface, self.graph = UnitMaps(), Surface(), StepGraph()
        self.loss = Lines("Loss", "", log=True)
        self.gradients = GradientBars()
        self.flow = Lines("Gradients over time", "norm of ∂L/∂p at each step", log=True)
        self.ratios = Lines(
            "Update by weight", "norm of each update over that of its weights", True
        )
        self.rate = Lines("Learning rate", "", log=True)
        self.histograms = Histograms()
        self.optimizer = Histograms()
        self.optimizer.heading.set_text("Optimizer state")
        self.optimizer.set_caption("what the optimizer remembers of each parameter")
        self.lines, self.weights, self.table = StepLines(), Weights(), RunTable()
        self.axis = StepAxis()
        self.message = Label("error")
        self.beside = Label("warning")
        self.spread_of = _choice("Which numbers", ("weight", "gradient", "activation"))
        self.histograms.tools.addWidget(self.spread_of)
        self.directions = _choice("Directions", ("random", "pca", "parameters"))
        self.across, self.up = ElementPick("Across"), ElementPick("Up")
        for pick in (self.across, self.up):
            pick.hide()
            self.surface.tools.addWidget(pick)
        self.surface.tools.addWidget(self.directions)
        self._make_loss_tools()
        self._make_boundary_tools()
        self._place()

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
        for part in (self.held_back, self.discrete):
            self.boundary.tools.addWidget(part)

    def _set_smoothing(self, place: int) -> None:
        self.loss.set_smoothing(place * place / 1000)

    def _place(self) -> None:
        self.picture = QStackedWidget()
        for view in (self.boundary, self.fit, self.confusion):
            self.picture.addWidget(view)
        self.says = tabs(
            ("What it says", self.picture),
            ("Units", self.units),
            ("Loss surface", self.surface),
            ("Graph", self.graph),
        )
        self.below = tabs(
            ("One step", scrolled(self.lines)), ("Runs", self.table), ("Weights", self.weights)
        )
        self.over_time = Pages(
            ("Gradients", self.flow), ("Updates", self.ratios), ("Rate", self.rate)
        )
        self.numbers = tabs(
            ("Now", self.gradients),
            ("Over time", self.over_time),
            ("Spread", self.histograms),
            ("State", self.optimizer),
        )
        for tab in (self.says, self.below, self.numbers):
            tab.tabBar().setStyleSheet(TABS)
        self.columns = self._columns()
        self.strip = self._strip()
        self.beside_strip = _quiet_strip(self.beside)
        middle = QVBoxLayout()
        middle.setContentsMargins(GUTTER, GUTTER, GUTTER, GUTTER)
        middle.addWidget(self.columns)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.bar)
        rows.addWidget(rule())
        rows.addWidget(self.strip)
        rows.addLayout(middle, 1)
        rows.addWidget(self.beside_strip)
        rows.addWidget(rule())
        ground = QFrame()
        ground.setProperty("bar", True)
        inside = QHBoxLayout(ground)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.axis)
        rows.addWidget(ground)

    def _columns(self) -> QSplitter:
        """Return set-up, pictures and curves side by side."""
        across = _splitter(
            Qt.Orientation.Horizontal,
            Panel(scrolled(self.form), "Set-up"),
            _splitter(
                Qt.Orientation.Vertical,
                Panel(self.says, "What the model says"),
                Panel(self.below, "Steps, runs and weights"),
                sizes=(470, 250),
            ),
            _splitter(
                Qt.Orientation.Vertical,
                Panel(self.loss, "Loss"),
                Panel(self.numbers, "Gradients and more"),
                sizes=(330, 390),
            ),
            sizes=(LEFT, 700, RIGHT),
        )
        for place, share in enumerate((0, 3, 2)):
            across.setStretchFactor(place, share)
        return across

    def _strip(self) -> QFrame:
        """Return the strip below the bar that says what went wrong with the run."""
        strip = QFrame()
        strip.setProperty("bar", True)
        self.again = QPushButton("Begin again")
        self.back = QPushButton("Go back 100 steps")
        row = QHBoxLayout(strip)
        row.setContentsMargins(16, 6, 14, 6)
        self.message.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row.addWidget(self.message, 1)
        row.addWidget(self.back)
        row.addWidget(self.again)
        strip.hide()
        return strip

    def plots(self) -> tuple[Lines, ...]:
        """Return the plots whose axis is steps."""
        return (self.loss, self.flow, self.ratios, self.rate)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme`` everywhere."""
        for part in self.themed():
            part.set_theme(theme)

    def themed(self) -> tuple[Themed, ...]:
        """Return what takes a theme by itself."""
        return (
            self.bar,
            self.form,
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


def _splitter(way: Qt.Orientation, *parts: QWidget, sizes: tuple[int, ...] = ()) -> QSplitter:
    made = QSplitter(way)
    made.setHandleWidth(GUTTER)
    made.setChildrenCollapsible(False)
    for part in parts:
        part.setMinimumHeight(110)
        part.setMinimumWidth(LEAST)
        made.addWidget(part)
    made.setSizes(list(sizes))
    return made


def _quiet_strip(words: Label) -> QFrame:
    """Return a strip above the steps that tells what a mistake costs against the right run."""
    strip = QFrame()
    strip.setProperty("bar", True)
    strip.setAccessibleName("The mistake beside the right run")
    row = QHBoxLayout(strip)
    row.setContentsMargins(16, 6, 14, 6)
    row.addWidget(words)
    strip.hide()
    return strip


def _switch(name: str, tip: str, on: bool) -> QPushButton:
    made = QPushButton(name)
    made.setProperty("crumb", True)
    made.setCheckable(True)
    made.setChecked(on)
    made.setToolTip(tip)
    return made


def _choice(name: str, choices: tuple[str, ...]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setToolTip(name)
    box.addItems(list(choices))
    return box


def tab_of(tab: QTabWidget, title: str) -> int:
    """Return where the page with that title stands."""
    return next(i for i in range(tab.count()) if tab.tabText(i) == title)
