"""Drawing primitives: shadows, glows, chips, pills, role symbols, and fitted text."""

import math
from functools import lru_cache

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPaintEngine,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPen,
    QPixmap,
    QPolygonF,
)

from gradscribe.playback.text.fitting import fitted
from gradscribe.widgets.base.theme import Theme, faded, mono_font, ui_font

# Combined at import: joining Qt's flags costs as much as drawing the text.
_ONE_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
LEFT = _ONE_LINE | int(Qt.AlignmentFlag.AlignLeft)
RIGHT = _ONE_LINE | int(Qt.AlignmentFlag.AlignRight)
CENTER = _ONE_LINE | int(Qt.AlignmentFlag.AlignHCenter)

LEAST_SHRINK = 0.76
"""Share of their size to which letters shrink before a shape is left out."""
HATCH_WIDTH = 1.2
"""Line width of hatching."""


@lru_cache(maxsize=64)
def metrics(px: float, weight: int, mono: bool = False) -> QFontMetricsF:
    """Return the metrics of a font at 100 %."""
    return QFontMetricsF(mono_font(px, weight) if mono else ui_font(px, weight))


@lru_cache(maxsize=8192)
def text_width(text: str, px: float, weight: int = 400, mono: bool = False) -> float:
    """Return the width of ``text`` in scene units."""
    return metrics(px, weight, mono).horizontalAdvance(text)


@lru_cache(maxsize=8192)
def elided(text: str, room: float, px: float, weight: int = 400, mono: bool = False) -> str:
    """Return ``text``, cut with an ellipsis if it is wider than ``room`` scene units."""
    if text_width(text, px, weight, mono) <= room:
        return text
    return metrics(px, weight, mono).elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, room))


def write(
    painter: QPainter,
    box: QRectF,
    text: str,
    color: QColor,
    px: float,
    weight: int = 400,
    flags: int = LEFT,
    mono: bool = False,
) -> None:
    """Write a single line into ``box``, cut with an ellipsis where it is too long."""
    if not text or box.width() <= 0:
        return
    font: QFont = mono_font(px, weight) if mono else ui_font(px, weight)
    painter.setFont(font)
    painter.setPen(color)
    room = box.width() + 0.5
    painter.drawText(box, flags, elided(text, room, px, weight, mono))


def write_whole(
    painter: QPainter,
    box: QRectF,
    text: str,
    color: QColor,
    px: float,
    weight: int = 400,
    flags: int = LEFT,
    mono: bool = False,
) -> None:
    """Write a shape or number into ``box``: shorter or smaller where it must, never cut.

    Other texts are cut.
    """
    room = box.width() + 0.5
    for size in (px, px * 0.88, px * LEAST_SHRINK):
        form = _fitted(text, room, size, weight, mono)
        if form is None:
            write(painter, box, text, color, px, weight, flags, mono)
            return
        if form:
            write(painter, box, form, color, size, weight, flags, mono)
            return


@lru_cache(maxsize=8192)
def _fitted(text: str, room: float, px: float, weight: int, mono: bool) -> str | None:
    return fitted(text, lambda form: text_width(form, px, weight, mono) <= room)


def pen(color: QColor, width: float, dashes: tuple[float, ...] = ()) -> QPen:
    """Return a shared pen, not to be modified; ``dashes`` are lengths in scene units."""
    return _pen(color.rgba(), width, dashes)


@lru_cache(maxsize=512)
def _pen(rgba: int, width: float, dashes: tuple[float, ...]) -> QPen:
    result = QPen(QColor.fromRgba(rgba), width)
    result.setCapStyle(Qt.PenCapStyle.RoundCap if not dashes else Qt.PenCapStyle.FlatCap)
    result.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if dashes:
        result.setDashPattern([length / width for length in dashes])
    return result


def fill(painter: QPainter, box: QRectF, radius: float, color: QColor | QBrush) -> None:
    """Fill a rounded rectangle."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawRoundedRect(box, radius, radius)


def outline(
    painter: QPainter,
    box: QRectF,
    radius: float,
    color: QColor,
    width: float,
    dashes: tuple[float, ...] = (),
) -> None:
    """Stroke a rounded rectangle, the line inside ``box``."""
    inset = width / 2
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen(color, width, dashes))
    inner = box.adjusted(inset, inset, -inset, -inset)
    painter.drawRoundedRect(inner, radius - inset, radius - inset)


def body(
    painter: QPainter,
    box: QRectF,
    radius: float,
    color: QColor | QBrush,
    border: QColor,
    width: float,
    dashes: tuple[float, ...] = (),
) -> None:
    """Fill and stroke a rounded rectangle at once, the line inside ``box``."""
    inset = width / 2
    painter.setBrush(color)
    painter.setPen(pen(border, width, dashes))
    inner = box.adjusted(inset, inset, -inset, -inset)
    painter.drawRoundedRect(inner, radius - inset, radius - inset)


def shadow(painter: QPainter, box: QRectF, radius: float, theme: Theme) -> None:
    """Lay a soft shadow below a card."""
    engine, device = painter.paintEngine(), painter.device()
    if engine is None or engine.type() != QPaintEngine.Type.Raster or device is None:
        _shadow(painter, box, radius, theme)
        return
    scale = painter.transform().m11() * device.devicePixelRatioF()
    pixmap = _shadow_pixmap(theme, round(box.width()), round(box.height()), radius, scale)
    # On whole pixels and not scaled: anything else costs a hundred times as much.
    ratio = device.devicePixelRatioF()
    pixmap.setDevicePixelRatio(ratio)
    corner = painter.transform().map(box.topLeft() - QPointF(4, 4)) * ratio
    painter.save()
    painter.resetTransform()
    painter.drawPixmap(QPointF(round(corner.x()), round(corner.y())) / ratio, pixmap)
    painter.restore()


@lru_cache(maxsize=64)
def _shadow_pixmap(theme: Theme, width: int, height: int, radius: float, scale: float) -> QPixmap:
    """Return the shadow of a card size; cached, as many cards have the same size."""
    pixmap = QPixmap(math.ceil((width + 8) * scale), math.ceil((height + 10) * scale))
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(scale, scale)
        _shadow(painter, QRectF(4, 4, width, height), radius, theme)
    return pixmap


def _shadow(painter: QPainter, box: QRectF, radius: float, theme: Theme) -> None:
    strength = faded(theme.shadow, 0.16 if theme.dark else 0.035)
    for grow in (3.0, 2.0, 1.0, 0.0):
        ring = box.adjusted(-grow, -grow + 2.0, grow, grow + 2.0)
        fill(painter, ring, radius + grow, strength)


def glow(painter: QPainter, box: QRectF, radius: float, color: QColor) -> None:
    """Draw the glow around an active card."""
    for grow in (8.0, 6.0, 4.0, 2.0):
        fill(painter, box.adjusted(-grow, -grow, grow, grow), radius + grow, faded(color, 0.10))


def rounded(box: QRectF, radius: float) -> QPainterPath:
    """Return a rounded rectangle as a path."""
    path = QPainterPath()
    path.addRoundedRect(box, radius, radius)
    return path


def role_sign(painter: QPainter, kind: str, center: QPointF, theme: Theme) -> None:
    """Draw the symbol of a leaf's role: a diamond, a disc or a ring."""
    painter.setPen(Qt.PenStyle.NoPen)
    if kind == "parameter":
        painter.setBrush(theme.parameter)
        painter.drawPolygon(diamond(center, 6.0))
    elif kind == "data":
        painter.setBrush(theme.data)
        painter.drawEllipse(center, 5.0, 5.0)
    else:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.constant, 1.8))
        painter.drawEllipse(center, 4.4, 4.4)


def diamond(center: QPointF, half: float) -> QPolygonF:
    """Return a square on its tip."""
    x, y = center.x(), center.y()
    return QPolygonF(
        [QPointF(x, y - half), QPointF(x + half, y), QPointF(x, y + half), QPointF(x - half, y)]
    )


def up_triangle(center: QPointF, half: float) -> QPolygonF:
    """Return a triangle that points up, ``half`` as wide on each side."""
    x, y = center.x(), center.y()
    return QPolygonF(
        [
            QPointF(x, y - half * 0.9),
            QPointF(x + half, y + half * 0.8),
            QPointF(x - half, y + half * 0.8),
        ]
    )


def chip(painter: QPainter, box: QRectF, symbol: str, ground: QColor, ink: QColor) -> None:
    """Draw the square that holds an op's symbol; long symbols are set smaller, then cut."""
    fill(painter, box, 7.0, ground)
    px = next((px for px in (15.0, 13.0, 11.0) if text_width(symbol, px, 700) <= 24), 11.0)
    write(painter, box.adjusted(-4, 0, 4, -0.5), symbol, ink, px, 700, CENTER)


def chevron(painter: QPainter, center: QPointF, size: float, color: QColor, down: bool) -> None:
    """Draw the symbol of something that opens (pointing right) or closes (pointing down)."""
    x, y = center.x(), center.y()
    half = size / 2
    path = QPainterPath()
    if down:
        path.moveTo(x - size, y - half)
        path.lineTo(x, y + half)
        path.lineTo(x + size, y - half)
    else:
        path.moveTo(x - half, y - size)
        path.lineTo(x + half, y)
        path.lineTo(x - half, y + size)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen(color, 2.0))
    painter.drawPath(path)


def hatch(painter: QPainter, path: QPainterPath, color: QColor, step: float = 7.0) -> None:
    """Hatch a shape whose numbers are not finite, which must show without any colour."""
    box = path.boundingRect()
    tall, left = box.height(), box.left() - box.height()
    starts = (left + step * n for n in range(math.ceil((box.right() - left) / step)))
    lines = [QLineF(x, box.bottom(), x + tall, box.top()) for x in starts]
    if not _is_svg(painter):
        # Line by line: the cost of one path of many strokes grows with their square.
        painter.save()
        painter.setClipPath(path, Qt.ClipOperation.IntersectClip)
        painter.setPen(pen(color, HATCH_WIDTH))
        painter.drawLines(lines)
        painter.restore()
        return
    strokes = QPainterPath()
    for line in lines:
        strokes.moveTo(line.p1())
        strokes.lineTo(line.p2())
    stroker = QPainterPathStroker()
    stroker.setWidth(HATCH_WIDTH)
    fill_inside(painter, path, stroker.createStroke(strokes), color)


def fill_inside(painter: QPainter, shape: QPainterPath, part: QPainterPath, color: QColor) -> None:
    """Fill the intersection of two shapes; in SVG without a clip, which is not available there."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    if _is_svg(painter):
        painter.drawPath(part.intersected(shape))
        return
    painter.save()
    painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
    painter.drawPath(part)
    painter.restore()


def _is_svg(painter: QPainter) -> bool:
    engine = painter.paintEngine()
    return engine is not None and engine.type() == QPaintEngine.Type.SVG


def scissors(painter: QPainter, center: QPointF, ground: QColor, ink: QColor) -> None:
    """Draw a pair of scissors on a disc, the symbol of a cut gradient."""
    painter.setPen(pen(ink, 1.2))
    painter.setBrush(ground)
    painter.drawEllipse(center, 8.5, 8.5)
    x, y = center.x(), center.y()
    painter.setPen(pen(ink, 1.4))
    for side in (1.0, -1.0):
        painter.drawLine(QPointF(x - 2.2, y + 1.5 * side), QPointF(x + 5.0, y - 3.0 * side))
        painter.drawEllipse(QPointF(x - 3.6, y + 2.6 * side), 1.9, 1.9)
