import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetricsF

from gradscribe.playback.text.formatting import MINUS
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.colors import class_color, class_fill, class_shape
from gradscribe.widgets.plots.drawing.points import PlanePoints
from gradscribe.widgets.plots.drawing.shading import Shading, shading_of
from gradscribe.widgets.plots.ground import Ground, decisions, outputs_at
from gradscribe.widgets.plots.views.boundary import BoundaryPlot
from tests.widgets.pixels import near

HALVES = np.repeat([[-1.0], [1.0]], 20, axis=0).repeat(40, axis=1).astype(np.float32)
"""-1 in the lower half, 1 in the upper one."""


@pytest.fixture
def plot(shown):
    return shown(BoundaryPlot(), 320, 300)


def points(kinds=(0, 1)):
    return PlanePoints(np.array([-0.5, 0.5]), np.array([-0.5, 0.5]), kinds=np.array(kinds, np.intp))


def middle(pixels, part):
    rows, columns, _ = pixels.shape
    return pixels[round(rows * part), columns // 2]


def test_the_plane_is_blue_where_it_is_positive_and_orange_below(plot, look):
    plot.show_ground(Ground((-1, -1, 1, 1), HALVES))
    pixels = look(plot)
    up, down = middle(pixels, 0.2), middle(pixels, 0.7)
    assert up[2] > up[0]
    assert down[0] > down[2]


def test_of_several_classes_the_surest_gives_the_color(plot, look):
    grid = np.zeros((10, 10, 3), np.float32)
    grid[..., 2] = 1
    plot.show_ground(Ground((-1, -1, 1, 1), grid))
    assert near(look(plot), class_fill(2, False), 6) > 5_000


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("kinds", [2, 3])
def test_a_slanted_boundary_has_no_steps_as_big_as_the_cells(plot, look, kinds, discrete):
    slanted = np.add.outer(np.arange(40), 3 * np.arange(40)).astype(np.float32)
    grid = np.tanh((slanted - slanted.mean()) / 8)
    if kinds == 3:
        grid = np.stack([(1 - grid) / 2, (1 + grid) / 2, np.zeros_like(grid)], axis=-1)
    plot.resize(440, 520)
    plot.show_ground(Ground((-1, -1, 1, 1), grid))
    plot.set_discrete(discrete)
    pixels = look(plot).astype(int)
    room = plot._area.toAlignedRect().adjusted(40, 40, -40, -40)
    area = pixels[room.top() : room.bottom(), room.left() : room.right(), :3]
    # A cell is ten pixels wide.
    if discrete:
        one, other = area[:, :20].mean((0, 1)), area[:, -20:].mean((0, 1))
        crossed = (((area - one) @ (other - one)) > ((other - one) ** 2).sum() / 2).argmax(axis=1)
        rows = np.arange(len(crossed))
        line = np.polyval(np.polyfit(rows, crossed, 1), rows)
        assert np.abs(crossed - line).max() < 3
    else:
        # The crest between the sides is as pale in one row as in the next.
        assert area.min(axis=2).max(axis=1).std() < 2.5


def test_points_differ_in_color_and_in_shape(plot, look):
    plot.show_points(points())
    pixels = look(plot)
    assert near(pixels, class_color(0, False)) > 20
    assert near(pixels, class_color(1, False)) > 20
    assert len({class_shape(k) for k in range(5)}) == 5


def test_a_legend_beside_a_long_note_names_all_classes_shortly(plot, look):
    note = "160 of 160 right · validation 40 of 40"
    wide = QFontMetricsF(plot.theme.font(12, 600)).horizontalAdvance(note)
    plot.show_points(points())
    plot.resize(round(wide) + 130, 300)
    plot.show_note(note)
    legend = look(plot)[-24:]
    for kind in (0, 1):
        assert near(legend, class_color(kind, False)) > 10


def test_points_and_ground_can_be_drawn_in_both_themes(plot, look):
    plot.show_ground(Ground((-1, -1, 1, 1), HALVES))
    plot.show_points(points())
    light = look(plot)
    plot.set_theme(Theme.load("dark"))
    assert (light != look(plot)).mean() > 0.3


def test_points_are_drawn_moved_and_removed_with_the_mouse(plot, look, mouse):
    plot.editable = True
    plot.show_points(points())
    look(plot)
    area = plot._area
    done = []
    plot.drawn.connect(lambda x, y, k: done.append(("new", round(x, 1), round(y, 1), k)))
    plot.moved.connect(lambda i, x, y: done.append(("move", i, round(x, 1), round(y, 1))))
    plot.removed.connect(lambda i: done.append(("gone", i)))
    hand = mouse(plot)
    x, y = area.left() + area.width() * 0.75, area.top() + area.height() * 0.75
    hand.press(x, y)
    hand.release(x, y)
    hand.press(x, y, Qt.MouseButton.RightButton)
    hand.release(x, y)
    plot.mouse = QPointF(x, y)
    offered = {name: do for name, do, _ in plot.options_offered()}
    offered["Draw a point of class 0 here"]()
    x, y = area.left() + area.width() * 0.25, area.top() + area.height() * 0.75
    hand.press(x, y)
    hand.move(area.center().x(), area.center().y(), Qt.MouseButton.LeftButton)
    hand.release(area.center().x(), area.center().y())
    hand.press(x, y, Qt.MouseButton.RightButton)
    plot.mouse = QPointF(x, y)
    offered = {name: do for name, do, _ in plot.options_offered()}
    offered["Remove this point"]()
    assert done == [
        ("new", 0.5, -0.5, 1),
        ("new", 0.5, -0.5, 0),
        ("move", 0, 0.0, 0.0),
        ("gone", 0),
    ]


def test_a_point_cannot_be_dragged_off_the_plane(plot, look, mouse):
    plot.editable = True
    plot.show_points(points())
    look(plot)
    area, where = plot._area, []
    plot.moved.connect(lambda _i, x, y: where.append((x, y)))
    mouse(plot).press(area.left() + area.width() * 0.25, area.top() + area.height() * 0.75)
    mouse(plot).move(-500, 9_000, Qt.MouseButton.LeftButton)
    assert where == [(pytest.approx(-1), pytest.approx(-1))]


def test_the_plane_does_not_move_under_the_mouse_that_draws(plot, look):
    plot.show_ground(Ground((-2, -2, 2, 2), HALVES))
    plot.editable = True
    plot.show_points(points())
    plot.show_ground(Ground((0, 0, 1, 1), HALVES))
    assert plot.domain == (-2, -2, 2, 2)
    look(plot)
    corner = plot._rect((0, 0, 2, 2))
    assert corner.topRight() == plot._area.topRight()
    assert corner.width() == pytest.approx(plot._area.width() / 2)
    plot.show_ground(Ground((-3, 0, 1, 1), HALVES))
    assert plot.domain == (-3, -2, 2, 2)
    plot.editable = False
    plot.show_ground(Ground((0, 0, 1, 1), HALVES))
    assert plot.domain == (0, 0, 1, 1)


def test_other_data_are_shown_on_a_plane_of_their_own(plot):
    plot.show_ground(Ground((-2, -2, 2, 2), HALVES))
    plot.editable = True
    plot.show_points(points())
    plot.set_data("other")
    plot.show_ground(Ground((0, 0, 1, 1), HALVES))
    assert plot.domain == (0, 0, 1, 1)
    plot.show_ground(Ground((0, 0, 0.5, 1), HALVES))
    assert plot.domain == (0, 0, 1, 1), "one draws from now on"


def test_a_still_picture_takes_no_points(plot, look, mouse):
    plot.show_points(points())
    look(plot)
    plot.drawn.connect(lambda *_: pytest.fail("drawn"))
    mouse(plot).press(150, 100)


def test_what_the_model_says_stands_under_the_mouse(plot, look, mouse):
    plot.show_ground(Ground((-1, -1, 1, 1), HALVES))
    before = look(plot)
    mouse(plot).move(150, 100)
    assert (look(plot) != before).any()


def test_a_probability_is_told_of_its_class_and_an_output_by_its_side():
    theme, half = Theme.load("light"), np.full((4, 4), 0.5, np.float32)
    of = points()
    logit = np.full((4, 4), math.log(3), np.float32)
    # A logit of ln 3 is a probability of 3/4; the tanh of its half is 1/2.
    ground = Ground((-1, -1, 1, 1), half, logits=logit)
    assert told(ground, of, theme) == ["class 0  0.250", "class 1  0.750"]
    assert told(Ground((-1, -1, 1, 1), half), of, theme) == ["output 0.500: class 1"]
    named = replace(of, names=("cat", "dog"))
    assert told(Ground((-1, -1, 1, 1), -half), named, theme) == [f"output {MINUS}0.500: cat"]
    prices = PlanePoints(of.x, of.y, targets=of.x)
    assert told(Ground((-1, -1, 1, 1), half), prices, theme) == ["output 0.500"]
    thirds = np.full((4, 4, 3), (0.5, 0.25, 0.25), np.float32)
    words = ["class 0  0.500", "class 1  0.250", "class 2  0.250"]
    assert told(Ground((-1, -1, 1, 1), thirds), of, theme) == words


def told(ground, points, theme):
    return [words for words, _ in outputs_at(ground, 0.0, 0.0, points, theme)]


def test_a_model_that_says_nothing_finite_leaves_the_ground_empty(plot, look):
    plot.show_ground(Ground((-1, -1, 1, 1), np.full((5, 5), np.nan, np.float32)))
    assert near(look(plot), plot.theme.panel2, 3) > 10_000


def test_a_discrete_plane_tells_only_the_side(plot, look):
    pale = HALVES * 0.05
    plot.show_ground(Ground((-1, -1, 1, 1), pale))
    soft = middle(look(plot), 0.2).astype(int)
    plot.set_discrete(True)
    hard = middle(look(plot), 0.2).astype(int)
    assert hard[2] - hard[0] > soft[2] - soft[0] + 40
    assert (
        decisions(Ground((0, 0, 1, 1), pale, Shading(0, 2.0))).grid.tolist()
        == (HALVES * 2).tolist()
    )
    grid = np.array([[[0.4, 0.35, 0.25], [0.1, 0.2, 0.7]]], np.float32)
    assert decisions(Ground((0, 0, 1, 1), grid)).grid.tolist() == [[[1, 0, 0], [0, 0, 1]]]


def test_points_held_back_can_be_left_out(plot, look):
    data = points()
    held = PlanePoints(data.x, data.y, kinds=data.kinds, validation=np.array([False, True]))
    plot.show_points(held)
    assert near(look(plot), class_color(1, False)) > 20
    count = near(look(plot), class_color(1, False))
    plot.set_validation(False)
    assert near(look(plot), class_color(1, False)) < count
    assert [name for _, _, name in plot._entries()] == ["class 0", "class 1"]


def test_all_points_are_seen_before_the_model_says_anything(plot, look):
    kinds = np.array([0, 1], np.intp)
    plot.show_points(PlanePoints(np.array([-2.0, 7.0]), np.array([3.0, 3.0]), kinds=kinds))
    left, low, right, top = plot.domain
    assert left < -2 < 7 < right
    assert low < 3 < top
    look(plot)
    plot.editable = True
    before = plot.domain
    plot.show_points(PlanePoints(np.array([90.0]), np.array([0.0]), kinds=kinds[:1]))
    assert plot.domain == before, "the plane stays under the mouse that draws"


def test_what_a_regression_does_not_learn_from_has_another_shape(plot, look):
    place, held_back = np.array([-0.5, 0.5]), np.array([False, True])
    plot.show_points(PlanePoints(place, place, targets=np.ones(2), validation=held_back))
    both = look(plot)
    x, y = plot._pixels()
    first, second = (
        both[round(y[k]) - 5 : round(y[k]) + 6, round(x[k]) - 5 : round(x[k]) + 6] for k in (0, 1)
    )
    assert np.abs(first - second).max() > 60
    assert [shape for shape, _, name in plot._entries() if name == "validation"] == ["diamond"]
    plot.set_validation(False)
    alone = look(plot)
    assert (
        alone[: round(y[1]) + 9, round(x[1]) - 9 :] != both[: round(y[1]) + 9, round(x[1]) - 9 :]
    ).any()
    assert not list(plot._entries())


def test_prices_have_both_colours_as_what_is_said_of_them_has(plot, look):
    prices = np.array([1e5, 5e5])
    plot.show_points(PlanePoints(np.array([-0.5, 0.5]), np.array([-0.5, 0.5]), targets=prices))
    said = np.where(HALVES > 0, 5e5, 1e5).astype(np.float32)
    plot.show_ground(Ground((-1, -1, 1, 1), said, shading_of(prices)))
    pixels = look(plot).astype(int)
    above, below = middle(pixels, 0.2), middle(pixels, 0.7)
    assert above[2] > above[0] + 30
    assert below[0] > below[2] + 30
    assert decisions(Ground((0, 0, 1, 1), said, Shading(3e5, 2e5))).grid.tolist() == said.tolist()


def test_grounds_that_nobody_sees_are_not_drawn(plot, look, monkeypatch):
    drawn, draw = [], plot._drawn
    monkeypatch.setattr(plot, "_drawn", lambda *given: drawn.append(given) or draw(*given))
    plot.hide()
    for _ in range(5):
        plot.show_ground(Ground((-1, -1, 1, 1), -HALVES))
    plot.set_theme(Theme.load("dark"))
    plot.show_ground(Ground((-1, -1, 1, 1), HALVES))
    assert not drawn
    plot.show()
    pixels = look(plot)
    assert len(drawn) == 1
    plot.show_note("200 of 200 right")
    look(plot)
    assert len(drawn) == 1, "the picture of the ground is kept"
    up, down = middle(pixels, 0.2), middle(pixels, 0.7)
    assert up[2] > up[0]
    assert down[0] > down[2]
