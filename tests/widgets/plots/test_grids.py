"""Confusion matrix, histograms, unit maps and the loss surface."""

import time

import numpy as np
import pytest

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.units.unit_layout import GAP, largest_side
from gradscribe.widgets.plots.plot import EDGE
from gradscribe.widgets.plots.views.confusion import ConfusionMatrix
from gradscribe.widgets.plots.views.histograms import LONE, TensorHistogram, TensorHistograms
from gradscribe.widgets.plots.views.loss_surface import LossSurface, contour_image
from gradscribe.widgets.plots.views.unit_maps import LayerMaps, UnitMaps
from tests.widgets.pixels import near


def test_the_matrix_counts_what_is_right(shown, look):
    plot = shown(ConfusionMatrix(), 300, 240)
    plot.show_counts(np.array([[5, 1], [2, 7]]), ("cat", "dog"))
    assert plot.accessibleDescription().endswith("12 of 15 right")
    look(plot)


def test_an_empty_matrix_says_so(shown, look):
    plot = shown(ConfusionMatrix(), 300, 240)
    plot.show_counts(np.zeros((0, 0), np.intp))
    assert near(look(plot), plot.theme.ink3, 90) > 20


@pytest.mark.parametrize("kinds", [2, 10, 60])
def test_many_classes_fit(shown, look, kinds):
    plot = shown(ConfusionMatrix(), 240, 200)
    plot.show_counts(np.eye(kinds, dtype=np.intp), [f"a long name {k}" for k in range(kinds)])
    assert near(look(plot), plot.theme.panel) > 100


def test_gradients_are_pink_in_histograms_and_weights_are_not(shown, look):
    plot = shown(TensorHistograms(), 300, 200)
    counts = np.array([1, 5, 2])
    plot.show_histograms([TensorHistogram("0.weight", "gradient", counts, -1, 1)])
    assert near(look(plot), plot.theme.backward) > 100
    plot.show_histograms([TensorHistogram("0.weight", "weight", counts, -1, 1)])
    assert near(look(plot), plot.theme.backward) == 0
    assert near(look(plot), plot.theme.parameter) > 100


def test_a_tensor_without_finite_numbers_has_no_bars(shown, look):
    plot = shown(TensorHistograms(), 300, 200)
    plot.show_histograms([TensorHistogram("w", "weight", np.zeros(4, np.intp), np.nan, np.nan)])
    look(plot)


def test_maps_are_as_big_as_fits():
    assert largest_side([1], 500, 500) == 84
    side = largest_side([8, 8, 1], 100, 160)
    assert -(-8 // int((100 + GAP) // (side + GAP))) * (side + GAP) <= 160
    assert largest_side([100], 60, 60) == 26


def test_the_map_under_the_mouse_is_enlarged(shown, look, mouse):
    plot = shown(UnitMaps(), 400, 260)
    maps = np.random.default_rng(0).normal(size=(4, 24, 24)).astype(np.float32)
    plot.show_layers([LayerMaps("0", maps), LayerMaps("2", maps[:1])])
    before = look(plot)
    box = plot._boxes[0][2]
    mouse(plot).move(box.center().x(), box.center().y())
    assert (look(plot) != before).mean() > 0.1
    mouse(plot).leave()
    assert (look(plot) == before).all()


def test_units_that_say_nothing_finite_are_drawn(shown, look):
    plot = shown(UnitMaps(), 300, 200)
    plot.show_layers([LayerMaps("0", np.full((2, 3, 3), np.inf, np.float32))])
    plot.set_theme(Theme.load("dark"))
    look(plot)


def test_a_path_that_leaps_about_costs_no_more_than_the_calm_one_times_twenty(shown):
    plot = shown(LossSurface(), 640, 400)
    plot.show_grid((0.0, 0.0, 1.0, 1.0), np.ones((20, 20)), ("a", "b"))
    steps = np.linspace(0.0, 1.0, 800)
    calm = np.stack([0.2 + 0.5 * steps, 0.5 + 0.3 * np.sin(6 * steps)], axis=1)
    wild = np.random.default_rng(0).uniform(0.0, 1.0, (800, 2))
    taken = {}
    for name, path in (("calm", calm), ("wild", wild)):
        plot.show_path(path)
        plot.grab()
        begun = time.thread_time()
        for _ in range(3):
            plot.grab()
        taken[name] = time.thread_time() - begun
    assert taken["wild"] < 20 * taken["calm"]


def test_the_path_is_drawn_on_the_surface(shown, look):
    plot = shown(LossSurface(), 320, 260)
    a = np.linspace(-1, 1, 21)
    plot.show_grid((-1, -1, 1, 1), a**2 + a[:, None] ** 2, ("w", "b"))
    assert near(look(plot), plot.theme.backward) == 0
    plot.show_path(np.array([[0.9, 0.9], [0.3, 0.2], [np.nan, 0.0], [0.0, 0.0]]))
    assert near(look(plot), plot.theme.backward) > 60


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_surface_around_weights_that_are_not_finite_says_so(shown, look, bad):
    plot = shown(LossSurface(), 320, 260)
    plot.show_grid((-1, -1, bad, 1), np.full((21, 21), np.nan), ("w", "b"))
    plot.show_path(np.array([[0.0, 0.0], [bad, 0.0]]))
    assert near(look(plot), plot.theme.backward) == 0


def test_low_losses_are_stronger_than_high_ones(qapp):
    theme = Theme.load("light")
    image = contour_image(np.array([[0.0, 100.0]]), theme)
    left, right = (image.pixelColor(x, 0).lightness() for x in (0, image.width() - 1))
    assert left < right
    assert contour_image(np.full((2, 2), np.nan), theme).isNull()


def test_numbers_that_are_all_the_same_are_one_bar_in_the_middle(shown, look):
    plot = shown(TensorHistograms(), 300, 200)
    counts = np.array([1, 0, 0, 0])
    plot.show_histograms([TensorHistogram("bias", "weight", counts, -2.01, -2.01)])
    found = np.abs(look(plot)[..., :3].astype(int) - plot.theme.parameter.getRgb()[:3]).max(axis=2)
    columns = np.flatnonzero((found < 8).any(axis=0))
    middle = (EDGE + 300 - EDGE - 14) / 2
    assert columns.min() == pytest.approx(middle - LONE / 2, abs=2)
    assert columns.max() == pytest.approx(middle + LONE / 2, abs=2)


def test_bands_of_a_bowl_are_round_however_few_losses_there_are(qapp):
    at = np.linspace(-1, 1, 25)
    image = contour_image(np.add.outer(at**2, at**2), Theme.load("light"))
    bits = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)[..., 0]
    middle = image.height() // 2
    # How far from the middle the innermost band ends, straight to the right and along a diagonal.
    straight = np.flatnonzero(bits[middle, middle:] != bits[middle, middle])[0]
    slanted = np.flatnonzero(np.diag(bits)[middle:] != bits[middle, middle])[0] * 2**0.5
    assert slanted == pytest.approx(straight, rel=0.25)
    assert straight % 11 or slanted % 11
