"""Highlights of the matches of a search, painted for the visible lines alone."""

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.widgets.base.theme import faded
from gradscribe.widgets.editor import line_layout
from gradscribe.widgets.editor.find.unit_places import UnitPlaces
from gradscribe.widgets.editor.highlight import column_text
from gradscribe.widgets.editor.line_layout import VisibleRow
from gradscribe.widgets.editor.style import EditorStyle

MAX_PAINTED = 1000
"""Maximum number of highlights painted at once."""


class MatchMarks:
    """Matches as positions of the document; a change of the text hides them until the next."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        self._editor = editor
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.areas: list[QRectF] = []
        """The highlights as last painted, in the viewport."""
        editor.document().contentsChange.connect(self._forget)

    def set_matches(self, matches: Sequence[tuple[int, int]], source: str) -> None:
        """Show matches in ``source``, which is the text; columns in characters, in order."""
        place = UnitPlaces(source)
        self._starts = [place(start) for start, _ in matches]
        self._ends = [place(end) for _, end in matches]
        self._editor.viewport().update()

    def clear(self) -> None:
        """Show no matches."""
        self.set_matches((), "")

    def spans(self) -> list[tuple[int, int]]:
        """Return the matches as positions of the document."""
        return list(zip(self._starts, self._ends, strict=True))

    def _forget(self, _position: int, removed: int, added: int) -> None:
        if self._starts and (removed or added):
            self._starts, self._ends = [], []

    def next_from(self, position: int) -> int | None:
        """Return the index of the first match that begins at ``position`` or later, or of all."""
        if not self._starts:
            return None
        return bisect_left(self._starts, position) % len(self._starts)

    def last_before(self, position: int) -> int | None:
        """Return the index of the last match that begins before ``position``, or of all."""
        if not self._starts:
            return None
        return (bisect_left(self._starts, position) - 1) % len(self._starts)

    def paint(self, painter: QPainter, rows: tuple[VisibleRow, ...], style: EditorStyle) -> None:
        """Paint the highlights of the visible rows."""
        areas: list[QRectF] = []
        self.areas = areas
        if not self._starts:
            return
        document = self._editor.document()
        here = self._editor.textCursor()
        chosen = here.selectionStart(), here.selectionEnd()
        painter.setBrush(faded(style.theme.data, 0.28))
        for row in rows:
            block = document.findBlockByNumber(row.line - 1)
            top, text = block.position(), block.text()
            first = bisect_left(self._ends, top)
            for number in range(first, bisect_left(self._starts, top + block.length())):
                if len(areas) == MAX_PAINTED:
                    return
                span = self._starts[number], self._ends[number]
                if span[0] < span[1] == top:
                    continue
                start = len(column_text(text, max(0, span[0] - top)))
                end = len(column_text(text, min(span[1] - top, block.length() - 1)))
                left, right = line_layout.span_x(self._editor, block, start, end)
                area = QRectF(
                    left, row.middle - row.height * 0.4, max(right - left, 2.0), row.height * 0.8
                )
                is_chosen = span == chosen
                painter.setPen(QPen(style.theme.data, 1.4) if is_chosen else Qt.PenStyle.NoPen)
                painter.drawRoundedRect(area, 3, 3)
                areas.append(area)
