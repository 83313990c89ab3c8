"""Sample drawings of the legend: cards, wires and marks."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from gradscribe.playback.graph.marks import SHARED
from gradscribe.playback.graph.reading import NABLA
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.graph.paint import shapes
from gradscribe.widgets.graph.paint.card import bubbles, failed_card

DrawSample = Callable[[QPainter, Theme, QRectF], None]


def _pill(painter: QPainter, box: QRectF, line: QColor, fill: QColor, dashed: bool = False) -> None:
    pen = QPen(line, 1.3)
    if dashed:
        pen.setDashPattern([3, 2.5])
    painter.setPen(pen)
    painter.setBrush(fill)
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)


def _parameter(painter: QPainter, theme: Theme, box: QRectF) -> None:
    _pill(painter, box, theme.parameter, theme.parameter_soft)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.parameter)
    c = box.center()
    points = [QPointF(0, -5), QPointF(5, 0), QPointF(0, 5), QPointF(-5, 0)]
    painter.drawPolygon(QPolygonF([c + p for p in points]))


def _data(painter: QPainter, theme: Theme, box: QRectF) -> None:
    _pill(painter, box, theme.data, theme.data_soft)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.data)
    painter.drawEllipse(box.center(), 4, 4)


def _constant(painter: QPainter, theme: Theme, box: QRectF) -> None:
    _pill(painter, box, theme.constant, theme.constant_soft, dashed=True)
    painter.setPen(QPen(theme.constant, theme.stroke(1.8)))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(box.center(), 3.6, 3.6)


def _operation(painter: QPainter, theme: Theme, box: QRectF) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.surface)
    painter.drawRoundedRect(box, 6, 6)
    card = QPainterPath()
    card.addRoundedRect(box, 6, 6)
    painter.save()
    painter.setClipPath(card)
    painter.fillRect(QRectF(box.left(), box.top(), 5, box.height()), faded(theme.forward, 0.6))
    painter.restore()
    painter.setPen(QPen(theme.line_strong, theme.stroke(1.2)))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(card)


def _module(painter: QPainter, theme: Theme, box: QRectF) -> None:
    painter.setPen(QPen(theme.line_strong, theme.stroke(1.1)))
    painter.setBrush(theme.module_soft)
    for step in (2, 1, 0):
        painter.drawRoundedRect(
            box.adjusted(2.5 * step, 5 - 2.5 * step, -2.5 * step, -2.5 * step), 5, 5
        )
    painter.setPen(QPen(theme.module, theme.stroke(1.8)))
    c = box.center() + QPointF(0, 2.5)
    painter.drawPolyline(QPolygonF([c + QPointF(-2, -4), c + QPointF(2, 0), c + QPointF(-2, 4)]))


def _loss(painter: QPainter, theme: Theme, box: QRectF) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.ink)
    painter.drawRoundedRect(box, 6, 6)


def _moving(painter: QPainter, box: QRectF, color: QColor) -> QPointF:
    y, c = box.center().y(), box.center()
    for width, opacity in ((9.0, 0.14), (2.4, 1.0)):
        pen = QPen(faded(color, opacity), width)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawLine(QPointF(box.left() + 1, y), QPointF(box.right() - 1, y))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(faded(color, 0.3))
    painter.drawEllipse(c, 9, 9)
    return c


def _gradient(painter: QPainter, theme: Theme, box: QRectF) -> None:
    c = _moving(painter, box, theme.backward)
    points = [QPointF(-6, 0), QPointF(5, -5.5), QPointF(2.5, 0), QPointF(5, 5.5)]
    painter.setBrush(theme.backward)
    painter.setPen(QPen(theme.panel, 1.2))
    painter.drawPolygon(QPolygonF([c + p for p in points]))


def _value(painter: QPainter, theme: Theme, box: QRectF) -> None:
    c = _moving(painter, box, theme.forward)
    painter.setBrush(theme.forward)
    painter.setPen(QPen(theme.panel, 1.5))
    painter.drawEllipse(c, 5.2, 5.2)


def _cut(painter: QPainter, theme: Theme, box: QRectF) -> None:
    pen = QPen(theme.edge, theme.stroke(1.6))
    pen.setDashPattern([3.5, 2.5])
    painter.setPen(pen)
    y = box.center().y()
    painter.drawLine(QPointF(box.left() + 1, y), QPointF(box.right() - 1, y))


def _norm(painter: QPainter, theme: Theme, box: QRectF) -> None:
    shapes.fill(painter, box, 11, theme.backward_soft)
    shapes.outline(painter, box, 11, theme.backward, 1.3)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.backward)
    painter.drawPolygon(shapes.up_triangle(box.center() - QPointF(8, 0), 4.2))
    shapes.write(painter, box.adjusted(19, 0, 0, 0), NABLA, theme.backward, 13, 600)


def _scissors(painter: QPainter, theme: Theme, box: QRectF) -> None:
    _cut(painter, theme, box)
    shapes.scissors(painter, box.center(), theme.surface, theme.ink2)


def _shared(painter: QPainter, theme: Theme, box: QRectF) -> None:
    # The tag stands over the lower left corner of its card, which is not drawn.
    text = f"{SHARED} w"
    tag = bubbles.tag_box(QRectF(), text)
    card = QRectF(box.center() - tag.center(), QRectF().size())
    bubbles.paint_tag(painter, card, text, theme)


def _version(painter: QPainter, theme: Theme, box: QRectF) -> None:
    _tag(painter, theme, box, "v2")


def _mode(painter: QPainter, theme: Theme, box: QRectF) -> None:
    _tag(painter, theme, box, "eval")


def _tag(painter: QPainter, theme: Theme, box: QRectF, text: str) -> None:
    tag = bubbles.tag_box(QRectF(), text)
    bubbles.paint_tag(painter, QRectF(box.center() - tag.center(), QRectF().size()), text, theme)


def _update(painter: QPainter, theme: Theme, box: QRectF) -> None:
    shapes.fill(painter, box, 10, theme.parameter)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.surface)
    painter.drawPolygon(shapes.diamond(box.center() - QPointF(8, 0), 4.4))
    shapes.write(painter, box.adjusted(20, 0, 0, 0), "→", theme.surface, 12, 600)


def _bad(painter: QPainter, theme: Theme, box: QRectF) -> None:
    card = shapes.rounded(box, 6)
    shapes.fill(painter, box, 6, theme.surface)
    shapes.hatch(painter, card, faded(theme.ink, 0.35), 6)
    shapes.outline(painter, box, 6, theme.ink, 1.6)


def _waiting(painter: QPainter, theme: Theme, box: QRectF) -> None:
    painter.save()
    painter.setOpacity(0.62)
    shapes.fill(painter, box, 6, theme.surface)
    shapes.outline(painter, box, 6, theme.line_strong, 1.2)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.line_strong)
    for dx in (-7, 0, 7):
        painter.drawEllipse(box.center() + QPointF(dx, 0), 1.6, 1.6)
    painter.restore()


def _failed(painter: QPainter, theme: Theme, box: QRectF) -> None:
    card = box.adjusted(1, 5, -8, -1)
    shapes.fill(painter, card, 6, theme.surface)
    shapes.outline(painter, card, 6, theme.error, 1.6)
    failed_card.paint_sign(painter, card, theme)


SAMPLES: tuple[tuple[str, DrawSample], ...] = (
    (tr("parameter, gets a gradient"), _parameter),
    (tr("input data"), _data),
    (tr("constant, no gradient"), _constant),
    (tr("operation, stripe = value"), _operation),
    (tr("module, folded"), _module),
    (tr("loss"), _loss),
    (tr("gradient on its way back"), _gradient),
    (tr("value on its way forward"), _value),
    (tr("no gradient comes back here"), _cut),
    (tr("{nabla} size (norm) of a tensor's gradient", nabla=NABLA), _norm),
    (tr("a gradient is cut off here"), _scissors),
    (tr("shares its memory with w"), _shared),
    (tr("changed in place, twice"), _version),
    (tr("module in eval mode"), _mode),
    (tr("what an update changed"), _update),
    (tr("holds NaN or infinity"), _bad),
    (tr("not reached yet"), _waiting),
    (tr("the program stopped here"), _failed),
)
"""Meaning of each sample, and the function that draws it into a box."""
