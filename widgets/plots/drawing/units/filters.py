"""The weights of a convolution filter: a small image for each input channel."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat

ACROSS, MOST = 8, 32
"""Images in a row, and the most in all."""
GAP = 3.0
BIGGEST = 48.0
PALE = 0.55
"""Lightness from which on text is black."""
HEAD = 16.0
"""Pixels of the heading."""


def filter_weights(filters: NDArray[np.float32] | None, unit: int) -> NDArray[np.float32]:
    """Return the weights (inputs, rows, columns) of a unit's filter; empty if it has none."""
    if filters is None or unit >= len(filters):
        return np.zeros((0, 0, 0), np.float32)
    found: NDArray[np.float32] = filters[unit]
    return found


def draw_label(painter: QPainter, box: QRectF, image: QImage, word: str, theme: Theme) -> None:
    """Write what a unit stands for, such as a class, on its colour, if it fits."""
    painter.setFont(theme.font(11, 500))
    if QFontMetricsF(painter.font()).horizontalAdvance(word) + 4 > box.width():
        return
    is_pale = image.pixelColor(0, 0).lightnessF() > PALE
    painter.setPen(QColor("black" if is_pale else "white"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, word)


def _side(count: int, wide: float) -> float:
    across = min(ACROSS, count)
    return min(BIGGEST, (wide - GAP * (across - 1)) / across)


def filter_height(kernels: NDArray[np.float32], wide: float) -> float:
    """Return the height in pixels of the images of (inputs, rows, columns) weights."""
    count = min(MOST, len(kernels))
    return HEAD + -(-count // ACROSS) * (_side(count, wide) + GAP) + GAP if count else 0.0


def draw_filter(painter: QPainter, box: QRectF, kernels: NDArray[np.float32], theme: Theme) -> None:
    """Draw the weights, all on the same scale around zero."""
    shown = kernels[:MOST]
    painter.setFont(theme.font(11, 500))
    painter.setPen(theme.ink2)
    rows, columns = shown.shape[1:]
    some = (
        tr("weights")
        if len(shown) == len(kernels)
        else tr("weights of {shown_count}", shown_count=len(shown))
    )
    size = f"{rows} × {columns}"
    words = (
        f"{some}, {size}" if len(kernels) == 1 else tr("{some}, {size} each", some=some, size=size)
    )
    head = QRectF(box.left() + 4, box.top(), box.width() - 8, HEAD)
    short = QFontMetricsF(painter.font()).elidedText(
        words, Qt.TextElideMode.ElideRight, head.width()
    )
    painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, short)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    numbers = shown.astype(np.float64)
    side, scale = _side(len(shown), box.width()), heat.scale_of(numbers)
    for place, kernel in enumerate(numbers):
        left = box.left() + place % ACROSS * (side + GAP)
        top = head.bottom() + place // ACROSS * (side + GAP)
        painter.drawImage(QRectF(left, top, side, side), heat.image(kernel, theme.dark, scale))
