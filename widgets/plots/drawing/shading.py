"""Colours of the numbers of a regression: by their distance above or below a middle.

Zero is the middle if the numbers lie on both sides of it, as in TF Playground. Otherwise, as for
prices, which would all be blue, it is the middle of their range.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QLinearGradient, QPainter

from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat

ONE_SIDED = 0.1
"""Least ratio of the smaller to the larger side of zero for which zero is the middle."""
CLIPPED_SHARE = 0.005
"""Share of the numbers at either end that are clipped to the full colour."""
LONGEST_NAME = 24
"""Most characters of a column's name in a caption."""
BAR = QRectF(0, 0, 72, 8)
SCALE_GAP = 6.0


@dataclass(frozen=True)
class Shading:
    """Colour scale: ``middle`` is pale, ``middle + reach`` and above is full blue."""

    middle: float = 0.0
    reach: float = 1.0


AROUND_ZERO = Shading()


def shading_of(numbers: NDArray[np.floating]) -> Shading:
    """Return the shading for numbers; a middle other than zero is rounded."""
    finite = np.asarray(numbers, np.float64).reshape(-1)
    finite = finite[np.isfinite(finite)]
    if not finite.size:
        return AROUND_ZERO
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return Shading(low, 1.0) if low else AROUND_ZERO
    if min(-low, high) >= ONE_SIDED * max(-low, high):
        return Shading(0.0, max(-low, high))
    low, high = heat.quantile(finite, CLIPPED_SHARE), heat.quantile(finite, 1 - CLIPPED_SHARE)
    # If nearly all numbers are equal the outliers define the range.
    low, high = (low, high) if low < high else (float(finite.min()), float(finite.max()))
    half = (high - low) / 2
    digits = 1 - math.floor(math.log10(half))
    middle = round(low + half, digits)
    return Shading(middle, max(high - middle, middle - low))


def legend_number(number: float) -> str:
    """Return a number for a legend with three digits, as ``280,000`` rather than ``2.80e+05``."""
    if not number or not 1e-4 <= abs(number) < 1e9:
        return formatting.number(number, 0 if not number else 4)
    digits = 2 - math.floor(math.log10(abs(number)))
    rounded = round(number, digits)
    return f"{rounded:,.{max(0, digits)}f}".replace("-", formatting.MINUS)


def shading_legend(shading: Shading, name: str = "") -> str:
    """Return the legend of the colours for a quantity ``name``."""
    if not shading.middle:
        return tr("blue: above zero, orange: below")
    words = (formatting.elide_middle(name, LONGEST_NAME), "above", legend_number(shading.middle))
    return tr("blue: {join}, orange: below", join=" ".join(word for word in words if word))


def draw_scale(
    painter: QPainter, line: QRectF, shading: Shading, room: float, theme: Theme
) -> float:
    """Draw the colour scale between its end numbers; return its width.

    If it needs more than ``room`` pixels nothing is drawn, and 0 returned.
    """
    metrics = painter.fontMetrics()
    ends = [legend_number(shading.middle + sign * shading.reach) for sign in (-1, 1)]
    wide = [float(metrics.horizontalAdvance(end)) for end in ends]
    whole = sum(wide) + BAR.width() + 2 * SCALE_GAP
    if whole > room:
        return 0.0
    bar = BAR.translated(line.left() + wide[0] + SCALE_GAP, line.center().y() - BAR.height() / 2)
    blend = QLinearGradient(bar.topLeft(), bar.topRight())
    for step in range(9):
        blend.setColorAt(step / 8, heat.color(step / 4 - 1, 1.0, theme.dark))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(blend)
    painter.drawRoundedRect(bar, 2, 2)
    painter.setPen(theme.ink2)
    y = line.center().y() + metrics.ascent() / 2 - 1.5
    painter.drawText(QPointF(line.left(), y), ends[0])
    painter.drawText(QPointF(bar.right() + SCALE_GAP, y), ends[1])
    return whole
