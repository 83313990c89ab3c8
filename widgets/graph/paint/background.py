"""Background of the canvas: its dots, its grey when out of date, and the notice of that."""

import math
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPixmap

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint import shapes

STALE_NOTICE = tr("stale: showing the last good graph")
PARTLY_STALE_NOTICE = tr("grey is stale: of the last good run")
_STEP = 24.0
_PIECE = 1 << 16


def paint_dots(painter: QPainter, view: QRectF, camera: Camera, theme: Theme) -> None:
    """Dot the background of an area; the step doubles or halves to keep the density even."""
    step = _STEP * camera.zoom
    step *= 2.0 ** round(math.log2(_STEP / step))
    device = painter.device()
    tile = _tile(theme, round(step * device.devicePixelRatioF()), device.devicePixelRatioF())
    side = tile.deviceIndependentSize().width()
    middle = side / 2
    offset = QPointF(
        (view.left() - camera.x + middle) % side, (view.top() - camera.y + middle) % side
    )
    painter.drawTiledPixmap(view, tile, offset)


@lru_cache(maxsize=32)
def _tile(theme: Theme, side: int, ratio: float) -> QPixmap:
    """Return a square of ``side`` device pixels with a dot in its middle."""
    tile = QPixmap(side, side)
    tile.setDevicePixelRatio(ratio)
    tile.fill(theme.canvas)
    with QPainter(tile) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.dots)
        middle = side / ratio / 2
        painter.drawEllipse(QPointF(middle, middle), 0.95, 0.95)
    return tile


def to_grey(pixmap: QPixmap) -> QPixmap:
    """Return an opaque pixmap in grey levels, weighted as in `qGray`."""
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.bits(), np.uint32)
    # In pieces that fit a CPU cache: Qt's own conversion of the whole took 6 to 24 ms.
    for start in range(0, len(pixels), _PIECE):
        piece = pixels[start : start + _PIECE]
        grey = (piece >> 16 & 255) * 11 + (piece >> 8 & 255) * 16 + (piece & 255) * 5 >> 5
        piece[:] = grey * 0x010101 | 0xFF000000
    result = QPixmap.fromImage(image)
    result.setDevicePixelRatio(pixmap.devicePixelRatio())
    return result


def paint_stale(painter: QPainter, view: QRectF, theme: Theme, notice: str) -> None:
    """Paint the notice that the graph is out of date at the top of the widget."""
    width = shapes.text_width(notice, 12, 500) + 40
    box = QRectF(view.center().x() - width / 2, view.top() + 7, width, 24)
    shapes.fill(painter, box, 12, theme.surface)
    shapes.outline(painter, box, 12, theme.line_strong, 1.2, (4.0, 3.0))
    painter.setPen(shapes.pen(theme.ink2, 1.6))
    middle = QPointF(box.left() + 17, box.center().y())
    painter.drawEllipse(middle, 5.0, 5.0)
    painter.drawLine(middle, QPointF(middle.x(), middle.y() - 3))
    painter.drawLine(middle, QPointF(middle.x() + 2.4, middle.y()))
    shapes.write(painter, box.adjusted(28, 0, -6, 0), notice, theme.ink2, 12, 500)
