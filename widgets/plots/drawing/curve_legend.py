"""Legend of curves, in lines below a plot."""

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from gradscribe.widgets.base.theme import Theme, mono_font

SIZE = 11.0
STROKE, GAP, APART = 16.0, 6.0, 14.0
"""Pixels of a stroke, of the gap to its name, and of the gap between entries."""
MOST_LINES = 2
SHARE = 0.3
"""Largest share of the plot's height for the legend."""

CurveEntry = tuple[str, QColor, tuple[float, ...]]
"""Name, colour and dashes."""


def wrap_entries(
    entries: Sequence[CurveEntry], width: float, letters: QFontMetricsF
) -> list[list[CurveEntry]]:
    """Return the entries line by line, as many per line as fit into ``width`` pixels."""
    lines: list[list[CurveEntry]] = []
    used = width
    for entry in entries:
        wide = STROKE + GAP + letters.horizontalAdvance(entry[0]) + APART
        if used + wide - APART > width:
            lines.append([])
            used = 0.0
        lines[-1].append(entry)
        used += wide
    return lines


def draw_legend(
    painter: QPainter, area: QRectF, entries: Sequence[CurveEntry], theme: Theme
) -> QRectF:
    """Draw the legend at the bottom of ``area``; return the rest of the area.

    If it needs too many lines nothing is drawn, as a partial legend would mislead.
    """
    painter.setFont(mono_font(SIZE * theme.scale))
    letters = QFontMetricsF(painter.font())
    lines = wrap_entries(entries, area.width(), letters)
    tall, stroke = letters.height() + 2, theme.stroke(2)
    if len(lines) > MOST_LINES or len(lines) * tall > SHARE * area.height():
        return area
    top = area.bottom() - len(lines) * tall
    for row, line in enumerate(lines):
        x, y = area.left(), top + row * tall
        for name, color, dashes in line:
            pen = QPen(color, stroke)
            if dashes:
                pen.setDashPattern([dash / stroke for dash in dashes])
                pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            painter.drawLine(QLineF(x, y + tall / 2, x + STROKE, y + tall / 2))
            painter.setPen(theme.ink2)
            wide = letters.horizontalAdvance(name)
            place = QRectF(x + STROKE + GAP, y, wide + 2, tall)
            painter.drawText(
                place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name
            )
            x += STROKE + GAP + wide + APART
    return area.adjusted(0, 0, 0, -len(lines) * tall - 2)
