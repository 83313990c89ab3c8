"""Line layout of an editor: spaced rows, and conversion between columns and x positions."""

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QTextBlock, QTextDocument, QTextLine
from PySide6.QtWidgets import QPlainTextDocumentLayout, QPlainTextEdit

from gradscribe.widgets.editor.highlight import column_text, units
from gradscribe.widgets.editor.style import EditorStyle


class SpacedLayout(QPlainTextDocumentLayout):
    """A plain text layout with ``gap`` pixels above each line.

    Qt's own layout has no line height. Half of the gap counts towards the line above it, so that
    text is centred in its row; see `VisibleRow`.
    """

    def __init__(self, document: QTextDocument, gap: float) -> None:
        super().__init__(document)
        self._gap = gap

    def set_gap(self, gap: float) -> None:
        """Set the gap; the caller has to change the document's font as well, which lays it out."""
        self._gap = gap

    def blockBoundingRect(self, block: QTextBlock) -> QRectF:
        """Return the size of a block, moving its text down the first time; called by Qt."""
        rect = super().blockBoundingRect(block)
        layout = block.layout()
        if not layout.lineCount() or layout.lineAt(0).y() >= self._gap:
            return rect
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            line.setPosition(QPointF(line.x(), line.y() + self._gap))
        return super().blockBoundingRect(block)


class VisibleRow(NamedTuple):
    """One visible line, in the viewport's coordinates."""

    line: int
    """From 1."""
    top: float
    height: float
    text_end: float
    """The x at which the text ends."""

    @property
    def bottom(self) -> float:
        """The y of the lower border."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """The y of the middle, of both row and text."""
        return self.top + self.height / 2


def visible_rows(edit: QPlainTextEdit, gap: float) -> Iterator[VisibleRow]:
    """Yield the visible rows of ``edit`` from top to bottom."""
    block = edit.firstVisibleBlock()
    offset = edit.contentOffset()
    top = edit.blockBoundingGeometry(block).translated(offset).top()
    height = edit.viewport().height()
    while block.isValid() and top + gap / 2 < height:
        size = edit.blockBoundingRect(block)
        line = block.layout().lineAt(0)
        end = offset.x() + line.x() + line.naturalTextWidth()
        yield VisibleRow(block.blockNumber() + 1, top + gap / 2, gap + line.height(), end)
        top += size.height()
        block = next_visible(block)


def next_visible(block: QTextBlock) -> QTextBlock:
    """Return the next line that is not folded; there may be very many that are."""
    below = block.next()
    if not below.isValid() or below.isVisible():
        return below
    # Folded blocks have no lines.
    number = block.firstLineNumber() + block.lineCount()
    found = block.document().findBlockByLineNumber(number)
    return found if found.blockNumber() > block.blockNumber() else QTextBlock()


def span_x(edit: QPlainTextEdit, block: QTextBlock, start: int, end: int) -> tuple[float, float]:
    """Return the left and right x of the characters ``start`` to ``end`` of ``block``."""
    line, text = _line(edit, block), block.text()
    left = edit.contentOffset().x() + _x(line, units(text[:start]))
    return left, edit.contentOffset().x() + _x(line, units(text[:end]))


def column_at(edit: QPlainTextEdit, block: QTextBlock, x: float) -> int | None:
    """Return the column, in characters, of the character of ``block`` at ``x``; None beyond it."""
    line = _line(edit, block)
    inside = x - edit.contentOffset().x()
    if not line.x() <= inside < line.x() + line.naturalTextWidth():
        return None
    found = line.xToCursor(inside, QTextLine.CursorPosition.CursorOnCharacter)
    return len(column_text(block.text(), found))


def paint_placeholder(
    painter: QPainter, edit: QPlainTextEdit, row: VisibleRow, words: str, style: EditorStyle
) -> None:
    """Paint the placeholder of an empty editor at its first line.

    Qt's own placeholder ignores the gap between lines and would be too high.
    """
    painter.setFont(edit.font())
    painter.setPen(style.theme.ink3)
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip
    painter.drawText(QRectF(row.text_end, row.top, 1, row.height), flags, words)


def paint_wave(painter: QPainter, left: float, right: float, y: float, style: EditorStyle) -> None:
    """Paint a wavy error underline from ``left`` to ``right``."""
    half, height = style.px * 0.19, style.px * 0.21
    path = QPainterPath(QPointF(left, y))
    x, up = left, True
    while x < right:
        path.quadTo(x + half / 2, y - height if up else y + height, x + half, y)
        x, up = x + half, not up
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.error, max(1.2, style.px * 0.1)))
    painter.drawPath(path)


def _line(edit: QPlainTextEdit, block: QTextBlock) -> QTextLine:
    edit.blockBoundingRect(block)
    return block.layout().lineAt(0)


def _x(line: QTextLine, column: int) -> float:
    found: object = line.cursorToX(column)
    # PySide returns a tuple of x and column here.
    first = found[0] if isinstance(found, tuple) else found
    assert isinstance(first, float)
    return first
