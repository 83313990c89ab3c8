"""Lines through many points: where they lie, where they stop, and how far they go."""

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage, QPainter

from gradscribe.widgets.plots.drawing.polylines import (
    draw_polyline,
    draw_range,
    finite_points,
    to_points,
    to_polygon,
    vertical_travel,
    with_dash_gaps,
)

NAN = float("nan")


def drawn(paint):
    """Return where ``paint`` leaves ink on 20 x 20 pixels, as a set of (x, y)."""
    image = QImage(20, 20, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    painter.setPen(QColor("black"))
    paint(painter)
    painter.end()
    every = [(x, y) for x in range(20) for y in range(20)]
    return {spot for spot in every if image.pixelColor(*spot) == QColor("black")}


def test_a_polygon_holds_the_points_it_was_made_of():
    points = np.random.default_rng(0).normal(0, 1e4, (1001, 2))
    assert [(p.x(), p.y()) for p in to_polygon(points).toList()] == [
        tuple(p) for p in points.tolist()
    ]
    assert to_polygon(points[:0]).isEmpty()


def test_a_polygon_of_every_second_point_is_not_one_of_its_neighbours():
    points = np.arange(40.0).reshape(20, 2)
    assert [(p.x(), p.y()) for p in to_polygon(points[::2]).toList()] == [
        (4.0 * i, 4.0 * i + 1) for i in range(10)
    ]


def test_a_polygon_outlives_the_array_it_was_made_of():
    points = np.full((500, 2), 7.0)
    made = to_polygon(points)
    points[:] = 0
    del points
    assert {(p.x(), p.y()) for p in made.toList()} == {(7.0, 7.0)}


@pytest.mark.parametrize("bad", [NAN, float("inf"), -float("inf")])
def test_what_is_not_finite_stands_nowhere(bad):
    across, down = np.array([1.0, bad, 3.0, 4.0]), np.array([1.0, 2.0, bad, 4.0])
    points = to_points(across, down)
    assert np.isnan(points[1:3]).all()
    assert [(p.x(), p.y()) for p in finite_points(points)] == [(1, 1), (4, 4)]


def test_what_is_far_away_is_brought_near_enough_to_be_painted():
    points = to_points(np.array([0.0, 1e300]), np.array([-1e300, 5.0]))
    assert np.abs(points).max() <= 1e5


def test_the_rest_of_a_longer_array_is_left_out():
    assert to_points(np.arange(3.0), np.arange(5.0)).tolist() == [[0, 0], [1, 1], [2, 2]]


def test_a_line_has_a_gap_where_there_is_no_point():
    points = np.array([[2, 5], [4, 5], [NAN, NAN], [8, 5], [10, 5.0]])
    assert drawn(lambda p: draw_polyline(p, points)) == {(x, 5) for x in (2, 3, 4, 8, 9, 10)}


def test_a_point_alone_is_a_dot():
    points = np.array([[NAN, NAN], [3, 4], [NAN, NAN], [9, 9.0]])
    assert drawn(lambda p: draw_polyline(p, points)) == {(3, 4), (9, 9)}
    assert drawn(lambda p: draw_polyline(p, points[:0])) == set()


def test_a_swing_covers_all_between_the_least_and_the_greatest():
    low = np.array([[5, 15], [6, 14], [7, 12], [8, NAN], [9, 15]])
    high = np.array([[5, 3], [6, 10], [7, 2], [8, 1], [9, 9.0]])
    found = drawn(lambda p: draw_range(p, low, high))
    for (x, bottom), (_, top) in zip(low.tolist(), high.tolist(), strict=True):
        column = {y for at, y in found if at == x}
        assert column == (set(range(int(top), int(bottom) + 1)) if bottom == bottom else set())


def test_a_line_that_swings_wildly_is_measured():
    still = to_points(np.array([0.0, 100, NAN, 200]), np.full(4, 5.0))
    wild = to_points(np.arange(100.0), 300.0 * (np.arange(100) % 2))
    assert vertical_travel(still) == 0
    assert vertical_travel(wild) == 99 * 300
    assert vertical_travel(still[:0]) == 0


@pytest.mark.parametrize("count", [2, 17, 200, 1000])
@pytest.mark.parametrize("dashes", [(5.0, 3.0), (8.0, 3.0, 2.0, 3.0)])
def test_dashes_are_as_long_across_however_far_a_line_swings(count, dashes):
    x = np.linspace(10.0, 110.0, count)
    points = np.column_stack([x, 500.0 * np.sin(40.0 * x)])
    made = with_dash_gaps(points, dashes)
    seen = made[~np.isnan(made[:, 0])]
    phase = (seen[:, 0] - 10.0) % sum(dashes)
    begins = 0.0
    inside = np.zeros(len(seen), bool)
    for ink, gap in zip(dashes[::2], dashes[1::2], strict=True):
        inside |= (phase >= begins) & (phase < begins + ink)
        begins += ink + gap
    assert inside.all()
    ink = sum(dashes[::2]) / sum(dashes)
    assert len(seen) / len(made) == pytest.approx(ink, abs=0.1)
    if count >= 200:
        assert {tuple(one) for one in seen} <= {tuple(one) for one in points}


def test_a_gap_stays_one_between_dashes():
    points = np.column_stack([np.arange(100.0), np.ones(100)])
    points[::10] = np.nan
    made = with_dash_gaps(points, (5.0, 3.0))
    assert np.isnan(made[::10]).all()
    assert not np.isnan(made).all()
    nothing = np.full((4, 2), np.nan)
    assert np.isnan(with_dash_gaps(nothing, (5.0, 3.0))).all()
    assert with_dash_gaps(points[:0], (5.0, 3.0)).shape == (0, 2)
