"""The search line below the program."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QFrame, QLineEdit, QPlainTextEdit, QWidget

from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.labels import plain_label


class FindBar(QFrame):
    """Search bar of an editor: Return finds the next match, Shift+Return the previous one."""

    def __init__(self, editor: QPlainTextEdit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self.query = QLineEdit()
        self.query.setPlaceholderText("Find in the program")
        self.query.setAccessibleName("Find in the program")
        self.count = plain_label(role="caption")
        row = hbox(self, margins=(12, 4, 12, 10))
        row.addWidget(self.query, 1)
        row.addWidget(self.count)
        self.query.textChanged.connect(self._search)
        self.query.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Show the bar with the selected text, and focus it."""
        chosen = self._editor.textCursor().selectedText()
        if chosen and "\u2029" not in chosen:
            self.query.setText(chosen)
        self.show()
        self.query.setFocus()
        self.query.selectAll()

    def go(self, back: bool = False) -> None:
        """Go to the next match, or the previous one, wrapping around."""
        text = self.query.text()
        if not text:
            return
        flags = QTextDocument.FindFlag(0)
        if back:
            flags |= QTextDocument.FindFlag.FindBackward
        if not self._editor.find(text, flags):
            cursor = self._editor.textCursor()
            ends = QTextCursor.MoveOperation
            cursor.movePosition(ends.End if back else ends.Start)
            self._editor.setTextCursor(cursor)
            self._editor.find(text, flags)

    def _search(self, text: str) -> None:
        found = self._editor.toPlainText().casefold().count(text.casefold()) if text else 0
        self.count.setText(f"{found} found" if text else "")
        cursor = self._editor.textCursor()
        cursor.setPosition(cursor.selectionStart())
        self._editor.setTextCursor(cursor)
        self.go()

    def leave(self) -> None:
        """Hide the bar and focus the editor."""
        self.hide()
        self._editor.setFocus()

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Handle Return and Esc in the search line."""
        if handle_search_key(happened, self.leave, lambda back: self.go(back=back)):
            return True
        return super().eventFilter(watched, happened)


def handle_search_key(
    happened: QEvent, leave: Callable[[], object], go: Callable[[bool], object]
) -> bool:
    """Call ``leave`` on Esc, ``go`` on Return (True with Shift); return False for other events."""
    if not isinstance(happened, QKeyEvent) or happened.type() != QEvent.Type.KeyPress:
        return False
    if happened.key() == Qt.Key.Key_Escape:
        leave()
    elif happened.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        go(bool(happened.modifiers() & Qt.KeyboardModifier.ShiftModifier))
    else:
        return False
    return True
