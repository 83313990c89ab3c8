"""What stands on the canvas: the path of modules, buttons, and the search in the graph."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QSizeF, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.color_key import ColorKey
from app.film_chip import FilmChip
from playback.coloring import Key
from playback.crumbs import Crumb
from widgets.labels import literal, tip
from widgets.paint.minimap import NARROW
from widgets.theme import Theme

MARGIN = 10
SEARCH_WIDTH = 190
SEPARATOR = "›"
LONGEST = 24
"""A title of more characters is cut in the path."""


class Crumbs(QFrame):
    """The path to a card: a button for each module around it, and the card's own name."""

    picked = Signal(str)
    """The key of the module that was clicked."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setProperty("chip", True)
        self.setAccessibleName("Modules around the card")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(6, 2, 10, 2)
        self._row.setSpacing(2)
        self._path: tuple[Crumb, ...] = ()
        self.hide()

    def path(self) -> tuple[Crumb, ...]:
        """Return the path that is shown."""
        return self._path

    def set_path(self, path: Sequence[Crumb], room: int) -> None:
        """Show ``path`` in ``room`` pixels, leaving out outer modules if need be.

        A card outside of all modules has no path worth showing.
        """
        path = tuple(path) if len(path) > 1 else ()
        self._path = path
        self._fill(path, cut=False)
        while len(path) > 2 and self.sizeHint().width() > room:
            path = path[1:]
            self._fill(path, cut=True)
        self.setVisible(bool(path) and self.sizeHint().width() <= room)
        self.adjustSize()

    def _fill(self, path: tuple[Crumb, ...], cut: bool) -> None:
        while (item := self._row.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        if cut:
            self._add(QLabel(f"… {SEPARATOR}"))
        for crumb in path[:-1]:
            button = QPushButton(_cut(crumb.title))
            button.setProperty("quiet", True)
            button.setProperty("crumb", True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setToolTip(tip(f"Show all of {crumb.title}"))
            button.clicked.connect(lambda _=False, key=crumb.key: self.picked.emit(key))
            self._add(button)
            self._add(QLabel(SEPARATOR))
        if path:
            last = literal(_cut(path[-1].title))
            last.setProperty("role", "title")
            last.setContentsMargins(7, 0, 0, 0)
            self._add(last)

    def _add(self, part: QWidget) -> None:
        self._row.addWidget(part)
        part.show()


def _cut(title: str) -> str:
    return title if len(title) <= LONGEST else title[: LONGEST - 1] + "…"


class Tools(QFrame):
    """Fit, collapse, expand, find; a press on Find turns them into a search line."""

    fit_pressed = Signal()
    collapse_pressed = Signal()
    expand_pressed = Signal()
    searched = Signal(str)
    stepped = Signal(bool)
    """To the next match, or to the one before it (True)."""
    color_pressed = Signal(object)
    """Where (`QPoint` of the screen) to show the choice of colours."""
    left = Signal()
    """The search was closed."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setProperty("chip", True)
        self.setAccessibleName("Graph")
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 2, 4, 2)
        row.setSpacing(2)
        self.fit_button = self._button("Fit", "Show the whole graph (Ctrl+0)")
        self.collapse_button = self._button("Collapse all", "Fold all modules (Ctrl+Shift+W)")
        self.expand_button = self._button("Expand all", "Open all modules (Ctrl+Shift+E)")
        self.color_button = self._button("Colour", "Choose what the colours of the cards tell")
        self.find_button = self._button(
            "Find", "Look for a name, an op, a shape or NaN (Ctrl+Shift+F)"
        )
        self.query = QLineEdit()
        self.query.setPlaceholderText("Name, op, 16 × 8, nan")
        self.query.setAccessibleName("Find in the graph")
        self.query.setFixedWidth(SEARCH_WIDTH)
        self.query.installEventFilter(self)
        self.count = QLabel()
        self.count.setProperty("role", "caption")
        buttons = (
            self.fit_button,
            self.collapse_button,
            self.expand_button,
            self.color_button,
            self.find_button,
        )
        for part in (self.query, self.count, *buttons):
            row.addWidget(part)
        self.fit_button.clicked.connect(self.fit_pressed)
        self.collapse_button.clicked.connect(self.collapse_pressed)
        self.expand_button.clicked.connect(self.expand_pressed)
        self.color_button.clicked.connect(self._ask_color)
        self.find_button.clicked.connect(self.open)
        self.query.textChanged.connect(self.searched)
        self._modules = False
        self._show_search(False)

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setProperty("quiet", True)
        button.setProperty("crumb", True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setToolTip(tip)
        return button

    def _ask_color(self) -> None:
        button = self.color_button
        self.color_pressed.emit(button.mapToGlobal(QPoint(button.width(), -4)))

    def set_modules(self, there: bool) -> None:
        """Offer to fold and open modules only where there are some."""
        self._modules = there
        self._show_search(self.is_open())

    def is_open(self) -> bool:
        """Tell whether the search line is shown."""
        return not self.query.isHidden()

    def open(self) -> None:
        """Show the search line, ready to be typed into."""
        self._show_search(True)
        self.query.setFocus()
        self.query.selectAll()

    def leave(self) -> None:
        """Hide the search line; `left` is emitted."""
        self._show_search(False)
        self.left.emit()

    def show_count(self, text: str) -> None:
        """Write how many matches there are and which of them is shown."""
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
        """Take Return and Esc from the search line."""
        if isinstance(happened, QKeyEvent) and happened.type() == QEvent.Type.KeyPress:
            if happened.key() == Qt.Key.Key_Escape:
                self.leave()
                return True
            if happened.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.stepped.emit(bool(happened.modifiers() & Qt.KeyboardModifier.ShiftModifier))
                return True
        return super().eventFilter(watched, happened)


class OverGraph(QObject):
    """Holds both in the corners of the graph: the path at the top left, the tools below right."""

    keyed = Signal(QSizeF)
    """How much of the upper right corner the key of the colours takes."""

    def __init__(self, graph: QWidget) -> None:
        super().__init__(graph)
        self._graph = graph
        self._path: tuple[Crumb, ...] = ()
        self.crumbs, self.tools = Crumbs(graph), Tools(graph)
        self.key, self.film = ColorKey(graph), FilmChip(graph)
        for part in (graph, self.tools, self.film):
            part.installEventFilter(self)
        self.tools.left.connect(graph.setFocus)
        self.tools.show()
        self.settle()

    def set_path(self, path: tuple[Crumb, ...]) -> None:
        """Show the path to what is selected or playing."""
        if path != self._path:
            self._path = path
            self.settle()

    def show_key(self, key: Key | None, theme: Theme) -> None:
        """Say at the top right what the colours mean; None where nothing is to be said."""
        self.key.show_key(key, theme)
        self.settle()

    def settle(self) -> None:
        """Take up the corners anew: sizes have changed, of the graph or of text."""
        graph, tools = self._graph, self.tools
        tools.adjustSize()
        tools.move(graph.width() - tools.width() - MARGIN, graph.height() - tools.height() - MARGIN)
        self.film.adjustSize()
        above = tools.y() - self.film.height() - MARGIN // 2
        self.film.move(graph.width() - self.film.width() - MARGIN, above)
        self.key.set_brief(graph.width() < NARROW)
        taken = 0 if self.key.isHidden() else self.key.width() + MARGIN
        self.keyed.emit(QSizeF(taken + MARGIN, self.key.height() + MARGIN) if taken else QSizeF())
        self.key.move(graph.width() - self.key.width() - MARGIN, MARGIN)
        self.crumbs.set_path(self._path, max(0, graph.width() - 2 * MARGIN - taken))
        self.crumbs.move(MARGIN, MARGIN)

    def eventFilter(self, _watched: QObject, happened: QEvent) -> bool:
        """Stay in the corners whatever changes its size."""
        if happened.type() == QEvent.Type.Resize:
            self.settle()
        return False
