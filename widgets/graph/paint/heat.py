"""Numbers to colours of Qt: single ones, lists and images; the map is in `number_grid`."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from gradscribe.playback.graph.number_grid import LEVELS as LEVELS
from gradscribe.playback.graph.number_grid import Grid as Grid
from gradscribe.playback.graph.number_grid import Pixels as Pixels
from gradscribe.playback.graph.number_grid import grid_of as grid_of
from gradscribe.playback.graph.number_grid import matrix_scale as matrix_scale
from gradscribe.playback.graph.number_grid import quantile as quantile
from gradscribe.playback.graph.number_grid import scale_of as scale_of
from gradscribe.playback.graph.number_grid import srgb as srgb
from gradscribe.playback.graph.number_grid import table as table
from gradscribe.playback.graph.number_grid import thin as thin

SHADE_STEP = 4
"""Step in the table between the colours of `indexed_colors`: closer ones look alike."""


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
