"""Colours and shapes of classes, and colours and dashes of runs; both repeat cyclically."""

import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from gradscribe.widgets.graph.paint import heat

HUES = (52.0, 258.0, 175.0, 325.0, 115.0, 20.0, 220.0, 290.0, 145.0, 80.0)
"""OKLCH hues of classes: orange and blue first, as in heat maps."""
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3), (1, 3))
"""Dash patterns of runs, so that they also differ without colour."""

DEPTHS = (150.0, 410.0)
"""Hues of the first and last parameter of a model: green, blue, violet, pink, orange."""

SURE = 255
"""Levels between pale and the full colour of a class."""
SHAPES = ("square", "circle", "triangle", "diamond", "cross")


@cache
def class_color(index: int, dark: bool) -> QColor:
    """Return the colour of the points of a class."""
    return _oklch(0.74 if dark else 0.52, 0.15, HUES[index % len(HUES)])


@cache
def class_fill(index: int, dark: bool) -> QColor:
    """Return the ground colour for full confidence in a class."""
    return _oklch(0.58 if dark else 0.68, 0.13, HUES[index % len(HUES)])


def run_color(index: int, dark: bool) -> QColor:
    """Return the colour of an earlier run's curve; never the blue of the current run."""
    hues = (175.0, 325.0, 115.0, 20.0, 290.0, 145.0, 80.0)
    return _oklch(0.76 if dark else 0.55, 0.13, hues[index % len(hues)])


def depth_color(place: int, count: int, dark: bool) -> QColor:
    """Return the colour of a parameter's curve, evenly spaced by depth in the model."""
    first, last = DEPTHS
    share = place / (count - 1) if count > 1 else 0.0
    return _oklch(0.76 if dark else 0.55, 0.13, (first + share * (last - first)) % 360)


def run_dashes(index: int) -> tuple[float, ...]:
    """Return the dash pattern of a run's curve."""
    return DASHES[index % len(DASHES)]


@cache
def _oklch(lightness: float, chroma: float, hue: float) -> QColor:
    angle = np.radians([hue])
    pixel = heat.srgb(np.array([lightness]), chroma * np.cos(angle), chroma * np.sin(angle))[0]
    return QColor(int(pixel[0]), int(pixel[1]), int(pixel[2]))


def rgb_of(color: QColor) -> tuple[int, int, int]:
    """Return red, green and blue, 0 to 255."""
    return color.red(), color.green(), color.blue()


def class_pixels(scores: NDArray[np.float32], dark: bool) -> NDArray[np.uint8]:
    """Return (H, W, 3) colours of (H, W, K) probabilities, pale at low confidence."""
    kinds = scores.shape[-1]
    best = np.zeros(scores.shape[:-1], np.intp)
    most = scores[..., 0]
    # Class by class: NumPy is slow along such a short axis.
    for kind in range(1, kinds):
        ahead = scores[..., kind] > most
        best[ahead] = kind
        most = np.maximum(most, scores[..., kind])
    sure = np.clip(np.nan_to_num((most - 1 / kinds) / (1 - 1 / kinds)), 0, 1)
    found: NDArray[np.uint8] = _mixed(kinds, dark)[best, np.round(sure * SURE).astype(np.intp)]
    return found


@cache
def _mixed(kinds: int, dark: bool) -> NDArray[np.uint8]:
    """Return (kinds, levels, 3) colours of classes, from no confidence to full."""
    fills = np.array([rgb_of(class_fill(k, dark)) for k in range(kinds)], np.float32)[:, None]
    pale = np.array(heat.table(dark)[heat.LEVELS // 2], np.float32)
    sure = np.linspace(0, 1, SURE + 1, dtype=np.float32)[:, None]
    mixed: NDArray[np.uint8] = (fills * sure + pale * (1 - sure)).astype(np.uint8)
    return mixed


def draw_mark(painter: QPainter, shape: str, at: QPointF, size: float) -> None:
    """Draw a shape of `SHAPES` around a point with the painter's pen and brush."""
    x, y = at.x(), at.y()
    if shape == "circle":
        painter.drawEllipse(at, size, size)
    elif shape == "square":
        side = size * 0.9
        left, top = math.floor(x - side), math.floor(y - side)
        painter.drawRect(left, top, int(2 * side), int(2 * side))
    else:
        painter.drawPolygon(_outline(shape, size).translated(at), Qt.FillRule.WindingFill)


@lru_cache(maxsize=64)
def _outline(shape: str, size: float) -> QPolygonF:
    """Return the outline of a shape around the origin."""
    if shape == "triangle":
        points = [(0.0, -size * 1.2), (size * 1.1, size * 0.8), (-size * 1.1, size * 0.8)]
    elif shape == "diamond":
        reach = size * 1.25
        points = [(0.0, -reach), (reach, 0.0), (0.0, reach), (-reach, 0.0)]
    else:
        arm, thin = size * 1.2, size * 0.45
        points = [(-thin, -arm), (thin, -arm), (thin, -thin), (arm, -thin), (arm, thin)]
        points += [(thin, thin), (thin, arm), (-thin, arm), (-thin, thin), (-arm, thin)]
        points += [(-arm, -thin), (-thin, -thin)]
    return QPolygonF([QPointF(*point) for point in points])


def class_shape(index: int) -> str:
    """Return the shape of the points of a class."""
    return SHAPES[index % len(SHAPES)]
