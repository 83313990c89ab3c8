"""The breakpoints of an editor: lines at which playback stops, which move with their text."""

from collections.abc import Collection

from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtGui import QPainter, QPen, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import faded
from gradscribe.widgets.editor.line_layout import VisibleRow
from gradscribe.widgets.editor.style import BAR, EditorStyle

SIZE = 9.0
"""Diameter of a breakpoint in pixels."""
MIDDLE = BAR + 5 + SIZE / 2 + 1
"""The x of its middle in the gutter, right of the marks of errors and findings."""
SPACE = round(MIDDLE + SIZE / 2 + 1)
"""Pixels at the left of the gutter in which a click sets and removes breakpoints."""
SET = tr("Stop here when playing (F9)")
REMOVE = tr("Breakpoint: playing stops here. Click to remove it (F9)")
NOT_REACHED = tr("Breakpoint: nothing is recorded on this line yet. Click to remove it (F9)")


class Breakpoints(QObject):
    """The lines that were marked; a mark goes with its text, and away with its line."""

    changed = Signal(tuple)
    """The lines from 1, in order, after the user or an edit has changed them."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        super().__init__(editor)
        self._editor = editor
        self._cursors: list[QTextCursor] = []
        self._count = editor.blockCount()
        self._shown: tuple[int, ...] = ()
        self._reached: frozenset[int] = frozenset()
        editor.document().contentsChange.connect(self._on_contents_change)

    def lines(self) -> tuple[int, ...]:
        """Return the marked lines from 1, in order."""
        return self._shown

    def set_lines(self, lines: Collection[int]) -> None:
        """Mark these lines, from 1, and no others; lines that do not exist are ignored."""
        if tuple(sorted(lines)) == self._shown:
            return
        self._mark(lines)
        self._publish()

    def set_reached(self, lines: frozenset[int]) -> None:
        """Draw the breakpoints of other lines hollow: nothing is recorded there."""
        if lines != self._reached:
            self._reached = lines
            self._editor.viewport().update()

    def shown(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return the marked lines, and those on which something is recorded."""
        return frozenset(self._shown), self._reached

    def toggle(self, line: int) -> None:
        """Mark ``line``, from 1, or remove its mark."""
        self.set_lines(set(self._shown) ^ {line})

    def about(self, line: int) -> str:
        """Return the tooltip of the place of a line's breakpoint."""
        if line not in self._shown:
            return SET
        return REMOVE if line in self._reached else NOT_REACHED

    def _on_contents_change(self, position: int, removed: int, added: int) -> None:
        """Drop the marks of lines that were removed, and publish where the others are now."""
        document = self._editor.document()
        fewer, self._count = self._count - document.blockCount(), document.blockCount()
        if not self._cursors:
            return
        if removed and not added and fewer > 0:
            # The cursors of removed lines now stand in what follows.
            block = document.findBlock(position)
            first = block.blockNumber() + (2 if position > block.position() else 1)
            left = [k if k < first else k - fewer for k in self._shown]
            pairs = zip(self._shown, left, strict=True)
            self._mark({now for was, now in pairs if was < first or now >= first})
        self._publish()

    def _mark(self, lines: Collection[int]) -> None:
        self._cursors = []
        for line in sorted(set(lines)):
            block = self._editor.document().findBlockByNumber(line - 1)
            if line > 0 and block.isValid():
                self._cursors.append(QTextCursor(block))

    def _publish(self) -> None:
        kept: dict[int, QTextCursor] = {}
        for cursor in self._cursors:
            kept.setdefault(cursor.blockNumber() + 1, cursor)
        self._cursors = list(kept.values())
        lines = tuple(sorted(kept))
        if lines != self._shown:
            self._shown = lines
            self._editor.viewport().update()
            self.changed.emit(lines)


def paint_breakpoint(
    painter: QPainter, row: VisibleRow, style: EditorStyle, is_set: bool, is_reached: bool
) -> None:
    """Paint the breakpoint of a row; faint if it is not set, hollow if nothing reaches it."""
    color = style.theme.selection if is_set else faded(style.theme.selection, 0.4)
    painter.setPen(QPen(color, 1.6))
    painter.setBrush(color if is_set and is_reached else Qt.BrushStyle.NoBrush)
    painter.drawEllipse(QPointF(MIDDLE, row.middle), SIZE / 2 - 0.8, SIZE / 2 - 0.8)
