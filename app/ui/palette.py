"""The command palette: search commands by name and execute one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyleOptionViewItem,
    QWidget,
)

from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.ui.text_delegate import AnyModelIndex, TextDelegate
from gradscribe.playback.translation import tr

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
    """False: it is found when one looks for it, but cannot be executed now."""


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
    """Return the lines whose title matches ``query``, best first; if none does, search the tips.

    Commands that are not enabled come after those that have the words too.
    """
    lines = list(lines)
    ranked = [(rank(query, line.title), line) for line in lines if line.enabled]
    matches = [(score, line) for score, line in ranked if score is not None]
    wanted = query.casefold().split()
    rest = [
        line for line in lines if not line.enabled and wanted and _has_words(line.title, wanted)
    ]
    if matches:
        matches.sort(key=lambda pair: pair[0])
        exact = [line for score, line in matches if score < SCATTERED]
        return exact + rest + [line for _, line in matches[len(exact) :]]
    return [line for _, line in ranked if _has_words(f"{line.title} {line.tip}", wanted)] + rest


def _has_words(text: str, wanted: list[str]) -> bool:
    words = text.casefold().replace(":", " ").split()
    return all(_begins(part, words) for part in wanted)


def _begins(part: str, words: Iterable[str]) -> bool:
    return any(word.startswith(part) for word in words)


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
        self.found = QListWidget()
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
        self.found.itemClicked.connect(self._run)
        self.found.setItemDelegate(_Rows(self.found, "", "caption", "mono"))
        self._search("")

    def open(self) -> None:
        """Open it and focus the search line."""
        super().open()
        self.query.setFocus()

    def _search(self, text: str) -> None:
        self.found.clear()
        high = self.query.fontMetrics().height() + 20
        for line in matching_lines(text, self._lines):
            item = QListWidgetItem()
            item.setData(Qt.ItemDataRole.UserRole, line)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{line.title} {line.keys}")
            if not line.enabled:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
                item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, _tip(line))
            item.setSizeHint(QSize(0, high))
            self.found.addItem(item)
        self.found.setCurrentRow(0)
        self.nothing.setVisible(not self.found.count())
        self.nothing.adjustSize()

    def _run(self, item: QListWidgetItem | None) -> None:
        line = item.data(Qt.ItemDataRole.UserRole) if item else None
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
            self._run(self.found.currentItem())
        elif key in steps:
            row = self.found.currentRow() + steps[Qt.Key(key)]
            self.found.setCurrentRow(max(0, min(row, self.found.count() - 1)))
        else:
            return False
        return True
