"""Error look of the card in which the program ended, with the exception raised there."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from gradscribe.playback.graph.picture import Card
from gradscribe.playback.graph.reading import CardReading
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, mix
from gradscribe.widgets.graph.paint import shapes

WAITING = tr("stops here")
_SIGN = 9.5
"""Radius of the error sign at the upper right corner."""


def sign_box(box: QRectF) -> QRectF:
    """Return the box of the error sign: over the upper right corner."""
    middle = QPointF(box.right() - 3, box.top() + 2)
    return QRectF(middle.x() - _SIGN, middle.y() - _SIGN, 2 * _SIGN, 2 * _SIGN)


def paint_sign(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Paint a disc with an exclamation mark, so that failure is not shown by colour alone."""
    spot = sign_box(box)
    shapes.fill(painter, spot.adjusted(-1.5, -1.5, 1.5, 1.5), _SIGN + 1.5, theme.canvas)
    shapes.fill(painter, spot, _SIGN, theme.error)
    middle = spot.center()
    painter.setPen(shapes.pen(theme.surface, 2.2))
    painter.drawLine(QPointF(middle.x(), middle.y() - 5), QPointF(middle.x(), middle.y() + 1))
    painter.drawPoint(QPointF(middle.x(), middle.y() + 4.6))


def paint_inside(
    painter: QPainter, card: Card, box: QRectF, reading: CardReading, theme: Theme
) -> None:
    """Write title, name and error message into the card of a call that raised."""
    spot = QRectF(box.left() + 13, box.center().y() - 14, 28, 28)
    ground = mix(theme.error_soft, theme.surface, 0.8)
    shapes.chip(painter, spot, card.symbol or card.title[:1], ground, theme.error)
    row = QRectF(spot.right() + 11, box.top() + 8, box.right() - spot.right() - 23, 17)
    title = shapes.text_width(card.title, 13, 600)
    shapes.write(painter, row, card.title, theme.ink, 13, 600)
    beside = row.adjusted(title + 8, 0, -8, 0)
    shapes.write(painter, beside, card.name, theme.ink2, 11, 500, shapes.RIGHT)
    if reading.state == "waiting":
        below = row.translated(0, 18)
        shapes.write(painter, below, WAITING, theme.ink2, 11, 500)
        return
    most = max(1, int((box.bottom() - row.bottom() - 5) // 15))
    # On a tinted card red text would be hard to read.
    ink = theme.error if reading.tint is None else theme.ink
    for n, line in enumerate(wrap_text(card.failed, row.width(), most)):
        shapes.write(painter, row.translated(0, 18 + 15 * n), line, ink, 11, 500)


def wrap_text(text: str, room: float, most: int) -> list[str]:
    """Return ``text`` wrapped into at most ``most`` lines of ``room``; the last takes the rest."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and (len(lines) == most or shapes.text_width(longer, 11, 500) <= room):
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
