"""Data on the plane: where points stand and how they look."""

import numpy as np
from PySide6.QtCore import QRectF

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.colors import class_color
from gradscribe.widgets.plots.drawing.points import (
    NO_POINTS,
    PlanePoints,
    PointLayer,
    marks_of,
    to_pixels,
)
from gradscribe.widgets.plots.drawing.shading import AROUND_ZERO, Shading

ROOM = QRectF(10, 20, 100, 200)
DOMAIN = (-1.0, -2.0, 1.0, 2.0)


def two(**more):
    return PlanePoints(np.array([-1.0, 0.5]), np.array([-2.0, 1.0]), **more)


def test_points_stand_where_the_plane_says():
    x, y = to_pixels(two(), DOMAIN, ROOM)
    np.testing.assert_allclose(x, [10, 85])
    np.testing.assert_allclose(y, [220, 70])


def test_classes_have_their_colours_and_those_held_back_are_hollow(qapp):
    theme = Theme.load("light")
    points = two(kinds=np.array([1, 3]), validation=np.array([False, True]))
    marks, which = marks_of(points, AROUND_ZERO, theme, 4.0)
    learned, held = (marks[at] for at in which.tolist())
    assert learned.fill == class_color(1, False)
    assert held.rim == class_color(3, False)
    assert held.fill == theme.surface


def test_targets_have_the_colours_of_their_numbers(qapp):
    points = two(targets=np.array([-1.0, 3.0]), validation=np.array([True, False]))
    marks, which = marks_of(points, Shading(1.0, 2.0), Theme.load("dark"), 4.0)
    below, above = (marks[at] for at in which.tolist())
    assert below.shape != above.shape
    assert below.fill.blue() < below.fill.red()
    assert above.fill.blue() > above.fill.red()


def pixels(pixmap):
    image = pixmap.toImage()
    places = [(x, y) for x in range(image.width()) for y in range(image.height())]
    return {place for place in places if image.pixelColor(*place).alpha()}


def test_a_layer_is_painted_once_and_anew_for_other_points(qapp):
    theme, layer = Theme.load("light"), PointLayer()
    points = two(kinds=np.array([0, 1]), validation=np.array([False, True]))
    whole = layer.pixmap(points, DOMAIN, ROOM, AROUND_ZERO, theme, 1.0)
    kept = layer.pixmap(points, DOMAIN, ROOM, AROUND_ZERO, theme, 1.0)
    assert kept.cacheKey() == whole.cacheKey()
    few = layer.pixmap(points, DOMAIN, ROOM, AROUND_ZERO, theme, 1.0, validation=False)
    assert pixels(few) < pixels(whole)
    small = layer.pixmap(points, DOMAIN, ROOM, AROUND_ZERO, theme, 1.0, size=0.5)
    assert len(pixels(small)) < len(pixels(whole))
    assert not pixels(layer.pixmap(NO_POINTS, DOMAIN, ROOM, AROUND_ZERO, theme, 1.0))
    # Equal in number, other points all the same.
    moved = PlanePoints(points.x + 0.2, points.y, kinds=points.kinds)
    other = layer.pixmap(moved, DOMAIN, ROOM, AROUND_ZERO, theme, 1.0)
    assert pixels(other) != pixels(whole)
