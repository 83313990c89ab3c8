"""Data points on the plane: their looks, and a cached layer with all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPixmap

from gradscribe.engine.protocol.training import DataSample
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.colors import class_color, class_shape
from gradscribe.widgets.plots.drawing.marks import Mark, MarkStamps
from gradscribe.widgets.plots.drawing.shading import Shading

VALIDATION_SHAPE = "diamond"
"""Shape of the validation points of a regression."""
GROUND_STRENGTH = 0.72
"""Factor that makes the ground paler than the points on it, even at full confidence."""
FEW_POINTS = 400
"""Number of points from which on points are drawn smaller."""

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]
"""Left, bottom, right and top of a part of the plane."""


@dataclass(frozen=True)
class PlanePoints:
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


NO_POINTS = PlanePoints(np.empty(0), np.empty(0))


def points_of(data: DataSample, names: Sequence[str], is_regression: bool) -> PlanePoints:
    """Return two-column data as points on the plane."""
    if len(data.x.shape) != 2 or data.x.shape[1] != 2 or not data.x.shape[0]:
        return NO_POINTS
    x = data.x.array().astype(np.float64)
    y = data.y.array()
    y = y.reshape(len(x), -1)[:, 0]
    held_back = ~data.train.array().astype(np.bool_)
    if is_regression:
        return PlanePoints(x[:, 0], x[:, 1], targets=y.astype(np.float64), validation=held_back)
    kinds = np.where(y < 0, 0, y).astype(np.intp)
    return PlanePoints(
        x[:, 0], x[:, 1], kinds=kinds, validation=held_back, names=class_labels(names)
    )


def with_drawn_points(points: PlanePoints, drawn: Floats | None) -> PlanePoints:
    """Return the points, replaced by those ``drawn`` by now: (n, 3) with their class, or None."""
    if drawn is None or drawn.shape[1] != 3:
        return points
    x, y, kinds = drawn.T
    same = len(x) == len(points) and np.allclose([points.x, points.y], [x, y], atol=1e-5)
    if same and points.kinds is not None and np.array_equal(points.kinds, kinds):
        return points
    return PlanePoints(x, y, kinds=kinds.astype(np.intp), names=points.names)


def class_labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return the display names of classes: a number becomes ``class 0`` and so on."""
    return tuple(tr("class {name}", name=name) if name.isdecimal() else name for name in names)


def to_pixels(points: PlanePoints, domain: Box, area: QRectF) -> tuple[Floats, Floats]:
    """Return the pixels (x, y) of points, where ``domain`` fills ``area``."""
    left, bottom, right, top = domain
    x = area.left() + (points.x - left) / (right - left) * area.width()
    y = area.bottom() - (points.y - bottom) / (top - bottom) * area.height()
    return x, y


def marks_of(
    points: PlanePoints, shading: Shading, theme: Theme, size: float
) -> tuple[list[Mark], NDArray[np.intp]]:
    """Return the marks in use, and the index of the mark of each point."""
    dark = theme.dark
    rim = theme.canvas if dark else theme.surface
    none = np.zeros(len(points), np.intp)
    held_back = none if points.validation is None else points.validation
    if points.targets is not None:
        shades, which = heat.indexed_colors(points.targets - shading.middle, dark, shading.reach)
        # Hollow points would hide their number, which is their colour.
        shapes = ("circle", VALIDATION_SHAPE)
        marks = [Mark(shape, shade, theme.ink2, size) for shade in shades for shape in shapes]
        return marks, 2 * which + held_back
    kinds, which = np.unique(none if points.kinds is None else points.kinds, return_inverse=True)
    marks = []
    for kind in kinds.tolist():
        shape, color = class_shape(kind), class_color(kind, dark)
        # Validation points are hollow.
        marks += [Mark(shape, color, rim, size), Mark(shape, rim, color, size)]
    return marks, 2 * which + held_back


class PointLayer:
    """Pixmap of the points, cached until points, plane, size or theme change."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._points = NO_POINTS
        self._pixmap, self._stamps = QPixmap(), MarkStamps()

    def pixmap(
        self,
        points: PlanePoints,
        domain: Box,
        area: QRectF,
        shading: Shading,
        theme: Theme,
        ratio: float,
        validation: bool = True,
        size: float = 1.0,
    ) -> QPixmap:
        """Return a pixmap for ``area``, with or without the ``validation`` points.

        ``size``: scale factor of the marks.
        """
        key = (validation, area.getRect(), domain, shading, theme.name, ratio, size)
        if key != self._key or points is not self._points:
            self._key, self._points = key, points
            marks, which = marks_of(
                points, shading, theme, size * (4.2 if len(points) < FEW_POINTS else 3.2)
            )
            at = np.column_stack(to_pixels(points, domain, area)) - (area.left(), area.top())
            if points.validation is not None and not validation:
                at[points.validation] = np.nan
            self._pixmap = self._stamps.layer(area.size(), ratio, at, marks, which)
        return self._pixmap
