"""Numbers to colours: a diverging map, built in OKLCH so that equal steps look equal.

Orange is negative, blue positive, and zero sinks into the card. Both arms differ in hue for every
kind of colour vision, and in lightness from zero for none.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from gradscribe.engine.protocol.tape import Snapshot

LEVELS = 255
"""Entries of the table; the middle one is zero."""
SHADE_STEP = 4
"""Step in the table between the colours of `indexed_colors`: closer ones look alike."""

_NEGATIVE_HUE, _POSITIVE_HUE = 52.0, 258.0
_LIGHT, _DARK = (0.975, 0.52), (0.30, 0.80)
_CHROMA = 0.155

Grid = NDArray[np.float64]
Pixels = NDArray[np.uint8]


@cache
def table(dark: bool) -> Pixels:
    """Return the map as (LEVELS, 3) uint8 sRGB, from most negative to most positive."""
    at = np.linspace(-1.0, 1.0, LEVELS)
    size = np.abs(at)
    zero, end = _DARK if dark else _LIGHT
    lightness = zero + (end - zero) * size
    chroma = _CHROMA * size ** (0.8 if dark else 0.9)
    hue = np.radians(np.where(at < 0, _NEGATIVE_HUE, _POSITIVE_HUE))
    return srgb(lightness, chroma * np.cos(hue), chroma * np.sin(hue))


def srgb(lightness: Grid, a: Grid, b: Grid) -> Pixels:
    """Convert OKLab to sRGB (Ottosson 2020), clipped into the gamut."""
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
    linear = np.clip(np.stack([red, green, blue], axis=-1), 0.0, 1.0)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    pixels: Pixels = np.round(curved * 255).astype(np.uint8)
    return pixels


def color(x: float, scale: float, dark: bool) -> QColor:
    """Return the colour of one number on a scale of -``scale`` to +``scale``."""
    share = 0.0 if scale <= 0 or not math.isfinite(x) else max(-1.0, min(1.0, x / scale))
    return QColor(_colors(dark)[round((share + 1) / 2 * (LEVELS - 1))])


def colors(numbers: NDArray[np.float64], scale: float, dark: bool) -> list[QColor]:
    """Return the colour of each number, as `color` does; equal colours are the same object."""
    known = _colors(dark)
    if scale <= 0:
        return [known[LEVELS // 2]] * numbers.size
    with np.errstate(over="ignore", invalid="ignore"):
        share = np.where(np.isfinite(numbers), numbers / scale, 0.0).clip(-1.0, 1.0)
    levels = np.round((share + 1) / 2 * (LEVELS - 1)).astype(np.intp)
    return [known[level] for level in levels.tolist()]


@cache
def _colors(dark: bool) -> list[QColor]:
    """Return the map as Qt colours; cached, as every cell needs a lookup."""
    return [QColor(red, green, blue) for red, green, blue in table(dark).tolist()]


def indexed_colors(
    numbers: NDArray[np.float64], dark: bool, scale: float | None = None
) -> tuple[list[QColor], NDArray[np.intp]]:
    """Return a list of colours, and for each number the index of its colour.

    ``scale`` defaults to the largest size. The colours are fewer than in an `image`: every fourth
    of the table, zero among them.
    """
    finite = np.nan_to_num(numbers, nan=0.0, posinf=0.0, neginf=0.0)
    if scale is None:
        scale = float(np.abs(finite).max(initial=0.0))
    share = np.clip(finite / scale, -1.0, 1.0) if scale else finite
    zero = LEVELS // 2
    levels = np.round(share * zero / SHADE_STEP).astype(np.intp) * SHADE_STEP
    used, which = np.unique(np.clip(levels, -zero, zero), return_inverse=True)
    rows = table(dark)[zero + used].tolist()
    return [QColor(red, green, blue) for red, green, blue in rows], which


def scale_of(grid: NDArray[np.floating]) -> float:
    """Return the symmetric scale of a grid: the 99.5 % quantile of the finite sizes, 0 for none."""
    sizes = np.abs(grid[np.isfinite(grid)])
    return quantile(sizes, 0.995) if sizes.size else 0.0


def matrix_scale(numbers: NDArray[np.floating]) -> float:
    """Return the symmetric scale: the largest magnitude, or a high quantile of many numbers."""
    sizes = np.abs(numbers[np.isfinite(numbers)])
    if sizes.size > 200:
        return scale_of(numbers)
    return float(sizes.max()) if sizes.size else 0.0


def quantile(numbers: NDArray[np.floating], share: float) -> float:
    """Return a quantile of some numbers, bit for bit as NumPy computes it.

    NumPy's function imports all of numpy.ma, which would delay the first picture.
    """
    at = share * (numbers.size - 1)
    low = int(at)
    high = min(low + 1, numbers.size - 1)
    near = np.partition(numbers.reshape(-1), (low, high))
    below, above, part = float(near[low]), float(near[high]), at - low
    # Interpolate from the nearer of the two, as NumPy does.
    gap = above - below
    return above - gap * (1 - part) if part >= 0.5 else below + gap * part


def grid_of(snapshot: Snapshot) -> Grid | None:
    """Return a snapshot as a matrix, or None if it holds no numbers.

    A vector is one row; of more dimensions all but the last are stacked.
    """
    array = snapshot.array()
    if array is None:
        if snapshot.thumb is None:
            return None
        array = np.frombuffer(snapshot.thumb, dtype="<f4").reshape(snapshot.thumb_shape)
    if array.size == 0:
        return None
    last = array.shape[-1] if array.ndim else 1
    # Signalling NaNs and overflowing sizes are the user's data: no warnings.
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = np.abs(array) if np.iscomplexobj(array) else array
        grid: Grid = sizes.reshape(-1, last).astype(np.float64)
    return grid


def thin(grid: Grid, rows: int, columns: int) -> Grid:
    """Return every n-th row and column so that at most (``rows``, ``columns``) are left."""
    down = -(-grid.shape[0] // rows)
    along = -(-grid.shape[1] // columns)
    return grid[::down, ::along]


def image(grid: NDArray[np.floating], dark: bool, scale: float | None = None) -> QImage:
    """Return one pixel per number; NaN and infinities are transparent, over hatching."""
    limit = scale_of(grid) if scale is None else scale
    finite = np.isfinite(grid)
    if limit > 0 and finite.all():
        return _opaque(grid, limit, dark)
    with np.errstate(invalid="ignore", over="ignore"):
        share = np.where(finite, grid / limit, 0.0) if limit > 0 else np.zeros_like(grid)
    index = np.round((np.clip(share, -1, 1) + 1) / 2 * (LEVELS - 1)).astype(np.intp)
    pixels = np.empty((*grid.shape, 4), np.uint8)
    pixels[..., :3] = table(dark)[index]
    pixels[..., 3] = np.where(finite, 255, 0)
    rows, columns = grid.shape
    shared = QImage(pixels.tobytes(), columns, rows, 4 * columns, QImage.Format.Format_RGBA8888)
    return shared.copy()


def _opaque(grid: NDArray[np.floating], limit: float, dark: bool) -> QImage:
    """Return `image` for finite numbers only, the common case, in half the time."""
    middle = (LEVELS - 1) / 2
    index = np.clip(grid / limit, -1, 1) * middle + middle
    pixels = _rgb32(dark)[np.round(index).astype(np.intp)]
    rows, columns = grid.shape
    return QImage(pixels.tobytes(), columns, rows, 4 * columns, QImage.Format.Format_RGB32).copy()


@cache
def _rgb32(dark: bool) -> NDArray[np.uint32]:
    """Return the map as pixels of Qt's RGB32 format."""
    red, green, blue = table(dark).astype(np.uint32).T
    pixels: NDArray[np.uint32] = 0xFF000000 | red << 16 | green << 8 | blue
    return pixels
