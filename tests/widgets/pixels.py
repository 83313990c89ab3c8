"""Painting into an image and looking at its pixels."""

import numpy as np
from PySide6.QtCore import QSize, QSizeF
from PySide6.QtGui import QImage, QPainter

from gradscribe.widgets.graph.paint.card.cards import Layers
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.layer import HINTS
from gradscribe.widgets.graph.paint.stage import Stage


def painted(paint, size=(240, 130), background="#F4F6F9", zoom=1.0):
    """Return the RGB pixels (rows, columns, 3) that ``paint(painter)`` leaves."""
    if isinstance(size, QSize | QSizeF):
        size = (round(size.width()), round(size.height()))
    image = QImage(*size, QImage.Format.Format_RGB888)
    image.fill(background)
    painter = QPainter(image)
    try:
        painter.setRenderHints(HINTS)
        painter.scale(zoom, zoom)
        paint(painter)
    finally:
        painter.end()
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(size[1], image.bytesPerLine())
    return rows[:, : 3 * size[0]].reshape(size[1], size[0], 3).astype(int)


def near(pixels, color, slack=24):
    """Count the pixels that look like a colour."""
    wanted = (color.red(), color.green(), color.blue())
    return int((np.abs(pixels - wanted).max(axis=-1) <= slack).sum())


def drawing_of(made, theme, layers=None):
    m, look = made
    drawing = GraphDrawing(Stage(m.tape, m.picture, m.placement), theme, layers or Layers())
    drawing.set_look(look)
    return drawing
