"""The folds of an editor: hidden lines, each run of them under the visible line above it.

A fold is nothing but the visibility of its lines, so that it moves with the text. A change of a
hidden line, or of a header that stops being one, opens the fold.
"""

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPen, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.editor.folding import regions
from gradscribe.widgets.editor.line_layout import VisibleRow, next_visible
from gradscribe.widgets.editor.style import EditorStyle

GAP, PAD = 10, 7
"""Space in pixels left of a chip, and inside it."""


class Folds(QObject):
    """Folds and unfolds blocks of a program, and paints a chip behind each folded header."""

    changed = Signal()
    refused = Signal(str)
    """A block is not folded; carries the reason."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        super().__init__(editor)
        self._editor = editor
        self._document = editor.document()
        self._any = False
        self.needed: tuple[tuple[int, str], ...] = ()
        """Lines that may not be hidden, each with the reason."""
        self._inner: list[QTextCursor] = []
        """Headers that were folded inside a block when that was folded."""
        self.chips: dict[int, QRectF] = {}
        """The chips as last painted, in the viewport, by their lines."""
        self._document.contentsChange.connect(self._on_contents_change)
        editor.cursorPositionChanged.connect(self._on_caret_moved)

    # Questions

    @staticmethod
    def is_folded(block: QTextBlock) -> bool:
        """Return whether the lines below a visible line are hidden."""
        below = block.next()
        return block.isVisible() and below.isValid() and not below.isVisible()

    def headers(self, rows: Iterable[VisibleRow]) -> dict[int, bool]:
        """Return the headers among visible lines, each with whether it is folded."""
        found = {}
        for row in rows:
            block = self._document.findBlockByNumber(row.line - 1)
            if self.is_folded(block) or regions.is_header(block):
                found[row.line] = self.is_folded(block)
        return found

    def lines(self) -> list[int]:
        """Return the lines (from 1) of the folded headers that are visible."""
        if not self._any:
            return []
        return [block.blockNumber() + 1 for block in self._visible() if self.is_folded(block)]

    def _visible(self) -> Iterator[QTextBlock]:
        block = self._document.firstBlock()
        while block.isValid():
            yield block
            block = next_visible(block)

    def hidden_lines(self, header: QTextBlock) -> int:
        """Return the number of lines hidden under a folded header."""
        after = next_visible(header)
        end = after.blockNumber() if after.isValid() else self._document.blockCount()
        return end - header.blockNumber() - 1

    # Changes

    def toggle(self, line: int) -> None:
        """Fold or unfold the block that begins on ``line``, from 1."""
        block = self._document.findBlockByNumber(line - 1)
        if self.is_folded(block):
            self._open(block)
        else:
            self._fold(block)

    def fold_at_caret(self) -> None:
        """Fold the innermost open block that the caret is in."""
        block: QTextBlock | None = self._editor.textCursor().block()
        while block is not None and block.isValid():
            header = regions.header_around(block)
            if header is None or not self.is_folded(header):
                if header is not None:
                    self._fold(header)
                return
            block = header.previous()
            if not block.isValid() or regions.header_around(block) == header:
                return

    def unfold_at_caret(self) -> None:
        """Unfold the block that is folded on the caret's line."""
        block = self._editor.textCursor().block()
        if self.is_folded(block):
            self._open(block)

    def fold_all(self) -> None:
        """Fold every outermost block without a line that has to be seen."""
        block = self._document.firstBlock()
        self._hide([*self._all_ranges(block)])

    def _all_ranges(self, block: QTextBlock) -> Iterator[tuple[QTextBlock, QTextBlock]]:
        while block.isValid():
            last = regions.last_block(block) if not self.is_folded(block) else None
            if last is not None and not self._needed(block, last):
                yield block, last
                block = last
            block = next_visible(block) if block.isVisible() else block.next()

    def unfold_all(self) -> None:
        """Show every line."""
        self._inner = []
        if self._any:
            self._set_visible(self._document.firstBlock(), self._document.lastBlock(), True)
            self._any = False
            self._refresh()

    def fold_lines(self, lines: Iterable[int]) -> None:
        """Fold the blocks that begin on these lines, as far as they still do."""
        for line in lines:
            block = self._document.findBlockByNumber(line - 1)
            last = regions.last_block(block) if block.isValid() else None
            if last is not None:
                self._hide([(block, last)])

    def reveal(self, line: int) -> None:
        """Open the fold that hides ``line``, from 1, if one does."""
        if self._any:
            block = self._document.findBlockByNumber(line - 1)
            while block.isValid() and not block.isVisible():
                self._open(self._head_of(block))

    @staticmethod
    def _head_of(block: QTextBlock) -> QTextBlock:
        while block.previous().isValid() and not block.isVisible():
            block = block.previous()
        return block

    def _needed(self, header: QTextBlock, last: QTextBlock) -> str:
        first, end = header.blockNumber() + 2, last.blockNumber() + 1
        return next((why for line, why in self.needed if first <= line <= end), "")

    def _fold(self, header: QTextBlock) -> None:
        last = regions.last_block(header) if header.isValid() and header.isVisible() else None
        if last is None:
            return
        if why := self._needed(header, last):
            self.refused.emit(tr("This block stays open: {why}", why=why))
            return
        self._hide([(header, last)])

    def _hide(self, ranges: list[tuple[QTextBlock, QTextBlock]]) -> None:
        for header, last in ranges:
            inner = header.next()
            while inner.isValid() and inner.blockNumber() < last.blockNumber():
                if self.is_folded(inner):
                    self._inner.append(QTextCursor(inner))
                inner = next_visible(inner) if inner.isVisible() else inner.next()
            self._take_caret_out(header, last)
            self._set_visible(header.next(), last, False)
            self._any = True
        if ranges:
            self._refresh()

    def _take_caret_out(self, header: QTextBlock, last: QTextBlock) -> None:
        cursor = self._editor.textCursor()
        end = last.position() + last.length()
        ends = (cursor.anchor(), cursor.position())
        if any(header.next().position() <= place < end for place in ends):
            cursor.setPosition(header.position() + header.length() - 1)
            self._editor.setTextCursor(cursor)

    def _open(self, header: QTextBlock) -> None:
        after = next_visible(header)
        last = after.previous() if after.isValid() else self._document.lastBlock()
        self._set_visible(header.next(), last, True)
        span = (header.position(), last.position())
        inner = [c for c in self._inner if span[0] < c.position() <= span[1]]
        self._inner = [c for c in self._inner if not span[0] < c.position() <= span[1]]
        for cursor in inner:
            block = cursor.block()
            end = regions.last_block(block) if block.isVisible() else None
            if end is not None and not self._needed(block, end):
                self._set_visible(block.next(), end, False)
        self._refresh()

    def _set_visible(self, first: QTextBlock, last: QTextBlock, visible: bool) -> None:
        block, end = first, last.blockNumber()
        while block.isValid() and block.blockNumber() <= end:
            if block.isVisible() != visible:
                block.setVisible(visible)
                block.setLineCount(1 if visible else 0)
            block = block.next()
        start = first.position()
        self._document.markContentsDirty(start, last.position() + last.length() - start)

    def _refresh(self) -> None:
        """Lay out again, with the line at the top of the view where it was."""
        top = self._editor.firstVisibleBlock()
        layout = self._document.documentLayout()
        layout.documentSizeChanged.emit(layout.documentSize())
        if top.isVisible():
            self._editor.verticalScrollBar().setValue(top.firstLineNumber())
        self._editor.viewport().update()
        self.changed.emit()

    def _on_contents_change(self, position: int, _removed: int, added: int) -> None:
        """Open the folds whose lines or headers have changed."""
        if not self._any:
            return
        block = self._document.findBlock(position)
        last = self._document.findBlock(position + added)
        end = last.blockNumber() if last.isValid() else self._document.blockCount()
        while block.isValid() and block.blockNumber() <= end:
            if not block.isVisible():
                self._open(self._head_of(block))
            elif self.is_folded(block) and not regions.is_header(block):
                self._open(block)
            block = block.next() if not self.is_folded(block) else next_visible(block)
        head = self._document.firstBlock()
        if not head.isVisible():
            self._set_visible(head, head, True)
            self._open(head)

    def _on_caret_moved(self) -> None:
        if not self._any:
            return
        cursor = self._editor.textCursor()
        if not cursor.block().isVisible() and not self._is_everything(cursor):
            self.reveal(cursor.blockNumber() + 1)

    def _is_everything(self, cursor: QTextCursor) -> bool:
        return cursor.anchor() == 0 and cursor.atEnd()

    def step_over(self, press: QKeyEvent) -> bool:
        """Move the caret over a fold with the left and right arrows; return whether it did.

        Qt moves it into the hidden lines.
        """
        shifted = press.modifiers() == Qt.KeyboardModifier.ShiftModifier
        if not self._any or not (shifted or press.modifiers() == Qt.KeyboardModifier.NoModifier):
            return False
        cursor = self._editor.textCursor()
        block, target = cursor.block(), -1
        if press.key() == Qt.Key.Key_Right and cursor.atBlockEnd() and self.is_folded(block):
            after = next_visible(block)
            target = after.position() if after.isValid() else cursor.position()
        elif press.key() == Qt.Key.Key_Left and cursor.atBlockStart():
            above = block.previous()
            if above.isValid() and not above.isVisible():
                head = self._head_of(above)
                target = head.position() + head.length() - 1
        if target < 0:
            return False
        mode = QTextCursor.MoveMode
        cursor.setPosition(target, mode.KeepAnchor if shifted else mode.MoveAnchor)
        self._editor.setTextCursor(cursor)
        return True

    # Painting

    def widened(self, rows: tuple[VisibleRow, ...], style: EditorStyle) -> tuple[VisibleRow, ...]:
        """Return the rows with the chips of folded headers counted as text."""
        self.chips = {}
        if not self._any:
            return rows
        found = []
        for row in rows:
            block = self._document.findBlockByNumber(row.line - 1)
            if self.is_folded(block):
                width = style.value_metrics.horizontalAdvance(self._words(block)) + 2 * PAD
                chip = QRectF(row.text_end + GAP, row.top + 4, width, row.height - 8)
                self.chips[row.line] = chip
                row = row._replace(text_end=chip.right())
            found.append(row)
        return tuple(found)

    def _words(self, header: QTextBlock) -> str:
        return "⋯ " + ngettext("{count:,} line", "{count:,} lines", self.hidden_lines(header))

    def paint(self, painter: QPainter, style: EditorStyle) -> None:
        """Paint the chips that `widened` has placed."""
        painter.setFont(style.value_font)
        for line, chip in self.chips.items():
            painter.setPen(QPen(style.theme.line_strong, 1))
            painter.setBrush(style.theme.panel2)
            painter.drawRoundedRect(chip, 6, 6)
            painter.setPen(style.theme.ink2)
            words = self._words(self._document.findBlockByNumber(line - 1))
            painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, words)

    def chip_at(self, at: QPointF) -> int:
        """Return the line whose chip is at a point of the viewport; 0 without one."""
        return next((line for line, chip in self.chips.items() if chip.contains(at)), 0)
