"""Lines through arrays of points: a Qt object per point would cost more than painting.

A NaN point is a gap.
"""

from collections.abc import Sequence

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPolygonF

PixelPoints = NDArray[np.float64]
"""(n, 2) pixels."""

_FAR = 1e5
"""Coordinates are clipped to this many pixels, as Qt's painting breaks down at millions."""


def to_points(across: NDArray[np.floating], down: NDArray[np.floating]) -> PixelPoints:
    """Return pixels as points; NaN if either coordinate is not finite.

    The rest of a longer array is ignored.
    """
    count = min(len(across), len(down))
    points = np.empty((count, 2))
    points[:, 0], points[:, 1] = across[:count], down[:count]
    points[~np.isfinite(points).all(axis=1)] = np.nan
    return np.clip(points, -_FAR, _FAR, out=points)


def finite_points(points: PixelPoints) -> list[QPointF]:
    """Return the points that are no gaps."""
    return [QPointF(x, y) for x, y in points[~np.isnan(points[:, 0])].tolist()]


def to_polygon(points: PixelPoints) -> QPolygonF:
    """Return the points, which must not contain gaps, as a polygon."""
    result = QPolygonF()
    if len(points):
        result.resize(len(points))
        # The points are contiguous, two doubles each; the stubs do not know this signature.
        memory: memoryview = shiboken6.VoidPtr(  # type: ignore[call-arg,assignment]
            result.data(),  # type: ignore[arg-type]
            16 * len(points),
            True,
        )
        np.frombuffer(memory, np.float64)[:] = np.ravel(points)
    return result


def draw_polyline(painter: QPainter, points: PixelPoints) -> None:
    """Draw a line through points with its gaps; an isolated point becomes a dot."""
    gaps = np.flatnonzero(np.isnan(points[:, 0]))
    first = 0
    for gap in [*gaps.tolist(), len(points)]:
        if gap - first == 1:
            painter.drawPoint(QPointF(*points[first].tolist()))
        elif gap > first:
            painter.drawPolyline(to_polygon(points[first:gap]))
        first = gap + 1


def draw_range(painter: QPainter, low: PixelPoints, high: PixelPoints) -> None:
    """Draw the range of a curve as a zigzag line between its minima and maxima."""
    both = np.stack([low, high], axis=1)
    # Every other pair is reversed, so that the connections are short.
    both[1::2] = both[1::2, ::-1]
    both[np.isnan(both).any(axis=(1, 2))] = np.nan
    draw_polyline(painter, both.reshape(-1, 2))


def with_dash_gaps(points: PixelPoints, dashes: Sequence[float]) -> PixelPoints:
    """Return the points with gaps by a pattern of dash, gap, dash, gap… in horizontal pixels.

    The cost of a pen's dashes grows with the length of a line, which is long if it oscillates.
    """
    known = points[~np.isnan(points[:, 0]), 0]
    if known.size < 2:
        return points
    first, last = float(known[0]), float(known[-1])
    if known.size == len(points) < last - first:
        # Points that are more than a pixel apart would leave out whole segments.
        across = np.linspace(first, last, round(last - first) + 1)
        points = np.column_stack([across, np.interp(across, *points.T)])
    ends = np.cumsum(dashes)
    with np.errstate(invalid="ignore"):
        place = np.searchsorted(ends, (points[:, 0] - first) % ends[-1], side="right")
    return np.where((place % 2 == 1)[:, None], np.nan, points)


def vertical_travel(points: PixelPoints) -> float:
    """Return the total vertical movement of a line in pixels."""
    down = points[~np.isnan(points[:, 1]), 1]
    return float(np.abs(np.diff(down)).sum())
