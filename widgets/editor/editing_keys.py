"""Editing keys of a Python editor: indentation, comments, the Home key.

Every function is one undo step and returns whether it handled the key; otherwise Qt's default
applies.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.widgets.editor import highlight
from gradscribe.widgets.editor.brackets import PAIRS
from gradscribe.widgets.editor.source_text import INDENT, TAB

_LEAVES = ("return", "pass", "break", "continue", "raise")


def handle_key(edit: QPlainTextEdit, key_press: QKeyEvent) -> bool:
    """Handle an editing key; return False if Qt's default applies.

    Tab and Shift+Tab indent and dedent, Return keeps the indentation, Backspace removes a step of
    it, Home toggles between the first letter and the margin, Ctrl+/ toggles comments.
    """
    key, modifiers = key_press.key(), key_press.modifiers()
    modifiers &= ~Qt.KeyboardModifier.KeypadModifier
    none, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
    if modifiers == Qt.KeyboardModifier.ControlModifier and key == Qt.Key.Key_Slash:
        return toggle_comment(edit)
    if modifiers not in (none, shift):
        return False
    if key == Qt.Key.Key_Backtab:
        return dedent(edit)
    if key == Qt.Key.Key_Home:
        return go_home(edit, modifiers == shift)
    if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        return insert_newline(edit)
    if key == Qt.Key.Key_Tab and modifiers == none:
        return indent(edit)
    if key == Qt.Key.Key_Backspace:
        return unindent_backwards(edit)
    return False


def indent(edit: QPlainTextEdit) -> bool:
    """Move the selected lines right by one step, or insert spaces up to the next one."""
    cursor = edit.textCursor()
    with _one_step(cursor):
        if cursor.hasSelection() and _spans_lines(cursor):
            for block in _blocks(cursor):
                if block.text().strip():
                    QTextCursor(block).insertText(TAB)
        else:
            first = cursor.document().findBlock(cursor.selectionStart())
            column = cursor.selectionStart() - first.position()
            cursor.insertText(" " * (INDENT - column % INDENT))
    edit.ensureCursorVisible()
    return True


def dedent(edit: QPlainTextEdit) -> bool:
    """Move the selected lines, or the caret's line, left by one step."""
    cursor = edit.textCursor()
    with _one_step(cursor):
        for block in _blocks(cursor):
            _remove(block, 0, min(INDENT, _leading(block)))
    return True


def go_home(edit: QPlainTextEdit, select: bool = False) -> bool:
    """Move the caret to the line's first letter, or to the margin if it is there already."""
    cursor = edit.textCursor()
    leading = _leading(cursor.block())
    column = 0 if cursor.positionInBlock() == leading else leading
    mode = QTextCursor.MoveMode.KeepAnchor if select else QTextCursor.MoveMode.MoveAnchor
    cursor.setPosition(cursor.block().position() + column, mode)
    edit.setTextCursor(cursor)
    return True


def insert_newline(edit: QPlainTextEdit) -> bool:
    """Insert a new line with the indentation that follows from the code before the caret."""
    cursor = edit.textCursor()
    with _one_step(cursor):
        cursor.removeSelectedText()
        block = cursor.block()
        left = highlight.column_text(block.text(), cursor.positionInBlock())
        lead = " " * min(_leading(block), cursor.positionInBlock())
        state = highlight.state_before(block)
        code = _code(left, state)
        if code.endswith((":", "(", "[", "{")):
            lead += TAB
        elif code.strip().split(" ", 1)[0] in _LEAVES and not code.endswith((",", "\\")):
            lead = lead[INDENT:]
        # Spaces right of the caret would indent the new line further.
        right = block.text()[len(left) :]
        if left.strip() and right.strip():
            cursor.movePosition(
                QTextCursor.MoveOperation.NextCharacter,
                QTextCursor.MoveMode.KeepAnchor,
                len(right) - len(right.lstrip(" ")),
            )
        cursor.insertText("\n" + lead)
        if code[-1:] in PAIRS and right.lstrip().startswith(PAIRS[code[-1]]):
            # Between a bracket and the one that closes it: the latter gets a line of its own.
            at = cursor.position()
            cursor.insertText("\n" + lead[: -len(TAB)])
            cursor.setPosition(at)
    edit.setTextCursor(cursor)
    edit.ensureCursorVisible()
    return True


def unindent_backwards(edit: QPlainTextEdit) -> bool:
    """Remove spaces back to the previous step, if only spaces stand before the caret."""
    cursor = edit.textCursor()
    column = cursor.positionInBlock()
    if cursor.hasSelection() or not 0 < column <= _leading(cursor.block()):
        return False
    with _one_step(cursor):
        _remove(cursor.block(), (column - 1) // INDENT * INDENT, column)
    return True


def toggle_comment(edit: QPlainTextEdit) -> bool:
    """Comment out the selected lines, or the caret's line; uncomment if all are comments."""
    cursor = edit.textCursor()
    blocks = [block for block in _blocks(cursor) if block.text().strip()]
    if not blocks:
        return True
    with _one_step(cursor):
        if all(block.text().lstrip().startswith("#") for block in blocks):
            for block in blocks:
                start = _leading(block)
                marked = block.text()[start:]
                _remove(block, start, start + (2 if marked.startswith("# ") else 1))
        else:
            column = min(_leading(block) for block in blocks)
            for block in blocks:
                at = QTextCursor(block)
                at.setPosition(block.position() + column)
                at.insertText("# ")
    return True


def _code(text: str, state: int) -> str:
    """Return ``text`` without a comment and trailing spaces; empty inside a string."""
    found, after = highlight.spans(text, state)
    if after != highlight.LexerState.CODE:
        return ""
    if found and found[-1][2] == "comment":
        text = text[: found[-1][0]]
    return text.rstrip()


def _spans_lines(cursor: QTextCursor) -> bool:
    document = cursor.document()
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    return document.findBlock(start) != document.findBlock(end)


def _blocks(cursor: QTextCursor) -> Iterator[QTextBlock]:
    document = cursor.document()
    block = document.findBlock(cursor.selectionStart())
    end = cursor.selectionEnd()
    last = document.findBlock(end)
    # A selection that ends before the first letter of a line does not mean that line.
    if last != block and end == last.position():
        last = last.previous()
    stop = last.blockNumber()
    while block.isValid() and block.blockNumber() <= stop:
        yield block
        block = block.next()


def _leading(block: QTextBlock) -> int:
    text = block.text()
    return len(text) - len(text.lstrip(" "))


def _remove(block: QTextBlock, start: int, end: int) -> None:
    at = QTextCursor(block)
    at.setPosition(block.position() + start)
    at.setPosition(block.position() + end, QTextCursor.MoveMode.KeepAnchor)
    at.removeSelectedText()


@contextmanager
def _one_step(cursor: QTextCursor) -> Iterator[None]:
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()
