"""Density of numbers over steps as an image, from some of their quantiles."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from gradscribe.widgets.plots.drawing.axes import Axis

Floats = NDArray[np.float64]

STRONGEST = 0.92
"""Opacity of the largest density."""
GAMMA = 0.65
"""Exponent from densities to opacities: below 1, so that thin tails are seen."""
USUAL, LEAST = 0.97, 1e-3
"""Share of the pixels that get less than the strongest colour, of those with at least `LEAST` of
the largest density: many equal numbers, such as zeros of a ReLU, would leave all others pale."""


def shares_below(numbers: Floats, quantiles: Floats, shares: Floats) -> Floats:
    """Return the share of a column's numbers that are below each number, (rows, columns).

    ``numbers`` (rows,) ascending; ``quantiles`` (n, columns) ascending in each column, at
    ``shares`` (n,) from 0 to 1. Between them a monotone cubic is as smooth as they allow; equal
    quantiles are a jump. Columns with a quantile that is not finite are NaN.
    """
    unknown = ~np.isfinite(quantiles).all(axis=0)
    # Halved: the distance of two numbers near the largest float would overflow.
    q = np.where(unknown, 0.0, quantiles) / 2
    y = numbers[:, np.newaxis] / 2
    wide = np.diff(q, axis=0)
    least = np.finfo(np.float64).tiny
    rise = np.diff(shares)[:, np.newaxis]
    with np.errstate(over="ignore"):
        # Bounded: products of slopes and widths stay finite.
        secants = np.minimum(rise / np.maximum(wide, least), 1e290)
    slopes = _monotone_slopes(secants)
    found = np.zeros((numbers.size, q.shape[1]))
    for at in range(wide.shape[0]):
        inside = (y >= q[at]) & (y < q[at + 1])
        rows, columns = np.nonzero(inside)
        span = wide[at][columns]
        t = (y[rows, 0] - q[at][columns]) / span
        ends = slopes[at][columns] * span, slopes[at + 1][columns] * span
        s = 1 - t
        # Hermite's cubic between two shares with the slopes at both.
        curve = shares[at] * (1 + 2 * t) * s * s + shares[at + 1] * (3 - 2 * t) * t * t
        found[rows, columns] = curve + ends[0] * t * s * s - ends[1] * t * t * s
    found[y >= q[-1]] = 1.0
    found[:, unknown] = np.nan
    return found


def _monotone_slopes(secants: Floats) -> Floats:
    """Return slopes (n + 1, columns) with which no cubic overshoots, by Fritsch and Carlson."""
    slopes = np.zeros((secants.shape[0] + 1, secants.shape[1]))
    before, after = secants[:-1], secants[1:]
    both = np.minimum(before, after) > 0
    with np.errstate(divide="ignore", over="ignore"):
        slopes[1:-1] = np.where(both, 2 / (1 / before + 1 / after), 0.0)
    for end, inner in ((0, 1), (-1, -2)):
        secant = secants[end]
        slopes[end] = np.clip(1.5 * secant - 0.5 * slopes[inner], 0.0, 3 * secant)
    return slopes


def at_columns(steps: NDArray[np.int64], numbers: NDArray[np.float32], x: Floats) -> Floats:
    """Return numbers (n, columns) at the places ``x``, interpolated between the steps next to them.

    ``numbers`` (steps, n); NaN before the first step and after the last.
    """
    if steps.size < 2:
        return np.full((numbers.shape[1], x.size), np.nan)
    after = np.clip(np.searchsorted(steps, x, side="right"), 1, steps.size - 1)
    first, last = steps[after - 1].astype(np.float64), steps[after].astype(np.float64)
    share = ((x - first) / (last - first))[:, np.newaxis]
    low, high = numbers[after - 1].astype(np.float64), numbers[after].astype(np.float64)
    with np.errstate(invalid="ignore"):
        found = (low * (1 - share) + high * share).T
    found[:, (x < steps[0]) | (x > steps[-1])] = np.nan
    return found


def masses(quantiles: Floats, shares: Floats, axis: Axis, rows: int) -> Floats:
    """Return the share of the numbers in each of the axis' ``rows``, the uppermost first.

    NaN where a column has no numbers.
    """
    ends = np.array([axis.number(at / rows) for at in range(rows + 1)])
    # Numbers at the upper end of a row belong to it, so that none is lost at the axis' end.
    below = shares_below(np.nextafter(ends, np.inf), quantiles, shares)
    return np.diff(below, axis=0)[::-1]


def density_image(found: Floats, color: QColor) -> QImage:
    """Return an image of ``masses``: the more numbers, the stronger the colour."""
    rows, columns = found.shape
    found = np.nan_to_num(found)
    largest, opacity = found.max(initial=0.0), np.zeros((rows, columns))
    if largest > 0:
        level = float(np.quantile(found[found >= LEAST * largest], USUAL))
        opacity = STRONGEST * np.clip(found / level, 0.0, 1.0) ** GAMMA
    pixels = np.empty((rows, columns, 4))
    for place, part in enumerate((color.redF(), color.greenF(), color.blueF(), 1.0)):
        pixels[..., place] = 255 * part * opacity
    data = np.ascontiguousarray(pixels.round().astype(np.uint8)).tobytes()
    form = QImage.Format.Format_RGBA8888_Premultiplied
    return QImage(data, columns, rows, 4 * columns, form).copy()
