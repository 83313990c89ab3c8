"""A label whose long words can wrap anywhere, and whose text is copied as it was given.

Qt wraps at blanks alone, or at invisible ones: those are shown, and are never copied, read out or
taken for the end of a word.
"""

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
)
from PySide6.QtWidgets import QLabel, QMenu, QWidget

from gradscribe.playback.translation import tr

BREAK = "\N{ZERO WIDTH SPACE}"


class BrokenTextLabel(QLabel):
    """A plain-text label that is shown with `BREAK` in its long words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._said = ""

    def show_broken(self, text: str, broken: str) -> None:
        """Show ``broken``, which is ``text`` with a `BREAK` wherever it may wrap."""
        if self.accessibleName() in ("", self._said):
            self.setAccessibleName(text if broken != text else "")
        self._said = text
        # Qt counts the end of a line as one character, whatever it was made of.
        super().setText(re.sub("\r\n?", "\n", broken))

    def setText(self, text: str) -> None:
        """Show ``text`` without breaks."""
        self.show_broken(text, text)

    def said(self) -> str:
        """Return the text as it was given."""
        return self._said

    def selected_words(self) -> str:
        """Return the selection as it stands in the text that was given."""
        start = self.selectionStart()
        if start < 0:
            return ""
        pieces = self._pieces()
        stop = start + len(_units_of(self.selectedText()))
        return b"".join(pieces[start:stop]).decode("utf-16-le", "replace")

    def _pieces(self) -> list[bytes]:
        """Return for each of Qt's units of the shown text what was given; empty where it is new."""
        given, at = _units_of(self._said), 0
        pieces: list[bytes] = []
        for unit in _units_of(self.text()):
            end = given[at : at + 2]
            is_end = unit == _LINE_END[1] and end[:1] == _LINE_END[:1]
            taken = (1 + (end == _LINE_END)) if is_end else int(end[:1] == [unit])
            pieces.append(b"".join(end[:taken]))
            at += taken
        return pieces

    def copy(self, mode: QClipboard.Mode = QClipboard.Mode.Clipboard) -> None:
        """Copy the selection to the clipboard."""
        if self.hasSelectedText():
            QGuiApplication.clipboard().setText(self.selected_words(), mode)

    def _select_all(self) -> None:
        self.setSelection(0, len(_units_of(self.text())))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the selection as it was given; called by Qt."""
        if event.matches(QKeySequence.StandardKey.Copy) and self.hasSelectedText():
            self.copy()
            event.accept()
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a new selection, also within one, which Qt would drag as it is shown."""
        is_plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if event.button() == Qt.MouseButton.LeftButton and is_plain and self.hasSelectedText():
            self.setSelection(0, 0)
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Offer the selection to the middle button as it was given; called by Qt."""
        super().mouseReleaseEvent(event)
        self._offer_selection()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select the whole word, over its breaks; called by Qt."""
        super().mouseDoubleClickEvent(event)
        start = self.selectionStart()
        if start < 0 or not self.hasSelectedText():
            return
        shown = _units_of(self.text())
        added = {at for at, piece in enumerate(self._pieces()) if not piece}
        stop = start + len(_units_of(self.selectedText()))
        if start - 1 in added:
            while start > 0 and (start - 1 in added or _is_in_word(shown[start - 1])):
                start -= 1
        if stop in added:
            while stop < len(shown) and (stop in added or _is_in_word(shown[stop])):
                stop += 1
        self.setSelection(start, stop - start)

    def _offer_selection(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if self.hasSelectedText() and clipboard.supportsSelection():
            self.copy(QClipboard.Mode.Selection)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy, if the text can be selected; called by Qt."""
        if self.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse:
            self.menu().popup(event.globalPos())
            return
        super().contextMenuEvent(event)

    def menu(self) -> QMenu:
        """Return a menu that copies the selection or selects all; it deletes itself when closed."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction(tr("Copy"))
        copy.setEnabled(self.hasSelectedText())
        copy.triggered.connect(lambda: self.copy())
        menu.addAction(tr("Select all")).triggered.connect(self._select_all)
        return menu


def _units_of(text: str) -> list[bytes]:
    """Return a text in the units of 16 bits in which Qt counts."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


_LINE_END = _units_of("\r\n")


def _is_in_word(unit: bytes) -> bool:
    letter = unit.decode("utf-16-le", "replace")
    return letter.isalnum() or letter == "_"
