"""Which colours the numbers of a regression have: how far they lie above a middle, or below it.

Zero is the middle where the numbers lie on both sides of it, as in TF Playground. Of prices, which
are all positive, every one would be blue then: their middle is that of their range.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QLinearGradient, QPainter

from playback import text
from widgets.paint import heat
from widgets.theme import Theme

ONE_SIDED = 0.1
"""Zero is no middle of numbers of which one side reaches less than this share of the other."""
OUTLYING = 0.005
"""So many of the numbers, at either end, have the same colour as the next ones."""
LONGEST_NAME = 24
"""Letters of a column's name that a caption has."""
BAR = QRectF(0, 0, 72, 8)
ROOM = 6.0


@dataclass(frozen=True)
class Shading:
    """``middle`` is pale, ``middle + reach`` and all above it fully blue."""

    middle: float = 0.0
    reach: float = 1.0


AROUND_ZERO = Shading()


def shading_of(numbers: NDArray[np.floating]) -> Shading:
    """Return the shading for these numbers, a round middle where that is not zero."""
    finite = np.asarray(numbers, np.float64).reshape(-1)
    finite = finite[np.isfinite(finite)]
    if not finite.size:
        return AROUND_ZERO
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return Shading(low, 1.0) if low else AROUND_ZERO
    if min(-low, high) >= ONE_SIDED * max(-low, high):
        return Shading(0.0, max(-low, high))
    low, high = heat.quantile(finite, OUTLYING), heat.quantile(finite, 1 - OUTLYING)
    # Of numbers that are nearly all the same the others tell.
    low, high = (low, high) if low < high else (float(finite.min()), float(finite.max()))
    half = (high - low) / 2
    digits = 1 - math.floor(math.log10(half))
    middle = round(low + half, digits)
    return Shading(middle, max(high - middle, middle - low))


def short(number: float) -> str:
    """Return a number for a legend: three digits of it, ``280,000`` rather than ``2.80e+05``."""
    if not number or not 1e-4 <= abs(number) < 1e9:
        return text.number(number, 0 if not number else 4)
    digits = 2 - math.floor(math.log10(abs(number)))
    rounded = round(number, digits)
    return f"{rounded:,.{max(0, digits)}f}".replace("-", text.MINUS)


def legend_of(shading: Shading, name: str = "") -> str:
    """Return what the colours say of a quantity of that name."""
    if not shading.middle:
        return "blue: above zero, orange: below"
    words = (text.shortened(name, LONGEST_NAME), "above", short(shading.middle))
    return f"blue: {' '.join(word for word in words if word)}, orange: below"


def draw_scale(
    painter: QPainter, line: QRectF, shading: Shading, room: float, theme: Theme
) -> float:
    """Draw the colours between their least and greatest number; return how wide that is.

    Where ``room`` pixels are too few it draws nothing.
    """
    metrics = painter.fontMetrics()
    ends = [short(shading.middle + sign * shading.reach) for sign in (-1, 1)]
    wide = [float(metrics.horizontalAdvance(end)) for end in ends]
    whole = sum(wide) + BAR.width() + 2 * ROOM
    if whole > room:
        return 0.0
    bar = BAR.translated(line.left() + wide[0] + ROOM, line.center().y() - BAR.height() / 2)
    blend = QLinearGradient(bar.topLeft(), bar.topRight())
    for step in range(9):
        blend.setColorAt(step / 8, heat.color(step / 4 - 1, 1.0, theme.dark))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(blend)
    painter.drawRoundedRect(bar, 2, 2)
    painter.setPen(theme.ink2)
    y = line.center().y() + metrics.ascent() / 2 - 1.5
    painter.drawText(QPointF(line.left(), y), ends[0])
    painter.drawText(QPointF(bar.right() + ROOM, y), ends[1])
    return whole
