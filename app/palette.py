"""The command palette: type a part of a name, press Return."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QListWidget, QListWidgetItem, QWidget

from app.overlay import Overlay
from widgets.once import once


@dataclass(frozen=True)
class Line:
    """One line of the palette."""

    title: str
    tip: str
    keys: str
    run: Callable[[], None]


def rank(query: str, title: str) -> int | None:
    """Return how badly ``title`` fits ``query`` (0 is best), None where it does not fit at all.

    Every word of the query must begin a word of the title, or else the letters of the query must
    stand in the title in their order.
    """
    wanted, have = query.casefold().split(), title.casefold()
    words = have.replace(":", " ").split()
    if all(any(word.startswith(part) for word in words) for part in wanted):
        return have.find(wanted[0]) if wanted else 0
    at, gaps = -1, 100
    for letter in "".join(wanted):
        found = have.find(letter, at + 1)
        if found < 0:
            return None
        gaps += found - at - 1
        at = found
    return gaps


def fitting(query: str, lines: Iterable[Line]) -> list[Line]:
    """Return the lines that fit ``query``, the best first."""
    ranked = [(rank(query, line.title), line) for line in lines]
    kept = [(score, line) for score, line in ranked if score is not None]
    return [line for _, line in sorted(kept, key=lambda pair: pair[0])]


AT_ONCE = 12
"""As many lines as are seen at first."""


class Palette(Overlay):
    """The list of all commands over the window."""

    def __init__(self, over: QWidget, lines: Iterable[Line]) -> None:
        super().__init__(over, 620, 440)
        self._lines = list(lines)
        self.query = QLineEdit()
        self.query.setPlaceholderText("Type a command")
        self.query.setAccessibleName("Command")
        self.query.setClearButtonEnabled(True)
        self.found = QListWidget()
        self.found.setProperty("bare", True)
        self.found.setAccessibleName("Commands")
        self.found.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column.addWidget(self.query)
        self.column.addWidget(self.found, 1)
        self.query.textChanged.connect(self._search)
        self.query.installEventFilter(self)
        self.found.itemClicked.connect(self._run)
        self._bare: list[tuple[QListWidgetItem, Line]] = []
        """Items that still wait for what is seen of them."""
        self._turn = once(self, self._fill)
        self._search("")

    def open(self) -> None:
        """Show it, ready to be typed into."""
        super().open()
        self.query.setFocus()

    def _search(self, text: str) -> None:
        self._bare = []
        self.found.clear()
        for line in fitting(text, self._lines):
            item = QListWidgetItem(self.found)
            item.setData(Qt.ItemDataRole.UserRole, line)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{line.title} {line.keys}")
            item.setSizeHint(QSize(0, self.query.fontMetrics().height() + 20))
            self._bare.append((item, line))
        self.found.setCurrentRow(0)
        self._fill()

    def _fill(self) -> None:
        """Show as many lines as one turn of the event loop allows; those at the top come first."""
        now, self._bare = self._bare[:AT_ONCE], self._bare[AT_ONCE:]
        for item, line in now:
            self.found.setItemWidget(item, _row(line, self.found.viewport()))
        if self._bare:
            self._turn.start(0)

    def _run(self, item: QListWidgetItem | None) -> None:
        line = item.data(Qt.ItemDataRole.UserRole) if item else None
        if isinstance(line, Line):
            self.leave()
            line.run()

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Let the arrow keys and Return of the search line move and choose in the list."""
        if (
            watched is self.query
            and isinstance(happened, QKeyEvent)
            and happened.type() == QEvent.Type.KeyPress
            and self._steer(happened.key())
        ):
            return True
        return super().eventFilter(watched, happened)

    def _steer(self, key: int) -> bool:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8}
        steps |= {Qt.Key.Key_PageUp: -8}
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self.found.currentItem())
        elif key in steps:
            row = self.found.currentRow() + steps[Qt.Key(key)]
            self.found.setCurrentRow(max(0, min(row, self.found.count() - 1)))
        else:
            return False
        return True


def _row(line: Line, parent: QWidget) -> QWidget:
    row = QWidget(parent)
    layout = QHBoxLayout(row)
    layout.setContentsMargins(8, 5, 8, 5)
    layout.setSpacing(12)
    title, tip, keys = QLabel(line.title), QLabel(line.tip), QLabel(line.keys)
    tip.setProperty("role", "caption")
    keys.setProperty("role", "mono")
    for label in (title, tip, keys):
        label.setTextFormat(Qt.TextFormat.PlainText)
    tip.setMinimumWidth(0)
    tip.setSizePolicy(tip.sizePolicy().Policy.Ignored, tip.sizePolicy().verticalPolicy())
    layout.addWidget(title)
    layout.addWidget(tip, 1)
    layout.addWidget(keys)
    return row
