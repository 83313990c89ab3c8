"""Marks of findings in the code: a dotted underline at the place, a ring at the line's number."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.engine.protocol.tape import Finding
from gradscribe.playback.translation import translated
from gradscribe.widgets.editor import line_layout, source_text
from gradscribe.widgets.editor.highlight import units
from gradscribe.widgets.editor.line_layout import VisibleRow
from gradscribe.widgets.editor.style import BAR, EditorStyle


class FindingMarks:
    """Underlines that move with their text, as an editor's cursors do."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        self._editor = editor
        self._marks: list[tuple[QTextCursor, Finding]] = []
        self._shown: tuple[Finding, ...] = ()

    def set_findings(self, findings: Sequence[Finding]) -> None:
        """Mark the first line of each finding; unchanged findings keep their marks."""
        if tuple(findings) == self._shown:
            return
        self._shown = tuple(findings)
        document = self._editor.document()
        lines = self._editor.toPlainText().split("\n")
        self._marks = []
        for finding in findings:
            for number, start, end in source_text.underline_ranges(finding.place, lines)[:1]:
                block = document.findBlockByNumber(number)
                at, text = block.position(), block.text()
                first, last = at + units(text[:start]), at + units(text[:end])
                self._marks.append((source_text.range_cursor(document, first, last), finding))
        self._editor.viewport().update()

    def ranges(self) -> list[tuple[int, int, int]]:
        """Return the underlined ranges: line (from 1), start and end column in characters."""
        return source_text.selected_ranges([cursor for cursor, _ in self._marks])

    def lines(self) -> frozenset[int]:
        """Return the marked lines, from 1."""
        return frozenset(line for line, _, _ in self.ranges())

    def about(self, line: int) -> str:
        """Return the tooltip of a line; empty without a finding."""
        found = []
        for cursor, finding in self._marks:
            block = self._editor.document().findBlock(cursor.selectionStart())
            if block.blockNumber() + 1 == line:
                found.append(f"{translated(finding.title)}. {translated(finding.message)}.")
        return "\n".join(found)

    def paint(self, painter: QPainter, rows: tuple[VisibleRow, ...], style: EditorStyle) -> None:
        """Paint the underlines of the visible rows."""
        tops = {row.line: row for row in rows}
        pen = QPen(style.theme.data, 1.6, Qt.PenStyle.DotLine)
        for line, start, end in self.ranges():
            if line in tops:
                block = self._editor.document().findBlockByNumber(line - 1)
                left, right = line_layout.span_x(self._editor, block, start, end)
                y = tops[line].middle + style.metrics.ascent() * 0.5 + 3
                painter.setPen(pen)
                painter.drawLine(QPointF(left, y), QPointF(min(right, self._editor.width()), y))


def paint_ring(painter: QPainter, row: VisibleRow, style: EditorStyle) -> None:
    """Paint the ring next to the number of a line with a finding."""
    painter.setPen(QPen(style.theme.data, 1.6))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(QRectF(BAR - 0.5, row.middle - 2, 4, 4))
