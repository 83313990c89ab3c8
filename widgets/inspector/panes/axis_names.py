"""Names of the rows and columns of a map, drawn left of and below its cells."""

from dataclasses import dataclass
from functools import lru_cache
from math import cos, radians

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from gradscribe.widgets.base.theme import Theme, ui_font

SIZE = 11
"""Font size in pixels."""
LEAST_CELL = 10.0
"""Height of a row, or width of a column, from which its name is drawn."""
GAP = 6.0
LARGEST_PART = 0.3
"""Largest part of the width that names take; longer ones are elided."""
LARGEST_BELOW = 56.0
LONGEST_SLANTED = 52
"""Length of a turned name, in pixels, from which it is elided."""
SLANT = 50.0
"""Degrees by which names of columns rise towards their column where they are wider than these.

They end at their column, so that the last one needs no space to the right of the map.
"""


@dataclass(frozen=True)
class AxisNames:
    """The names of all rows and columns."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def left(self, width: float) -> float:
        """Return the width of the names in a map ``width`` pixels wide; 0 if rows are too low."""
        widest = _widest(self.rows)
        if self._is_slanted(width / max(1, len(self.columns))):
            widest = max(widest, cos(radians(SLANT)) * min(LONGEST_SLANTED, _widest(self.columns)))
        taken = min(widest + GAP, LARGEST_PART * width)
        fits = (width - taken) / max(1, len(self.columns)) >= LEAST_CELL
        return taken if fits else 0.0

    def below(self, wide: float) -> float:
        """Return the height of the names below columns ``wide`` pixels wide."""
        if wide < LEAST_CELL:
            return 4.0
        if not self._is_slanted(wide):
            return QFontMetricsF(ui_font(SIZE)).height() + 4.0
        return min(LARGEST_BELOW, 0.8 * _widest(self.columns) + 14.0)

    def place(self, row: int, column: int) -> str:
        """Return ``it → mat  `` for a tooltip."""
        return f"{self.rows[row]} → {self.columns[column]}  "

    def paint(
        self, painter: QPainter, theme: Theme, at: tuple[float, float, float], marked: int | None
    ) -> None:
        """Draw the names; ``at``: left edge of the cells, width and height of each."""
        left, wide, high = at
        plain, bold = ui_font(SIZE), ui_font(SIZE, 600)
        metrics = QFontMetricsF(bold)
        if left and high >= LEAST_CELL:
            for number, name in enumerate(self.rows):
                painter.setFont(bold if number == marked else plain)
                painter.setPen(theme.ink if number == marked else theme.ink2)
                box = QRectF(0, number * high, left - GAP, high)
                text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, box.width())
                side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                painter.drawText(box, side, text)
        if wide >= LEAST_CELL:
            painter.setFont(plain)
            painter.setPen(theme.ink2)
            self._paint_columns(painter, left, wide, high * len(self.rows) + 3)

    def _paint_columns(self, painter: QPainter, left: float, wide: float, top: float) -> None:
        metrics = painter.fontMetrics()
        if not self._is_slanted(wide):
            for number, name in enumerate(self.columns):
                box = QRectF(left + number * wide, top, wide, metrics.height())
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)
            return
        for number, name in enumerate(self.columns):
            text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, LONGEST_SLANTED)
            painter.save()
            painter.translate(QPointF(left + (number + 0.6) * wide, top + 5))
            painter.rotate(-SLANT)
            painter.drawText(QPointF(-metrics.horizontalAdvance(text), metrics.ascent() / 2), text)
            painter.restore()

    def _is_slanted(self, wide: float) -> bool:
        return _widest(self.columns) > wide - 2


@lru_cache(maxsize=64)
def _widest(names: tuple[str, ...]) -> float:
    metrics = QFontMetricsF(ui_font(SIZE, 600))
    return max((metrics.horizontalAdvance(name) for name in names), default=0.0)
