"""The command palette: search commands by name and execute one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QLabel, QLineEdit, QListView, QStyleOptionViewItem, QWidget

from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.ui.text_delegate import AnyModelIndex, TextDelegate
from gradscribe.playback.translation import tr

NO_PARENT = QModelIndex()
SCATTERED = 100
"""Rank of a title that has the letters of a query, but not as beginnings of words."""


@dataclass(frozen=True)
class PaletteLine:
    """One line of the palette."""

    title: str
    tip: str
    keys: str
    run: Callable[[], None]
    enabled: bool = True
    """False: it is found by the words of its title, but cannot be executed now."""
    is_text: bool = False
    """It leads to a text to read: what acts comes first."""


def rank(query: str, title: str) -> int | None:
    """Return the rank of ``title`` for ``query`` (0 is best), None if it does not match.

    Either every word of the query is the prefix of a word of the title, or the letters of the
    query occur in the title in their order.
    """
    wanted, have = query.casefold().split(), title.casefold()
    if _has_words(title, wanted):
        return have.find(wanted[0]) if wanted else 0
    at, gaps = -1, SCATTERED
    for letter in "".join(wanted):
        found = have.find(letter, at + 1)
        if found < 0:
            return None
        gaps += found - at - 1
        at = found
    return gaps


def matching_lines(query: str, lines: Iterable[PaletteLine]) -> list[PaletteLine]:
    """Return the lines that match ``query``, best first.

    First those whose title has its words: what can be executed, what cannot now. Then those whose
    tip has them, then text to read, and at last titles with its scattered letters.
    """
    wanted = query.casefold().split()
    if not wanted:
        return [line for line in lines if line.enabled]
    placed = [(place, line) for line in lines if (place := _place(query, wanted, line))]
    placed.sort(key=lambda pair: pair[0])
    return [line for _, line in placed]


def _place(query: str, wanted: list[str], line: PaletteLine) -> tuple[int, int] | None:
    """Return group and rank of a line among those found, None if it does not match."""
    if not line.enabled:
        return (1, 0) if _has_words(line.title, wanted) else None
    score = rank(query, line.title)
    if score is not None and score < SCATTERED:
        return (3 if line.is_text else 0, score)
    if _has_words(f"{line.title} {line.tip}", wanted):
        return (3 if line.is_text else 2, SCATTERED)
    return None if score is None else (4, score)


def _has_words(text: str, wanted: list[str]) -> bool:
    words = text.casefold().replace(":", " ").split()
    return all(_begins(part, words) for part in wanted)


def _begins(part: str, words: Iterable[str]) -> bool:
    return any(word.startswith(part) for word in words)


class _Found(QAbstractListModel):
    """The lines that match; each costs something only once it is seen."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lines: list[PaletteLine] = []
        self.high = 0
        """Height of a line, in pixels."""

    def show(self, lines: list[PaletteLine]) -> None:
        """List these lines."""
        self.beginResetModel()
        self._lines = lines
        self.endResetModel()

    def rowCount(self, _parent: AnyModelIndex = NO_PARENT) -> int:
        """Return the number of lines; called by Qt."""
        return len(self._lines)

    def flags(self, index: AnyModelIndex) -> Qt.ItemFlag:
        """Disable what is not possible now; called by Qt."""
        flags = super().flags(index)
        return flags if self._lines[index.row()].enabled else flags & ~Qt.ItemFlag.ItemIsEnabled

    def data(self, index: AnyModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return one property of a line; called by Qt."""
        line = self._lines[index.row()]
        match role:
            case Qt.ItemDataRole.UserRole:
                return line
            case Qt.ItemDataRole.SizeHintRole:
                return QSize(0, self.high)
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{line.title} {line.keys}"
            case Qt.ItemDataRole.AccessibleDescriptionRole if not line.enabled:
                return _tip(line)
        return None


class _Rows(TextDelegate):
    """Delegate that paints title, tip and keys."""

    SIDE, BETWEEN = 14, 12

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyModelIndex) -> None:
        """Paint the item in the style of the list, then its text."""
        super().paint(painter, option, index)
        line = index.data(Qt.ItemDataRole.UserRole)
        if not isinstance(line, PaletteLine):
            return
        painter.save()
        try:
            room = option.rect.adjusted(self.SIDE, 0, -self.SIDE, 0)
            role = "" if line.enabled else "caption"
            room.setLeft(room.left() + self.write(painter, role, line.title, room))
            keys = QRect(room)
            keys.setLeft(room.right() + 1 - self.width_of("mono", line.keys))
            self.write(painter, "mono", line.keys, keys)
            room.adjust(self.BETWEEN, 0, keys.left() - room.right() - 1 - self.BETWEEN, 0)
            self.write(painter, "caption", _tip(line), room)
        finally:
            painter.restore()


def _tip(line: PaletteLine) -> str:
    return line.tip if line.enabled else tr("Not possible now. {tip}", tip=line.tip)


class CommandPalette(PopupCard):
    """The list of all commands over the window."""

    def __init__(self, over: QWidget, lines: Iterable[PaletteLine]) -> None:
        super().__init__(over, 620, 440)
        self._lines = list(lines)
        self.query = QLineEdit()
        self.query.setPlaceholderText(tr("Type a command"))
        self.query.setAccessibleName(tr("Command"))
        self.query.setClearButtonEnabled(True)
        self.found = QListView()
        self._found = _Found(self.found)
        self.found.setModel(self._found)
        self.found.setUniformItemSizes(True)
        self.found.setProperty("bare", True)
        self.found.setAccessibleName(tr("Commands"))
        self.found.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.nothing = QLabel(tr("No command fits"), self.found)
        self.nothing.setProperty("role", "caption")
        self.nothing.setContentsMargins(_Rows.SIDE, 10, 0, 0)
        self.column.addWidget(self.query)
        self.column.addWidget(self.found, 1)
        self.query.textChanged.connect(self._search)
        self.query.installEventFilter(self)
        self.found.clicked.connect(self._run)
        self.found.setItemDelegate(_Rows(self.found, "", "caption", "mono"))
        self._search("")

    def open(self) -> None:
        """Open it and focus the search line."""
        super().open()
        self.query.setFocus()

    def _search(self, text: str) -> None:
        self._found.high = self.query.fontMetrics().height() + 20
        self._found.show(matching_lines(text, self._lines))
        self._choose(0)
        self.nothing.setVisible(not self._found.rowCount())
        self.nothing.adjustSize()

    def _choose(self, row: int) -> None:
        last = self._found.rowCount() - 1
        self.found.setCurrentIndex(self._found.index(max(0, min(row, last))))

    def _run(self, index: QModelIndex) -> None:
        line = index.data(Qt.ItemDataRole.UserRole)
        if isinstance(line, PaletteLine) and line.enabled:
            self.leave()
            line.run()

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Let the arrow keys and Return in the search line control the list."""
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
            self._run(self.found.currentIndex())
        elif key in steps:
            self._choose(self.found.currentIndex().row() + steps[Qt.Key(key)])
        else:
            return False
        return True
