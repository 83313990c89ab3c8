"""Classes and runs are told apart by colour, by shape and by stroke."""

import itertools

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from gradscribe.widgets.base.theme import Theme, contrast
from gradscribe.widgets.plots.drawing.colors import (
    HUES,
    SHAPES,
    class_color,
    class_fill,
    class_pixels,
    class_shape,
    draw_mark,
    rgb_of,
    run_color,
    run_dashes,
)
from tests.widgets.pixels import near, painted


@pytest.mark.parametrize("dark", [False, True])
def test_ten_classes_have_ten_colors(dark):
    colors = {class_color(k, dark).name() for k in range(len(HUES))}
    assert len(colors) == len(HUES)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_points_can_be_seen_on_the_ground_of_another_class(name):
    theme = Theme.load(name)
    for one, other in itertools.permutations(range(3), 2):
        color, fill = class_color(one, theme.dark), class_fill(other, theme.dark)
        away = np.abs(np.subtract(rgb_of(color), rgb_of(fill))).sum()
        assert away > 90, (one, other)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_curves_of_runs_can_be_seen_on_a_panel(name):
    theme = Theme.load(name)
    for index in range(7):
        assert contrast(run_color(index, theme.dark), theme.panel) >= 3


@pytest.mark.parametrize("name", ["light", "dark"])
def test_no_other_run_has_the_color_of_the_one_that_goes_on(name):
    theme = Theme.load(name)
    for index in range(7):
        away = np.abs(np.subtract(rgb_of(run_color(index, theme.dark)), rgb_of(theme.forward)))
        assert away.max() > 40


def test_runs_with_equal_colors_have_other_strokes():
    assert run_color(0, False) == run_color(7, False)
    assert run_dashes(0) != run_dashes(7)


def test_shapes_come_round_after_five():
    assert [class_shape(k) for k in range(6)] == [*SHAPES, SHAPES[0]]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_drawn_around_its_point(qapp, shape):
    color = class_color(1, False)

    def draw(painter):
        painter.setPen(color)
        painter.setBrush(color)
        draw_mark(painter, shape, QPointF(20, 20), 8)

    pixels = painted(draw, (40, 40))
    there = np.argwhere(np.abs(pixels - np.array(rgb_of(color))).max(-1) < 24)
    assert len(there) > 60
    assert np.abs(there.mean(0) - 20).max() < 3
    assert np.abs(there - 20).max() <= 12


def test_all_shapes_differ(qapp):
    def drawn(shape):
        def draw(painter):
            painter.setBrush(class_color(0, False))
            draw_mark(painter, shape, QPointF(20, 20), 8)

        return painted(draw, (40, 40))

    for one, other in itertools.combinations(SHAPES, 2):
        assert (drawn(one) != drawn(other)).any(-1).sum() > 30


def test_where_no_class_is_sure_the_ground_is_pale():
    even = np.full((1, 1, 4), 0.25, np.float32)
    sure = np.array([[[0, 0, 1, 0]]], np.float32)
    assert class_pixels(even, False)[0, 0].min() > 230
    assert class_pixels(sure, False)[0, 0].tolist() == list(rgb_of(class_fill(2, False)))


def test_the_surer_the_stronger():
    strengths = []
    for share in (0.4, 0.6, 0.8, 1.0):
        scores = np.array([[[share, 1 - share]]], np.float32)
        strengths.append(int(class_pixels(scores, False)[0, 0].sum()))
    assert strengths[1] > strengths[2] > strengths[3]


def test_scores_that_are_not_finite_are_pale():
    scores = np.full((1, 1, 3), np.nan, np.float32)
    pixels = class_pixels(scores, True)
    assert pixels.shape == (1, 1, 3)
    assert near(pixels.astype(int), class_fill(0, True), 3) == 0
