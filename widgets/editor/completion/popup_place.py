"""Place small frames over the window, next to text of the editor."""

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit


def rise(frame: QFrame, editor: QPlainTextEdit) -> None:
    """Make a frame a child of the window, so that the editor does not clip it, and show it."""
    window = editor.window()
    if frame.parentWidget() is not window:
        frame.setParent(window)
    frame.show()
    frame.raise_()


def sink(frame: QFrame, editor: QPlainTextEdit) -> None:
    """Hide a frame; it belongs to the editor again, whose end it shares."""
    if frame.parentWidget() is not editor:
        frame.setParent(editor)
    frame.hide()


def text_place(editor: QPlainTextEdit, position: int) -> QRect | None:
    """Return the rectangle of the caret at a position of the document, in window coordinates.

    None if it is scrolled out of sight.
    """
    cursor = QTextCursor(editor.document())
    cursor.setPosition(min(position, editor.document().characterCount() - 1))
    rect = editor.cursorRect(cursor)
    if not editor.viewport().rect().intersects(rect):
        return None
    origin = editor.viewport().mapTo(editor.window(), QPoint(0, 0))
    return rect.translated(origin)
