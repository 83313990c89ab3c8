"""Where the lines of an editor stand: rows with room around the text, and what is under a point."""

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QTextBlock, QTextDocument, QTextLine
from PySide6.QtWidgets import QPlainTextDocumentLayout, QPlainTextEdit

from widgets.code_style import Style
from widgets.highlight import column_text, units


class SpacedLayout(QPlainTextDocumentLayout):
    """A plain text layout with ``gap`` pixels above each line.

    Qt's own knows no line height. Half of the gap counts as belonging to the line above it, so
    that text stands in the middle of its row; see `Row`.
    """

    def __init__(self, document: QTextDocument, gap: float) -> None:
        super().__init__(document)
        self._gap = gap

    def set_gap(self, gap: float) -> None:
        """Take another gap; whoever does so changes the document's font as well."""
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


class Row(NamedTuple):
    """One visible line, in the viewport's coordinates."""

    line: int
    """From 1."""
    top: float
    height: float
    text_end: float
    """Where the text ends, in x."""

    @property
    def bottom(self) -> float:
        """The lower border in y."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """The middle in y, of row and text alike."""
        return self.top + self.height / 2


def rows(edit: QPlainTextEdit, gap: float) -> Iterator[Row]:
    """Yield the visible rows of ``edit`` from top to bottom."""
    block = edit.firstVisibleBlock()
    offset = edit.contentOffset()
    top = edit.blockBoundingGeometry(block).translated(offset).top()
    height = edit.viewport().height()
    while block.isValid() and top + gap / 2 < height:
        size = edit.blockBoundingRect(block)
        line = block.layout().lineAt(0)
        end = offset.x() + line.x() + line.naturalTextWidth()
        yield Row(block.blockNumber() + 1, top + gap / 2, gap + line.height(), end)
        top += size.height()
        block = block.next()


def span_x(edit: QPlainTextEdit, block: QTextBlock, start: int, end: int) -> tuple[float, float]:
    """Return left and right of the characters ``start`` to ``end`` of ``block``, in x."""
    line, text = _line(edit, block), block.text()
    left = edit.contentOffset().x() + _x(line, units(text[:start]))
    return left, edit.contentOffset().x() + _x(line, units(text[:end]))


def character_at(edit: QPlainTextEdit, block: QTextBlock, x: float) -> int | None:
    """Return the column, in characters, of the character of ``block`` at ``x``, if there is one."""
    line = _line(edit, block)
    inside = x - edit.contentOffset().x()
    if not line.x() <= inside < line.x() + line.naturalTextWidth():
        return None
    found = line.xToCursor(inside, QTextLine.CursorPosition.CursorOnCharacter)
    return len(column_text(block.text(), found))


def paint_empty(
    painter: QPainter, edit: QPlainTextEdit, row: Row, words: str, style: Style
) -> None:
    """Write what one may do in an empty editor where its first line is going to stand.

    Qt's own placeholder knows nothing of the gap between lines and stands too high.
    """
    painter.setFont(edit.font())
    painter.setPen(style.theme.ink3)
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip
    painter.drawText(QRectF(row.text_end, row.top, 1, row.height), flags, words)


def paint_wave(painter: QPainter, left: float, right: float, y: float, style: Style) -> None:
    """Paint the wave that says error under a stretch of text."""
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
    # PySide hands back the column beside the place.
    first = found[0] if isinstance(found, tuple) else found
    assert isinstance(first, float)
    return first
