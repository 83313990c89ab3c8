"""Lines through many points that come as arrays: one Qt object each would cost more than painting.

A row that is not finite is a gap.
"""

from collections.abc import Sequence

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPolygonF

Points = NDArray[np.float64]
"""(n, 2) pixels."""

_FAR = 1e5
"""Qt draws nothing sensible millions of pixels away."""


def places(across: NDArray[np.floating], down: NDArray[np.floating]) -> Points:
    """Return pixels as points; NaN where either is not finite.

    Of arrays that differ in length the rest of the longer one is left out.
    """
    count = min(len(across), len(down))
    points = np.empty((count, 2))
    points[:, 0], points[:, 1] = across[:count], down[:count]
    points[~np.isfinite(points).all(axis=1)] = np.nan
    return np.clip(points, -_FAR, _FAR, out=points)


def finite(points: Points) -> list[QPointF]:
    """Return those that stand somewhere."""
    return [QPointF(x, y) for x, y in points[~np.isnan(points[:, 0])].tolist()]


def polygon(points: Points) -> QPolygonF:
    """Return the points, none of them a gap, in a form that Qt paints."""
    made = QPolygonF()
    if len(points):
        made.resize(len(points))
        # Where its first point lies, all of them do, two doubles each; the stubs know no such size.
        memory: memoryview = shiboken6.VoidPtr(  # type: ignore[call-arg,assignment]
            made.data(),  # type: ignore[arg-type]
            16 * len(points),
            True,
        )
        np.frombuffer(memory, np.float64)[:] = np.ravel(points)
    return made


def strokes(painter: QPainter, points: Points) -> None:
    """Draw a line through points, with a gap at each that is none; one alone becomes a dot."""
    gaps = np.flatnonzero(np.isnan(points[:, 0]))
    first = 0
    for gap in [*gaps.tolist(), len(points)]:
        if gap - first == 1:
            painter.drawPoint(QPointF(*points[first].tolist()))
        elif gap > first:
            painter.drawPolyline(polygon(points[first:gap]))
        first = gap + 1


def swing(painter: QPainter, low: Points, high: Points) -> None:
    """Draw how far a curve swings: up and down between its least and its greatest, in one line."""
    both = np.stack([low, high], axis=1)
    # Every other one from above to below, so that the way from one to the next is short.
    both[1::2] = both[1::2, ::-1]
    both[np.isnan(both).any(axis=(1, 2))] = np.nan
    strokes(painter, both.reshape(-1, 2))


def dashed(points: Points, dashes: Sequence[float]) -> Points:
    """Return the points with gaps after a pattern of ink, gap, ink, gap… in pixels across.

    A pen's dashes cost by a line's length, and one that swings is long; these do not.
    """
    known = points[~np.isnan(points[:, 0]), 0]
    if known.size < 2:
        return points
    first, last = float(known[0]), float(known[-1])
    if known.size == len(points) < last - first:
        # Where they lie farther apart than pixels, whole stretches would be missing.
        across = np.linspace(first, last, round(last - first) + 1)
        points = np.column_stack([across, np.interp(across, *points.T)])
    ends = np.cumsum(dashes)
    with np.errstate(invalid="ignore"):
        place = np.searchsorted(ends, (points[:, 0] - first) % ends[-1], side="right")
    return np.where((place % 2 == 1)[:, None], np.nan, points)


def travel(points: Points) -> float:
    """Return how far a line goes up and down, in pixels."""
    down = points[~np.isnan(points[:, 1]), 1]
    return float(np.abs(np.diff(down)).sum())
