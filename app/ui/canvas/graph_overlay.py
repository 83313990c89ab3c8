"""Overlay of the graph: breadcrumbs of modules, buttons, search, and the colour legend."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QSizeF, Signal
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QPushButton, QWidget

from gradscribe.app.ui.canvas.color_legend import ColorModeLegend
from gradscribe.app.ui.canvas.progress_chip import ProgressChip, chip_button
from gradscribe.app.ui.find_bar import handle_search_key
from gradscribe.playback.graph.coloring import ColorLegend
from gradscribe.playback.graph.folding.breadcrumbs import Crumb
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.labels import plain_label, tip
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint.minimap import NARROW_WIDTH

MARGIN = 10
NOTE_SHARE = 0.55
"""Largest share of the graph's width for a line of the colour mode's note."""
SEARCH_WIDTH = 190
SEPARATOR = "›"
MAX_TITLE = 24
"""Most characters of a title in the path; longer ones are elided."""


class Breadcrumbs(QFrame):
    """Breadcrumbs of a card: a button for each enclosing module, and the card's own name.

    Buttons are reused from path to path, since the path may change at each step of a tape.
    """

    picked = Signal(str)
    """The key of the module that was clicked."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setProperty("chip", True)
        self.setAccessibleName(tr("Modules around the card"))
        self._row = hbox(self, margins=(6, 2, 10, 2), spacing=2)
        self.path: tuple[Crumb, ...] = ()
        """The path that is shown."""
        self._left_out = QLabel(f"… {SEPARATOR}", self)
        self._modules: list[tuple[QPushButton, QLabel]] = []
        """Buttons, each with the separator after it; there may be more than needed."""
        self._last = plain_label(role="title")
        self._last.setContentsMargins(7, 0, 0, 0)
        self._row.addWidget(self._left_out)
        self._row.addWidget(self._last)
        self.hide()

    def set_path(self, path: Sequence[Crumb], room: int) -> None:
        """Show ``path`` in ``room`` pixels, leaving out outer modules if necessary.

        The path of a card outside of all modules is not shown.
        """
        path = tuple(path) if len(path) > 1 else ()
        if path != self.path:
            self.path = path
            self._fill(path)
        if path:
            left_out = 0
            self._leave_out(left_out)
            while left_out < len(path) - 2 and self.sizeHint().width() > room:
                left_out += 1
                self._leave_out(left_out)
        self.setVisible(bool(path) and self.sizeHint().width() <= room)
        if path:
            self.adjustSize()

    def _fill(self, path: tuple[Crumb, ...]) -> None:
        for crumb, (button, _) in zip(path[:-1], self._parts(len(path) - 1), strict=False):
            button.setText(_cut(crumb.title))
            button.setToolTip(tip(tr("Show all of {title}", title=crumb.title)))
        if path:
            self._last.setText(_cut(path[-1].title))

    def _leave_out(self, count: int) -> None:
        """Hide the ``count`` outermost modules and the surplus buttons."""
        self._left_out.setVisible(count > 0)
        for index, parts in enumerate(self._modules):
            for part in parts:
                part.setVisible(count <= index < len(self.path) - 1)

    def _parts(self, count: int) -> list[tuple[QPushButton, QLabel]]:
        """Return the module buttons, creating them up to at least ``count``."""
        while len(self._modules) < count:
            button, mark = chip_button(), QLabel(SEPARATOR)
            button.clicked.connect(partial(self._pick, len(self._modules)))
            for part in (button, mark):
                self._row.insertWidget(self._row.count() - 1, part)
            self._modules.append((button, mark))
        return self._modules

    def _pick(self, index: int, _on: bool = False) -> None:
        self.picked.emit(self.path[index].key)


def _cut(title: str) -> str:
    return title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + "…"


class GraphTools(QFrame):
    """Buttons to fit, collapse, expand, colour and find; Find turns them into a search line."""

    fit_pressed = Signal()
    collapse_pressed = Signal()
    expand_pressed = Signal()
    searched = Signal(str)
    stepped = Signal(bool)
    """Go to the next match, or to the previous one (True)."""
    color_pressed = Signal(object)
    """Carries the global `QPoint` at which to show the menu of colour modes."""
    left = Signal()
    """The search was closed."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setProperty("chip", True)
        self.setAccessibleName(tr("Graph"))
        row = hbox(self, margins=(4, 2, 4, 2), spacing=2)
        self.fit_button = chip_button(tr("Fit"), tr("Show the whole graph (Ctrl+0)"))
        self.collapse_button = chip_button(
            tr("Collapse all"), tr("Fold all modules (Ctrl+Shift+W)")
        )
        self.expand_button = chip_button(tr("Expand all"), tr("Open all modules (Ctrl+Shift+E)"))
        self.color_button = chip_button(
            tr("Colour"), tr("Choose what the colours of the cards mean")
        )
        self.find_button = chip_button(
            tr("Find"), tr("Look for a name, an op, a shape or NaN (Ctrl+Shift+F)")
        )
        self.query = QLineEdit()
        self.query.setPlaceholderText(tr("Name, op, 16 × 8, nan"))
        self.query.setAccessibleName(tr("Find in the graph"))
        self.query.setToolTip(
            tr("A name, an op, a shape, a module, nan or inf; two words: a name in a module")
        )
        self.query.setFixedWidth(SEARCH_WIDTH)
        self.query.installEventFilter(self)
        self.count = plain_label(role="caption")
        buttons = (self.fit_button, self.collapse_button, self.expand_button, self.color_button)
        for part in (self.query, self.count, *buttons, self.find_button):
            row.addWidget(part)
        self.fit_button.clicked.connect(self.fit_pressed)
        self.collapse_button.clicked.connect(self.collapse_pressed)
        self.expand_button.clicked.connect(self.expand_pressed)
        self.color_button.clicked.connect(self._ask_color)
        self.find_button.clicked.connect(self.open)
        self.query.textChanged.connect(self.searched)
        self._modules = False
        self._show_search(False)

    def _ask_color(self) -> None:
        button = self.color_button
        self.color_pressed.emit(button.mapToGlobal(QPoint(button.width(), -4)))

    def set_modules(self, there: bool) -> None:
        """Show the collapse and expand buttons only if there are modules."""
        self._modules = there
        self._show_search(self.is_open())

    def is_open(self) -> bool:
        """Return whether the search line is shown."""
        return not self.query.isHidden()

    def open(self) -> None:
        """Show the search line and focus it."""
        self._show_search(True)
        self.query.setFocus()
        self.query.selectAll()

    def leave(self) -> None:
        """Hide the search line; `left` is emitted."""
        self._show_search(False)
        self.left.emit()

    def show_count(self, text: str) -> None:
        """Show the number of matches and the current one."""
        self.count.setText(text)
        self.adjustSize()

    def _show_search(self, shown: bool) -> None:
        self.query.setVisible(shown)
        self.count.setVisible(shown)
        self.find_button.setVisible(not shown)
        self.color_button.setVisible(not shown)
        for button in (self.collapse_button, self.expand_button):
            button.setVisible(self._modules and not shown)
        self.adjustSize()

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Handle Return and Esc in the search line."""
        if handle_search_key(happened, self.leave, self.stepped.emit):
            return True
        return super().eventFilter(watched, happened)


class FollowChip(QFrame):
    """A chip with a button that lets the camera follow what plays again."""

    pressed = Signal()

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setProperty("chip", True)
        self.setAccessibleName(tr("Camera"))
        row = hbox(self, margins=(4, 2, 4, 2))
        self.button = chip_button(
            tr("Follow what plays"), tr("Bring into view what plays, from now on")
        )
        self.button.clicked.connect(self.pressed)
        row.addWidget(self.button)
        self.hide()


class GraphOverlay(QObject):
    """Place breadcrumbs at the top left of the graph, legend and tools at the right."""

    legend_resized = Signal(QSizeF)
    """Size of the upper right corner that the colour legend covers."""

    def __init__(self, graph: QWidget) -> None:
        super().__init__(graph)
        self._graph = graph
        self._quiet = False
        self._path: tuple[Crumb, ...] = ()
        self.crumbs, self.tools = Breadcrumbs(graph), GraphTools(graph)
        self.key, self.film = ColorModeLegend(graph), ProgressChip(graph)
        self.follow = FollowChip(graph)
        for part in (graph, self.tools, self.film):
            part.installEventFilter(self)
        self.tools.left.connect(graph.setFocus)
        self.tools.left.connect(lambda: self.set_quiet(self._quiet))
        self.tools.show()
        self.settle()

    def set_path(self, path: tuple[Crumb, ...]) -> None:
        """Show the path to the selected card, or to the one that is playing."""
        if path != self._path:
            self._path = path
            self.settle()

    def show_key(self, key: ColorLegend | None, theme: Theme) -> None:
        """Show the colour legend at the top right; None hides it."""
        self.key.show_legend(key, theme)
        self.settle()

    def set_quiet(self, quiet: bool) -> None:
        """Hide the path, and the tools while nothing is searched for; or show both."""
        self._quiet = quiet
        self.tools.setVisible(not quiet or self.tools.is_open())
        self.settle()

    def offer_following(self, offered: bool) -> None:
        """Show the chip that lets the camera follow what plays, or hide it."""
        if offered == self.follow.isHidden():
            had_focus = self.follow.button.hasFocus()
            self.follow.setVisible(offered)
            self.settle()
            if had_focus:
                self._graph.setFocus()

    def settle(self) -> None:
        """Lay out the corners again after a size has changed."""
        graph, tools = self._graph, self.tools
        tools.adjustSize()
        tools.move(graph.width() - tools.width() - MARGIN, graph.height() - tools.height() - MARGIN)
        self.film.adjustSize()
        self._place_following()
        above = tools.y() - self.film.height() - MARGIN // 2
        self.film.move(graph.width() - self.film.width() - MARGIN, above)
        self.key.set_compact(graph.width() < NARROW_WIDTH, round(NOTE_SHARE * graph.width()))
        taken = 0 if self.key.isHidden() else self.key.width() + MARGIN
        self.legend_resized.emit(
            QSizeF(taken + MARGIN, self.key.height() + MARGIN) if taken else QSizeF()
        )
        self.key.move(graph.width() - self.key.width() - MARGIN, MARGIN)
        path = () if self._quiet else self._path
        self.crumbs.set_path(path, max(0, graph.width() - 2 * MARGIN - taken))
        self.crumbs.move(MARGIN, MARGIN)

    def _place_following(self) -> None:
        """Center the chip, left of the tools; where it does not fit there, above them."""
        chip, tools = self.follow, self.tools
        chip.adjustSize()
        middle = (self._graph.width() - chip.width()) // 2
        left_of_tools = tools.x() - chip.width() - MARGIN
        if left_of_tools >= MARGIN:
            chip.move(min(middle, left_of_tools), tools.y())
        else:
            chip.move(max(MARGIN, middle), tools.y() - chip.height() - MARGIN)

    def eventFilter(self, _watched: QObject, happened: QEvent) -> bool:
        """Lay out again when the graph or a part is resized."""
        if happened.type() == QEvent.Type.Resize:
            self.settle()
        return False
