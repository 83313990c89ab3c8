"""Thumbnail of a tensor's numbers on its card."""

import numpy as np
from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QPaintEngine, QPainter

from gradscribe.playback.graph.reading import CardReading
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.graph.paint import heat, shapes

WIDTH = (36.0, 76.0)
HEIGHT = (9.0, 40.0)
CELL = 8.0
MAX_CELLS = 32
"""Largest thumbnail drawn as rectangles in an SVG; bigger ones, as rectangles, made 100 MB."""
PIXELS_PER_CELL = 8
"""Pixels per number in the image of a bigger thumbnail, so that viewers do not blur it."""


def thumbnail_size(reading: CardReading, box: QRectF, title_width: float = 0.0) -> QSizeF:
    """Return the size of a card's thumbnail, from the tensor's shape alone, reached or not.

    Cells are square where that fits. Above a minimum width, the thumbnail leaves space for a title
    ``title_width`` units wide and takes at most 45 % of the card.
    """
    counts = [int(count) for count in reading.shape.split(" × ")] if reading.shape else [1]
    columns = max(1, counts[-1])
    rows = 1
    for count in counts[:-1]:
        rows *= max(1, count)
    tallest = min(HEIGHT[1], box.height() - 14)
    widest = max(WIDTH[0], min(WIDTH[1], box.width() * 0.45, box.width() - title_width - 32))
    cell = min(CELL, tallest / rows, widest / columns)
    width = min(widest, max(WIDTH[0], cell * columns))
    height = min(tallest, max(HEIGHT[0], cell * rows))
    return QSizeF(width, height)


def draw_thumbnail(
    painter: QPainter, box: QRectF, grid: heat.Grid, theme: Theme, wipe: float = 1.0
) -> None:
    """Draw ``grid`` into ``box``, the top ``wipe`` (0 to 1) of it only; NaN shows as hatching."""
    full = heat.thin(grid, max(1, int(box.height())), max(1, int(box.width())))
    image = heat.image(full, theme.dark, heat.scale_of(grid))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, on=False)
    painter.fillRect(box, theme.surface)
    if not np.isfinite(full).all():
        shapes.hatch(painter, shapes.rounded(box, 0), theme.ink3, 4.0)
    shown = box
    if wipe < 1.0:
        shown = QRectF(box.left(), box.top(), box.width(), box.height() * max(0.0, wipe))
        painter.setClipRect(shown, Qt.ClipOperation.IntersectClip)
    engine = painter.paintEngine()
    if engine is not None and engine.type() == QPaintEngine.Type.SVG:
        if image.width() * image.height() <= MAX_CELLS:
            _draw_cells(painter, box, image)
        else:
            painter.drawImage(box, image.scaled(image.size() * PIXELS_PER_CELL))
    else:
        painter.drawImage(box, image)
    painter.restore()
    shapes.outline(painter, box, 0.6, faded(theme.ink3, 0.45), 0.8)


def _draw_cells(painter: QPainter, box: QRectF, image: QImage) -> None:
    """Draw every pixel as a rectangle: SVG viewers would blur a small image."""
    width, height = box.width() / image.width(), box.height() / image.height()
    for row in range(image.height()):
        for column in range(image.width()):
            color: QColor = image.pixelColor(column, row)
            left, top = box.left() + column * width, box.top() + row * height
            painter.fillRect(QRectF(left, top, width, height), color)
