"""Arrangement of the training page's panels: the graph in a tab, or in a column of its own."""

from collections.abc import Iterator, Mapping

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from gradscribe.app.ui.layout import GUTTER, Panel, tab_widget
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.splitter import GripSplitter
from gradscribe.widgets.training.step_graph import StepGraph

GRAPH = tr("Graph")
LEAST_WIDTH, LEAST_HEIGHT = 260, 110
"""Least width of a column and least height of a panel."""
WIDE_FROM = (1380, 780)
"""Width and height of the page from which the graph has a column: that of a window of 1440 x 900,
less what a desktop takes of it."""
MOST = 100_000
"""Largest size in pixels that is restored."""
SIZES: Mapping[bool, tuple[tuple[int, ...], ...]] = {
    False: ((296, 700, 396), (0, 470, 250), (330, 390)),
    True: ((296, 560, 500), (520, 170), (285, 195, 210)),
}
"""Initial sizes of columns, centre and right column, in proportion; True: with a column for the
graph."""


class PageArrangement(QObject):
    """Panels of the training page, in splitters that the user moves.

    In a small window the graph is a tab of the model's views, and the right column has the curves.
    In a large one the graph of the step stands in the centre, and the views above the curves.
    """

    changed = Signal()
    """The graph has moved."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.columns = _splitter(Qt.Orientation.Horizontal)
        self.is_wide = False
        self._is_large, self._is_wanted, self._is_alone = False, True, False
        self._graph: StepGraph | None = None
        self._tab = 0
        self._has_curves = True
        """False while the panel of the losses stands elsewhere."""
        self._short: Mapping[str, str] = {}
        self._sizes = {wide: [list(part) for part in SIZES[wide]] for wide in SIZES}
        """The sizes of both arrangements as the user left them."""

    def make(self, loss: QWidget) -> Iterator[None]:
        """Build the panels, some at each step; ``loss`` is the chart that is always visible."""
        down = Qt.Orientation.Vertical
        self.setup = Panel(None, tr("Set-up"))
        self._centre, self._right = _splitter(down), _splitter(down)
        self._centre.setAccessibleName(tr("Model column"))
        self._right.setAccessibleName(tr("Curves column"))
        _put(self.columns, self.setup, self._centre, self._right)
        for place, share in enumerate((0, 3, 2)):
            self.columns.setStretchFactor(place, share)
        yield
        self._column = Panel(None, tr("Graph of the step"))
        self._column.hide()
        self.says, self.below = tab_widget(), tab_widget()
        self._views = Panel(self.says, tr("Model output"))
        self._steps = Panel(self.below, tr("Steps, runs and weights"))
        _put(self._centre, self._column, self._views, self._steps)
        yield
        self.numbers = tab_widget()
        self.curves = Panel(loss, tr("Loss"))
        self._numbers = Panel(self.numbers, tr("Gradients and more"))
        _put(self._right, self.curves, self._numbers)
        self._restore_sizes()
        yield

    def take_graph(self, graph: StepGraph, short_titles: Mapping[str, str]) -> None:
        """Move ``graph`` between its tab, where it is now, and its column from now on."""
        self._graph, self._short = graph, short_titles
        self._tab = self.says.indexOf(graph)
        self._arrange()

    def fit(self, width: int, height: int) -> None:
        """Give the graph a column if the page is large enough."""
        self._is_large = width >= WIDE_FROM[0] and height >= WIDE_FROM[1]
        self._arrange()

    def set_wanted(self, wanted: bool) -> None:
        """Let the graph have a column where there is space, or always be a tab."""
        self._is_wanted = wanted
        self._arrange()

    def set_alone(self, alone: bool) -> None:
        """Hide or show everything but the model's views and the graph."""
        self._is_alone = alone
        # Tabs whose pages all stand elsewhere would be an empty frame.
        has_views, has_numbers = self.says.count() > 0, self.numbers.count() > 0
        has_steps = self.below.count() > 0
        self.setup.setVisible(not alone)
        self._views.setVisible(has_views)
        self._steps.setVisible(has_steps and not alone)
        self.curves.setVisible(not alone)
        self._numbers.setVisible(has_numbers and not alone)
        in_right = (self._has_curves or has_numbers) and not alone
        self._right.setVisible(in_right or (self.is_wide and has_views))
        in_centre = self.is_wide or has_views
        self._centre.setVisible(in_centre or (has_steps and not alone))

    def refit(self, places: Mapping[str, bool]) -> bool:
        """Fit to the panels that are in their places (True) or elsewhere (False).

        Returns whether there is anything left to show.
        """
        self._has_curves = places["loss"]
        self.set_alone(self._is_alone)
        tabs = (self.says, self.below, self.numbers)
        is_filled = any(part.count() for part in tabs) or places["setup"] or places["loss"]
        return is_filled or self.is_wide

    def set_margin(self, pixels: int) -> None:
        """Leave so much space around the columns."""
        self.columns.setContentsMargins(*(pixels,) * 4)

    def gutters(self) -> dict[str, bytes]:
        """Return the sizes of both arrangements, by a name."""
        return {"training": self.sizes().encode()}

    def restore_gutters(self, gutters: Mapping[str, bytes]) -> None:
        """Restore sizes; what is no such text changes nothing."""
        self.recall(gutters.get("training", b"").decode("ascii", "replace"))

    def reset(self) -> None:
        """Give every panel its first size, and show the first tabs."""
        self._sizes = {wide: [list(part) for part in SIZES[wide]] for wide in SIZES}
        self._restore_sizes()
        for tabs in (self.says, self.below, self.numbers):
            tabs.setCurrentIndex(0)

    def sizes(self) -> str:
        """Return the sizes of both arrangements as text, to be remembered."""
        if any(sum(part.sizes()) for part in self._splitters()):
            self._note_sizes()
        both = (self._sizes[wide] for wide in (False, True))
        return "|".join(";".join(",".join(map(str, part)) for part in sizes) for sizes in both)

    def recall(self, text: str) -> None:
        """Restore remembered sizes; what is no such text, or of other panels, changes nothing."""
        try:
            found = [
                [[int(size) for size in part.split(",")] for part in sizes.split(";")]
                for sizes in text.split("|")
            ]
        except ValueError:
            return
        usual = [[list(part) for part in SIZES[wide]] for wide in (False, True)]
        if _shape(found) == _shape(usual) and all(
            0 <= size <= MOST for sizes in found for part in sizes for size in part
        ):
            self._sizes = {False: found[0], True: found[1]}
            self._restore_sizes()

    def _arrange(self) -> None:
        wide = self._is_large and self._is_wanted
        if self._graph is None or wide == self.is_wide:
            return
        self._note_sizes()
        self.is_wide = wide
        if wide:
            self.says.removeTab(self.says.indexOf(self._graph))
            self._column.hold(self._graph)
            self._right.insertWidget(0, self._views)
        else:
            self._centre.insertWidget(1, self._views)
            self.says.insertTab(self._tab, self._graph, GRAPH)
        self._graph.setVisible(wide or self.says.currentWidget() is self._graph)
        self._column.setVisible(wide)
        self.says.shorten(self._short)
        self._restore_sizes()
        self.set_alone(self._is_alone)
        self.changed.emit()

    @property
    def right(self) -> QSplitter:
        """The column of the losses and of the numbers of training."""
        return self._right

    def _splitters(self) -> tuple[QSplitter, ...]:
        return self.columns, self._centre, self._right

    def _note_sizes(self) -> None:
        """Remember the sizes, unless some panel stands elsewhere."""
        found = [part.sizes() for part in self._splitters()]
        if list(map(len, found)) == list(map(len, SIZES[self.is_wide])):
            self._sizes[self.is_wide] = found

    def _restore_sizes(self) -> None:
        for part, sizes in zip(self._splitters(), self._sizes[self.is_wide], strict=True):
            part.setSizes(sizes)


def _shape(sizes: list[list[list[int]]]) -> list[list[int]]:
    return [[len(part) for part in arrangement] for arrangement in sizes]


def _splitter(way: Qt.Orientation) -> QSplitter:
    return GripSplitter(way, GUTTER)


def _put(into: QSplitter, *parts: QWidget) -> None:
    for part in parts:
        part.setMinimumHeight(LEAST_HEIGHT)
        part.setMinimumWidth(LEAST_WIDTH)
        into.addWidget(part)
