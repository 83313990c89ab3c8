"""Data on the plane: which points there are, how they look, and a layer with all of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPixmap

from widgets.paint import heat
from widgets.plots.colors import class_color, class_shape
from widgets.plots.marks import Mark, Stamps
from widgets.plots.shading import Shading
from widgets.theme import Theme

HELD_BACK = "diamond"
"""Shape of the points of a regression that are for validation."""
SUREST = 0.72
"""The ground stays paler than the points on it, even where the model is sure."""
FEW = 400
"""Of more points than that each is smaller."""

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]
"""Left, bottom, right and top of a part of the plane."""


@dataclass(frozen=True)
class Points:
    """Data on the plane. ``kinds`` are classes, or None where ``targets`` are numbers."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    kinds: NDArray[np.intp] | None = None
    targets: NDArray[np.float64] | None = None
    validation: NDArray[np.bool_] | None = None
    names: tuple[str, ...] = ()
    """Names of the classes."""

    def __len__(self) -> int:
        return int(self.x.size)


NONE = Points(np.empty(0), np.empty(0))


def places(points: Points, domain: Box, room: QRectF) -> tuple[Floats, Floats]:
    """Return where points stand whose plane fills ``room``."""
    left, bottom, right, top = domain
    x = room.left() + (points.x - left) / (right - left) * room.width()
    y = room.bottom() - (points.y - bottom) / (top - bottom) * room.height()
    return x, y


def looks(
    points: Points, shading: Shading, theme: Theme, size: float
) -> tuple[list[Mark], NDArray[np.intp]]:
    """Return how points can look, and which of these each of them does."""
    dark = theme.dark
    rim = theme.canvas if dark else theme.surface
    none = np.zeros(len(points), np.intp)
    held_back = none if points.validation is None else points.validation
    if points.targets is not None:
        shades, which = heat.shades(points.targets - shading.middle, dark, shading.reach)
        # Hollow ones would hide their number.
        shapes = ("circle", HELD_BACK)
        marks = [Mark(shape, shade, theme.ink2, size) for shade in shades for shape in shapes]
        return marks, 2 * which + held_back
    kinds, which = np.unique(none if points.kinds is None else points.kinds, return_inverse=True)
    marks = []
    for kind in kinds.tolist():
        shape, color = class_shape(kind), class_color(kind, dark)
        # Validation points are hollow: the model never learns from them.
        marks += [Mark(shape, color, rim, size), Mark(shape, rim, color, size)]
    return marks, 2 * which + held_back


class PointLayer:
    """The points as a picture, which is kept while nothing but what lies below them changes."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._points = NONE
        self._pixmap, self._stamps = QPixmap(), Stamps()

    def pixmap(
        self,
        points: Points,
        domain: Box,
        room: QRectF,
        shading: Shading,
        theme: Theme,
        ratio: float,
        validation: bool = True,
        size: float = 1.0,
    ) -> QPixmap:
        """Return them in ``room``, with those held back for ``validation`` or without.

        ``size``: how many times as big as they usually are.
        """
        key = (validation, room.getRect(), domain, shading, theme.name, ratio, size)
        if key != self._key or points is not self._points:
            self._key, self._points = key, points
            marks, which = looks(points, shading, theme, size * (4.2 if len(points) < FEW else 3.2))
            at = np.column_stack(places(points, domain, room)) - (room.left(), room.top())
            if points.validation is not None and not validation:
                at[points.validation] = np.nan
            self._pixmap = self._stamps.layer(room.size(), ratio, at, marks, which)
        return self._pixmap
