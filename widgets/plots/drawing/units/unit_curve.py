"""Output of a unit over a single input, as a small curve."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPen

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.polylines import to_polygon


def draw_unit_curve(
    painter: QPainter, box: QRectF, numbers: NDArray[np.float32], theme: Theme
) -> None:
    """Draw the output of a unit over its only input."""
    painter.setPen(QPen(theme.line, theme.stroke(1)))
    painter.setBrush(theme.panel2)
    painter.drawRoundedRect(box, 5, 5)
    finite = np.isfinite(numbers)
    if not finite.any():
        return
    inside = box.adjusted(3, 4, -3, -4)
    low, high = float(numbers[finite].min()), float(numbers[finite].max())
    points = np.empty((numbers.size, 2))
    points[:, 0] = np.arange(numbers.size)
    points[:, 0] *= inside.width() / max(1, numbers.size - 1)
    points[:, 0] += inside.left()
    points[:, 1] = 0.5 if high == low else (numbers.astype(np.float64) - low) / (high - low)
    points[:, 1] *= -inside.height()
    points[:, 1] += inside.bottom()
    painter.setPen(QPen(theme.forward, theme.stroke(1.5)))
    painter.drawPolyline(to_polygon(points[finite]))
