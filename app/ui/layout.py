"""Layout of the window: three columns of rounded panels with movable gutters."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QObject, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.table_share import TableShare
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.painting.deferred_paint import DeferredPaint
from gradscribe.widgets.base.splitter import GripSplitter
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.tabs import PanelTabs
from gradscribe.widgets.tables.value_table import ValueTable

GUTTER = 12
USUAL_WIDTH = 1392
LEFT, RIGHT = 378, 248
ASIDE_WIDTH = 330
"""Initial widths of the side columns in a window of the usual width.

The program is wide enough for lines of 42 characters, and the graph has 55 % of the width.
"""
LEGEND = 236
"""Height of the pane below the program: the whole legend."""
LEAST_PROGRAM = 240
LEAST_HEIGHT = 400
"""Height of the columns, at the usual size of text, below which the legend folds away."""
LEAST_BELOW = 120
NO_LIMIT = (1 << 24) - 1
"""Greatest height of a widget in Qt."""
MIN_WIDTHS = {"aside": 250, "left": 252, "centre": 280, "right": 242}
COLUMN_NAMES = {
    "aside": tr("Lesson"),
    "left": tr("Program column"),
    "centre": tr("Graph"),
    "right": tr("Inspector column"),
}
WIDEST_SCALE = 1.5
"""Largest text scale that widens the side columns: the graph needs space, too."""
TURNS = (
    (tr("Graph"), tr("The graph of what ran")),
    (tr("Inspector"), tr("What is selected, and the tables")),
)
STRETCH = {"aside": 1, "left": 2, "centre": 5, "right": 2}
"""Stretch factors of the columns."""
NARROW = 1200
"""Width below which a lesson leaves space for only one of graph and right column at a time."""


def scroll_area(inside: QWidget) -> QScrollArea:
    """Return a scroll area around a widget, with the widget's accessible name."""
    area = QScrollArea()
    area.setAccessibleName(inside.accessibleName())
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    area.viewport().setAutoFillBackground(False)
    inside.setAutoFillBackground(False)
    return area


def stacked(above: QWidget, below: QWidget) -> QWidget:
    """Return a widget with a bar above what fills the rest."""
    both = QWidget()
    rows = vbox(both, spacing=4)
    rows.addWidget(above)
    rows.addWidget(below, 1)
    return both


def separator() -> QFrame:
    """Return a horizontal separator line."""
    line = QFrame()
    line.setFixedHeight(1)
    set_sheet(line, "background: palette(mid); border: none;")
    return line


class Panel(QFrame):
    """A rounded card around one widget, which may be set later by `hold`."""

    def __init__(self, inside: QWidget | None, name: str) -> None:
        super().__init__()
        self.setProperty("panel", True)
        self.setAccessibleName(name)
        column = QVBoxLayout(self)
        # The border is one pixel wide and what is inside must not paint over it.
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        self._column = column
        if inside is not None:
            self.hold(inside)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)

    def hold(self, inside: QWidget) -> None:
        """Set the content."""
        self._column.addWidget(inside)


def tab_widget(*pages: tuple[str, QWidget]) -> PanelTabs:
    """Return a tab widget with these pages."""
    widget = PanelTabs()
    for title, page in pages:
        widget.addTab(page, title)
    return widget


class FoldingTabs(QObject):
    """Tabs at the bottom of a column that fold to their titles while there is little height.

    A title that is clicked, or a page that is asked for otherwise, opens them again.
    """

    def __init__(self, tabs: QTabWidget, panel: QWidget, column: QSplitter) -> None:
        """Fold ``tabs``, which fill ``panel``, the last part of ``column``."""
        super().__init__(panel)
        self._tabs, self._panel, self._column = tabs, panel, column
        self._is_low = self._is_asked = False
        self._before = QByteArray()
        """State of the column from before there was little height."""
        tabs.tabBarClicked.connect(self._click)
        tabs.currentChanged.connect(lambda _: self._ask(True))

    @property
    def is_folded(self) -> bool:
        """True while only the titles are in view."""
        return self._is_low and not self._is_asked

    def state(self) -> QByteArray:
        """Return the state of the column to remember: that of a window of usual height."""
        return self._before if self._is_low else self._column.saveState()

    def set_low(self, low: bool) -> None:
        """Fold, or give the pages their height back."""
        if low == self._is_low:
            return
        if low:
            self._before = self._column.saveState()
        self._is_low, self._is_asked = low, False
        self._apply()
        if not low:
            self._column.restoreState(self._before)

    def _click(self, index: int) -> None:
        self._ask(not self._is_asked or index != self._tabs.currentIndex())

    def _ask(self, asked: bool) -> None:
        if self._is_low and asked != self._is_asked:
            self._is_asked = asked
            self._apply()

    def _apply(self) -> None:
        pages = self._tabs.findChild(QStackedWidget)
        assert pages is not None
        pages.setVisible(not self.is_folded)
        titles = self._tabs.tabBar().sizeHint().height() + GUTTER
        self._panel.setMinimumHeight(titles if self.is_folded else LEAST_BELOW)
        self._panel.setMaximumHeight(titles if self.is_folded else NO_LIMIT)
        whole = max(1, self._column.height())
        self._column.setSizes([whole, titles] if self.is_folded else [whole, whole])


class AlternatingColumn(QWidget):
    """A column that can alternate with another one; then a tab bar above it switches."""

    def __init__(self, inside: QWidget, at: int) -> None:
        super().__init__()
        self._at = at
        self.bar = QTabBar()
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self.bar.setAccessibleName(tr("Graph or inspector"))
        for title, tip in TURNS:
            self.bar.setTabToolTip(self.bar.addTab(title), tip)
        self.bar.hide()
        self.rows = vbox(self, spacing=4)
        self.rows.addWidget(self.bar)
        self.rows.addWidget(inside, 1)

    def take(self, tight: bool) -> None:
        """Show the tab bar, with this column selected, if only one column fits (``tight``)."""
        with QSignalBlocker(self.bar):
            self.bar.setCurrentIndex(self._at)
        self.bar.setVisible(tight)


@dataclass
class PanelsInPlace:
    """The parts of the columns that are in their places, and not docked or in windows."""

    program: bool = True
    below: bool = True
    graph: bool = True
    inspector: bool = True
    tables: bool = True
    lesson: bool = True


class Columns(QWidget):
    """Left, centre and right column; the side columns are split in two, one above the other.

    ``aside`` is an optional column left of them, hidden at first. While it is shown in a narrow
    window, or large text leaves no space for all, the right column and the centre alternate.
    """

    aside_shown = Signal()
    """The optional column was shown or hidden."""

    def __init__(
        self,
        left: tuple[QWidget, QWidget],
        centre: QWidget,
        right: tuple[QWidget, QWidget],
        aside: QWidget,
    ) -> None:
        super().__init__()
        self.left = _column("left", *left, share=(1, 0))
        self.left.setSizes([2 * LEGEND, LEGEND])
        left[0].setMinimumHeight(LEAST_PROGRAM)
        self.right = _column("right", *right, share=(1, 1))
        self._share: TableShare | None = None
        self.program, self.below = left
        self.graph, self.inspector, self.lesson = centre, right[0], aside
        self.tables = right[1]
        self.across = _splitter(Qt.Orientation.Horizontal)
        self.aside = QWidget()
        self.aside_rows = vbox(self.aside, (aside, 1))
        self.aside.hide()
        aside.hide()
        self._left_wanted = self._below_wanted = self._right_wanted = True
        self._scale = 1.0
        self._in_place = PanelsInPlace()
        self._paint = DeferredPaint(self)
        self._fold: FoldingTabs | None = None
        self._turned = False
        """True if the right column is the visible one while only one fits."""
        self._turns = AlternatingColumn(centre, 0), AlternatingColumn(self.right, 1)
        for turn in self._turns:
            turn.bar.tabBarClicked.connect(lambda at: self.show_right(at == 1))
            turn.bar.currentChanged.connect(lambda at: self.show_right(at == 1))
        self._unshared = False
        """True while the user has not moved a gutter since the optional column was shown."""
        self._before_quiet: tuple[QByteArray, ...] = ()
        """States of all splitters from before presenting."""
        self._is_quiet = False
        self.across.splitterMoved.connect(self._settle)
        columns = {"aside": self.aside, "left": self.left}
        columns |= {"centre": self._turns[0], "right": self._turns[1]}
        for name, part in columns.items():
            # The borders are named after what they separate.
            part.setAccessibleName(COLUMN_NAMES[name])
            part.setMinimumWidth(MIN_WIDTHS[name])
            self.across.addWidget(part)
            self.across.setStretchFactor(self.across.count() - 1, STRETCH[name])
        self.across.setSizes([ASIDE_WIDTH, LEFT, USUAL_WIDTH - LEFT - RIGHT, RIGHT])
        self._frame = vbox(self, self.across, margins=(GUTTER,) * 4)
        self._first = {name: part.saveState() for name, part in self._parts().items()}

    @property
    def graph_rows(self) -> QBoxLayout:
        """The column of the graph."""
        return self._turns[0].rows

    def share_right(self, tabs: PanelTabs, values: ValueTable) -> None:
        """Give the tables in the right column the height that their rows need."""
        self._share = TableShare(self.right, tabs, values)

    def fold_when_low(self, tabs: QTabWidget) -> None:
        """Fold the tabs below the program to their titles while there is little height."""
        self._fold = FoldingTabs(tabs, self.below, self.left)

    def _parts(self) -> dict[str, QSplitter]:
        return {"columns": self.across, "left": self.left}

    def set_text_scale(self, scale: float) -> None:
        """Adapt the least widths of the side columns to the text scale."""
        self._scale = min(scale, WIDEST_SCALE)
        for name, part in (("left", self.left), ("right", self._turns[1]), ("aside", self.aside)):
            part.setMinimumWidth(round(MIN_WIDTHS[name] * self._scale))
        self._make_room()

    def set_quiet(self, quiet: bool) -> None:
        """Store the sizes of all parts for the time of presenting, see `restore_sizes`."""
        if quiet and not self._is_quiet:
            self._before_quiet = tuple(part.saveState() for part in self._parts().values())
        self._is_quiet = quiet

    def restore_sizes(self) -> None:
        """Restore the sizes from before presenting, once the text has its usual size again.

        The larger text needs wider columns, which do not shrink by themselves.
        """
        if self._is_quiet:
            return
        for part, state in zip(self._parts().values(), self._before_quiet, strict=False):
            part.restoreState(state)
        self._before_quiet = ()

    def remember(self, settings: Settings) -> None:
        """Save the positions of the gutters."""
        for name, state in self.gutters().items():
            settings.put_shape(name, state)

    def recall(self, settings: Settings) -> None:
        """Restore the positions of the gutters."""
        names = (*self._parts(), "tables")
        self.restore_gutters({name: settings.shape(name) for name in names})

    def gutters(self) -> dict[str, QByteArray]:
        """Return the positions of the gutters; empty for one that the user has not moved."""
        found = {name: part.saveState() for name, part in self._parts().items()}
        if self._fold is not None:
            found["left"] = self._fold.state()
        if self._share is not None:
            found["tables"] = self._share.state()
        return found

    def restore_gutters(self, gutters: Mapping[str, QByteArray]) -> None:
        """Restore the positions of the gutters; what is no such state changes nothing."""
        for name, part in self._parts().items():
            state = gutters.get(name, QByteArray())
            if not state.isEmpty():
                part.restoreState(state)
        if self._share is not None:
            self._share.recall(gutters.get("tables", QByteArray()))

    def reset(self) -> None:
        """Put all gutters where they are in a window that is opened for the first time."""
        self.restore_gutters(self._first)
        if self._share is not None:
            self._share.reset()

    def set_margin(self, pixels: int) -> None:
        """Leave so much space around the columns."""
        self._frame.setContentsMargins(*(pixels,) * 4)

    def fit_to(self, in_place: PanelsInPlace) -> None:
        """Fit the columns to the parts that are in their places; an empty column disappears."""
        self._in_place = in_place
        self._show_wanted()

    def show_parts(self, left: bool, below: bool, right: bool) -> None:
        """Show or hide the side columns and the pane below the program."""
        self._left_wanted, self._below_wanted, self._right_wanted = left, below, right
        self._show_wanted()

    def _show_wanted(self) -> None:
        """Show what is wanted; a part that has left its place is followed by its dock."""
        here = self._in_place
        below = self._below_wanted and here.below
        self.program.setVisible(self._left_wanted)
        self.inspector.setVisible(self._right_wanted)
        self.below.setVisible(below)
        self.tables.setVisible(here.tables)
        self.left.setVisible(self._left_wanted and (here.program or below))
        self.aside.setVisible(here.lesson and not self.lesson.isHidden())
        self._make_room()

    def show_aside(self, shown: bool) -> None:
        """Show or hide the optional column at the far left."""
        if shown and self.aside.isHidden():
            self._unshared = True
        self._turned = False
        if self.isVisible() and shown == self.aside.isHidden():
            # Every column is resized: paint once, when all have their new width.
            self._paint.suspend()
        self.lesson.setVisible(shown)
        self.aside.setVisible(shown and self._in_place.lesson)
        self.aside_shown.emit()
        self._make_room()
        if self.isVisible():
            self._share_out()

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Alternate centre and right if not all columns fit."""
        super().resizeEvent(happened)
        self._make_room()
        self._share_out()

    def showEvent(self, happened: QShowEvent) -> None:
        """Distribute the width once it is known: a hidden layout assigns none."""
        super().showEvent(happened)
        self._make_room()
        QTimer.singleShot(0, self, self._share_out)

    def _settle(self) -> None:
        self._unshared = False

    def _share_out(self) -> None:
        """Give the optional column its width at the expense of the graph."""
        layout = self.layout()
        if self.aside.isHidden() or not self._unshared or layout is None:
            return
        layout.activate()
        sizes = self.across.sizes()
        most = [round(width * self._scale) for width in (ASIDE_WIDTH, ASIDE_WIDTH, RIGHT)]
        left, right = min(sizes[1], most[1]), min(sizes[3], most[2])
        centre = max(MIN_WIDTHS["centre"], sum(sizes) - most[0] - left - right)
        if self._turns[0].bar.isVisibleTo(self._turns[0]):
            right = centre = sum(sizes) - most[0] - left
        self.across.setSizes([most[0], left, centre, right])

    def show_right(self, right: bool) -> None:
        """Show the right column or the centre while only one of them fits."""
        if right == self._turned:
            return
        focused = any(turn.bar.hasFocus() for turn in self._turns)
        aside, left, *turns = self.across.sizes()
        self._turned = right
        self._make_room()
        if self._turns[0].bar.isVisibleTo(self._turns[0]):
            # Give both the same width, so that no gutter moves.
            self.across.setSizes([aside, left, sum(turns), sum(turns)])
        if focused:
            self._turns[int(right)].bar.setFocus()

    def _make_room(self) -> None:
        narrow = not self.aside.isHidden() and self.width() < NARROW * self._scale
        narrow = narrow or self._lacks_width()
        here = self._in_place
        has_right = self._right_wanted and (here.inspector or here.tables)
        tight = narrow and has_right and here.graph
        centre, right = self._turns
        right.setVisible(has_right and (self._turned or not tight))
        centre.setVisible(here.graph and not (tight and self._turned))
        for turn in self._turns:
            turn.take(tight)
        if self._fold is not None and self.isVisible():
            self._fold.set_low(here.program and self.height() < LEAST_HEIGHT * self._scale)

    def _lacks_width(self) -> bool:
        """Return whether the columns are narrower than they may be, as in very large text."""
        if not self.isVisible():
            return False
        around = self._frame.contentsMargins()
        parts = [part for part in (self.aside, self.left) if not part.isHidden()]
        least = [part.minimumWidth() for part in (*parts, *self._turns)]
        needed = sum(least) + GUTTER * (len(least) - 1)
        return needed > self.width() - around.left() - around.right()


def _column(name: str, upper: QWidget, lower: QWidget, share: tuple[int, int]) -> QSplitter:
    column = _splitter(Qt.Orientation.Vertical)
    column.setObjectName(name)
    for part, stretch in zip((upper, lower), share, strict=True):
        part.setMinimumHeight(LEAST_BELOW)
        column.addWidget(part)
        column.setStretchFactor(column.count() - 1, stretch)
    return column


def _splitter(direction: Qt.Orientation) -> QSplitter:
    return GripSplitter(direction, GUTTER)
