"""Tensors as grids of numbers, and the colours for numbers: a diverging map, built in OKLCH.

Equal steps look equal. Orange is negative, blue positive, and zero sinks into the card. Both arms
differ in hue for every kind of colour vision, and in lightness from zero for none.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from gradscribe.engine.protocol.tape import Snapshot

LEVELS = 255
"""Entries of the table; the middle one is zero."""

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
