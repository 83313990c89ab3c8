"""A Python editor: highlighting, indentation, clean pasting, undoable text replacement."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import (
    QInputMethodEvent,
    QKeyEvent,
    QMouseEvent,
    QTextBlock,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor import editing_keys, line_layout, restore_lines, source_text
from gradscribe.widgets.editor.edit_history import EditHistory, EditStep, original_text
from gradscribe.widgets.editor.highlight import Highlighter, units
from gradscribe.widgets.editor.keys.closing import Closing
from gradscribe.widgets.editor.line_layout import SpacedLayout, VisibleRow
from gradscribe.widgets.editor.style import MAX_PX, MIN_PX, TEXT_PX, EditorStyle

_WHEEL_NOTCH = 120


class SourceEdit(QPlainTextEdit):
    """Python source editor; Qt columns internally, character columns in its interface."""

    edited = Signal(str)
    """The user changed the text in any way; carries the whole text."""
    refused = Signal(str)
    """Pasted or dropped text was too long; carries the reason."""
    text_size_changed = Signal(int)
    lines_moved = Signal(int, int)
    """Lines from the first number on moved by the second; emitted for any kind of change."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.look = EditorStyle(theme, TEXT_PX)
        self._is_setting = False
        self._source = ""
        self.history = EditHistory()
        self._lines = 1
        self._wheel = 0
        self._tab_leaves = False
        self._highlighter = Highlighter(self.document())
        self._closing = Closing(self)
        # The document does not keep the Python object of its layout alive.
        self._layout = SpacedLayout(self.document(), self.look.gap)
        self.document().setDocumentLayout(self._layout)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setCursorWidth(2)
        self.setAccessibleName(tr("Program"))
        self.document().contentsChange.connect(self._on_contents_change)
        self.textChanged.connect(self._on_text_changed)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self.look = EditorStyle(theme, self.look.px)
        set_sheet(self, self.look.sheet())
        self._highlighter.set_theme(theme)
        self.apply_look()

    def set_text_size(self, px: int) -> None:
        """Set the font size in pixels, clamped to `MIN_PX` and `MAX_PX`."""
        px = max(MIN_PX, min(MAX_PX, px))
        if px != self.look.px:
            top = self.verticalScrollBar().value()
            self.look = EditorStyle(self.look.theme, px)
            self.apply_look()
            self.verticalScrollBar().setValue(top)
            self.text_size_changed.emit(px)

    def apply_look(self) -> None:
        """Apply `look` after it changed."""
        self._layout.set_gap(self.look.gap)
        # A style sheet of the window would set the interface's font; the document's own wins.
        self.setFont(self.look.font)
        self.document().setDefaultFont(self.look.font)
        self.setTabStopDistance(self.look.metrics.horizontalAdvance(" ") * source_text.INDENT)
        self.viewport().update()

    def colour_more(self) -> bool:
        """Colour further lines of a long text at once; return whether some are left."""
        return self._highlighter.colour_more()

    def source(self) -> str:
        """Return the text, its lines ended by newlines."""
        # Not toPlainText, which turns non-breaking spaces in strings into spaces.
        return self.document().toRawText().replace("\N{PARAGRAPH SEPARATOR}", "\n")

    def set_source(self, source: str, *, fresh: bool = False) -> None:
        """Replace the text without emitting `edited`.

        Only differences are written, as one undo step: caret, scroll position and history stay.
        ``fresh`` begins a new history, as for another file.
        """
        source = source.replace("\r\n", "\n").replace("\r", "\n")
        old = self.source()
        self._is_setting = True
        try:
            if fresh or (not old and not self.document().isUndoAvailable()):
                self.setPlainText(source)
            elif source != old:
                self._rewrite(old, source)
        finally:
            self._is_setting = False
        self._source = self.source()
        if fresh:
            self.history.reset(self._source)
        self._record_step()

    def restore(self, source: str, steps: Sequence[EditStep], done: int) -> None:
        """Replace the text and the history, without emitting `edited`.

        ``steps`` are all undo and redo steps, of which the first ``done`` lead to ``source``. Steps
        that do not fit the text are discarded.
        """
        try:
            before = original_text(source, steps, done)
        except ValueError:
            before, steps, done = source, (), 0
        self.set_source(before, fresh=True)
        self._is_setting = True
        try:
            text = before
            for step in steps:
                start = units(text[: step.at])
                cursor = source_text.range_cursor(
                    self.document(), start, start + units(step.removed)
                )
                cursor.beginEditBlock()
                cursor.insertText(step.inserted)
                cursor.endEditBlock()
                text = step.redo(text)
                self._record_step(text)
            for _ in range(len(steps) - done):
                self.document().undo()
                self._record_step()
        finally:
            self._is_setting = False
        self._source = self.source()

    def compact_history(self) -> None:
        """Rebuild the document's history, without its oldest steps, if it has grown too big."""
        if not self.history.is_heavy:
            return
        caret = self.caret()
        bars = (self.horizontalScrollBar(), self.verticalScrollBar())
        values = [bar.value() for bar in bars]
        self.restore(self.source(), self.history.steps, self.history.done)
        self.set_caret(*caret)
        for bar, value in zip(bars, values, strict=True):
            bar.setValue(value)

    def caret(self) -> tuple[int, int]:
        """Return anchor and position of the caret (Qt positions)."""
        return self.textCursor().anchor(), self.textCursor().position()

    def set_caret(self, anchor: int, position: int) -> None:
        """Select from ``anchor`` to ``position`` (Qt positions), clamped to the text."""
        most = self.document().characterCount() - 1
        cursor = self.textCursor()
        cursor.setPosition(max(0, min(anchor, most)))
        cursor.setPosition(max(0, min(position, most)), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def _record_step(self, source: str | None = None) -> None:
        document = self.document()
        text = self._source if source is None and not self._is_setting else source or self.source()
        self.history.note(text, document.availableUndoSteps(), document.availableRedoSteps())

    def _rewrite(self, old: str, new: str) -> None:
        bars = (self.horizontalScrollBar(), self.verticalScrollBar())
        values = [bar.value() for bar in bars]
        caret = self.textCursor()
        anchor, position = caret.anchor(), caret.position()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for hunk in reversed(source_text.hunks(old, new)):
            start = units(old[: hunk.start])
            end = start + units(old[hunk.start : hunk.end])
            source_text.range_cursor(self.document(), start, end).insertText(hunk.text)
            anchor = _moved(anchor, start, end, units(hunk.text))
            position = _moved(position, start, end, units(hunk.text))
        cursor.endEditBlock()
        # Qt would put the caret behind any replacement of the text around it.
        caret.setPosition(anchor)
        caret.setPosition(position, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(caret)
        for bar, value in zip(bars, values, strict=True):
            bar.setValue(value)

    def go_to_line(self, line: int, column: int = 0) -> None:
        """Move the caret to ``line`` (from 1) and ``column`` (characters) and show it."""
        line = max(1, min(line, self.blockCount()))
        block = self.document().findBlockByNumber(line - 1)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + units(block.text()[:column]))
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def rows(self) -> tuple[VisibleRow, ...]:
        """Return the visible rows from top to bottom."""
        return tuple(line_layout.visible_rows(self, self.look.gap))

    def row_at(self, y: float) -> VisibleRow | None:
        """Return the row at ``y`` of the viewport; None below the text."""
        return next((row for row in self.rows() if row.top <= y < row.bottom), None)

    def block_at(self, y: float) -> QTextBlock | None:
        """Return the line at ``y`` of the viewport; None below the text."""
        row = self.row_at(y)
        return None if row is None else self.document().findBlockByNumber(row.line - 1)

    def snapped(self, mouse: QMouseEvent) -> QMouseEvent:
        """Return ``mouse`` with y moved to the middle of its row.

        Qt treats the space between lines as the beginning of a line.
        """
        row = self.row_at(mouse.position().y())
        if row is None:
            return mouse
        at = mouse.position()
        at.setY(row.middle)
        return QMouseEvent(
            mouse.type(),
            at,
            mouse.globalPosition(),
            mouse.button(),
            mouse.buttons(),
            mouse.modifiers(),
            mouse.pointingDevice(),
        )

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept text, but leave files to the window; called by Qt."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert pasted or dropped text as clean code; called by Qt."""
        if not source.hasText():
            return
        if why := source_text.length_problem(source.text()):
            self.refused.emit(tr("This is not pasted: {why}", why=why))
            return
        text = source_text.clean_pasted(source.text())
        if self._replaces_whole_lines():
            text = restore_lines.restore_lines(text)
        self.textCursor().insertText(text)
        self.ensureCursorVisible()

    def _replaces_whole_lines(self) -> bool:
        """Return whether the selection covers whole lines."""
        cursor = self.textCursor()
        last = self.document().findBlock(cursor.selectionEnd())
        first = self.document().findBlock(cursor.selectionStart())
        at_start = cursor.selectionStart() == first.position()
        return at_start and cursor.selectionEnd() == last.position() + last.length() - 1

    def keyPressEvent(self, press: QKeyEvent) -> None:
        """Edit; called by Qt. After Escape the next Tab moves the focus on."""
        key = press.key()
        leaves, self._tab_leaves = self._tab_leaves, key == Qt.Key.Key_Escape
        if leaves and key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            # Qt does not move the focus while Tab inserts a character.
            self.setTabChangesFocus(True)
            self.focusNextPrevChild(key == Qt.Key.Key_Tab)
            self.setTabChangesFocus(False)
        elif press.text() == "\N{NO-BREAK SPACE}":
            self.insertPlainText(" ")
        elif self.isReadOnly() or not (
            self._closing.handle_key(press) or editing_keys.handle_key(self, press)
        ):
            super().keyPressEvent(press)

    def inputMethodEvent(self, composed: QInputMethodEvent) -> None:
        """Replace a composed non-breaking space by a plain space; called by Qt."""
        if composed.commitString() == "\N{NO-BREAK SPACE}":
            composed.setCommitString(" ")
        super().inputMethodEvent(composed)

    def event(self, event: QEvent) -> bool:
        """Claim the editor's own keys before the window's shortcuts; called by Qt."""
        is_asked = event.type() == QEvent.Type.ShortcutOverride
        if is_asked and isinstance(event, QKeyEvent) and self.claims_key(event):
            event.accept()
            return True
        return super().event(event)

    def claims_key(self, press: QKeyEvent) -> bool:
        """Return whether ``press`` is an editor key that Qt does not recognise as such."""
        control = Qt.KeyboardModifier.ControlModifier
        return press.modifiers() == control and press.key() == Qt.Key.Key_Slash

    def changeEvent(self, change: QEvent) -> None:
        """Restore the code's font after a style sheet has set another; called by Qt."""
        super().changeEvent(change)
        if change.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.document().setDefaultFont(self.look.font)

    def wheelEvent(self, wheel: QWheelEvent) -> None:
        """Scroll, or with Ctrl change the text size; called by Qt."""
        if not wheel.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(wheel)
            return
        self._wheel += _scroll_delta(wheel.angleDelta())
        notches = int(self._wheel / _WHEEL_NOTCH)
        self._wheel -= notches * _WHEEL_NOTCH
        self.set_text_size(self.look.px + notches)
        wheel.accept()

    def _on_contents_change(self, position: int, *_: int) -> None:
        change, self._lines = self.blockCount() - self._lines, self.blockCount()
        if change:
            block = self.document().findBlock(position)
            # A line break at the very start of a line moves that line itself.
            first = block.blockNumber() + (2 if position > block.position() else 1)
            self.lines_moved.emit(first, change)

    def _on_text_changed(self) -> None:
        if self._is_setting:
            return
        source = self.source()
        # Qt also emits this signal for new formats.
        if source != self._source:
            self._source = source
            self._record_step()
            self.edited.emit(source)


def _moved(position: int, start: int, end: int, length: int) -> int:
    """Return ``position`` after the text from start to end was replaced by ``length`` letters."""
    if position < end or position <= start:
        return min(position, start + length) if position > start else position
    return position + length - (end - start)


def _scroll_delta(angle: QPoint) -> int:
    return angle.y() or angle.x()
