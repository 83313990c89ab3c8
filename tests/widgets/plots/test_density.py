"""The density of numbers over steps, from their quantiles."""

import numpy as np
import pytest
from PySide6.QtGui import QColor

from gradscribe.widgets.plots.density import (
    at_columns,
    density_image,
    masses,
    shares_below,
)
from gradscribe.widgets.plots.drawing.axes import Axis

SHARES = np.array([0, 0.01, 0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99, 1])


def below(numbers, at):
    quantiles = np.quantile(numbers, SHARES)[:, np.newaxis]
    return shares_below(np.asarray(at, np.float64), quantiles, SHARES)[:, 0]


@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential"])
def test_the_share_below_a_number_is_that_of_the_numbers(kind):
    numbers = getattr(np.random.default_rng(0), kind)(size=20_000)
    at = np.linspace(numbers.min() - 1, numbers.max() + 1, 101)
    want = (numbers[:, np.newaxis] <= at).mean(axis=0)
    assert np.abs(below(numbers, at) - want).max() < 0.02


def test_it_passes_through_the_quantiles_and_never_falls():
    numbers = np.random.default_rng(1).standard_cauchy(500)
    assert below(numbers, np.quantile(numbers, SHARES)) == pytest.approx(SHARES)
    assert (np.diff(below(numbers, np.linspace(-50, 50, 999))) >= -1e-12).all()


def test_equal_numbers_are_a_jump():
    numbers = np.concatenate([np.zeros(601), np.linspace(1, 2, 400)])
    found = below(numbers, [-0.1, -1e-9, 0.0, 0.5, 3.0])
    assert found[:2].tolist() == [0, 0]
    assert found[2] == pytest.approx(0.6, abs=0.01)
    assert found[4] == 1
    constant = masses(np.full((13, 3), 4.0), SHARES, Axis(0, 8), 16)
    assert constant.sum(axis=0).tolist() == [1, 1, 1]
    assert (constant.max(axis=0) == 1).all()


def test_the_uppermost_row_comes_first_and_all_rows_make_1():
    quantiles = np.quantile(np.linspace(6, 7, 100), SHARES)[:, np.newaxis]
    found = masses(quantiles, SHARES, Axis(0, 8), 8)[:, 0]
    assert found[1] == pytest.approx(1)
    logged = masses(quantiles, SHARES, Axis(0.1, 10, log=True), 50)
    assert logged.sum() == pytest.approx(1)


@pytest.mark.parametrize("scale", [1e300, 1.7e308, 5e-324, 1e-310])
def test_odd_numbers_are_drawn_without_a_warning(scale):
    with np.errstate(all="raise", under="ignore"):
        quantiles = np.stack([np.linspace(-1, 1, 13) * scale, np.full(13, np.nan)], axis=1)
        found = masses(quantiles, SHARES, Axis(-0.9 * scale or -1, 0.9 * scale or 1), 20)
        assert np.isnan(found[:, 1]).all()
        image = density_image(found, QColor("red"))
    assert (image.width(), image.height()) == (2, 20)
    assert all(image.pixelColor(1, row).alpha() == 0 for row in range(20))


def test_columns_are_interpolated_between_steps_and_empty_beyond():
    steps = np.array([10, 20, 40])
    numbers = np.array([[0, 1], [10, 2], [30, np.nan]], np.float32)
    found = at_columns(steps, numbers, np.array([9.0, 10, 15, 20, 41]))
    assert np.array_equal(found[0], [np.nan, 0, 5, 10, np.nan], equal_nan=True)
    assert found[1, :3].tolist()[1:] == [1, 1.5]
    assert np.isnan(at_columns(steps[:1], numbers[:1], np.array([10.0]))).all()


def test_strong_where_there_are_many():
    numbers = np.random.default_rng(0).normal(size=2000)
    quantiles = np.repeat(np.quantile(numbers, SHARES)[:, np.newaxis], 4, axis=1)
    image = density_image(masses(quantiles, SHARES, Axis(-4, 4), 40), QColor(0, 128, 255))
    alphas = [image.pixelColor(2, row).alpha() for row in range(40)]
    assert alphas[20] > alphas[12] > alphas[8] > 0
    assert alphas[20] > 200
    middle = image.pixelColor(2, 20)
    assert middle.red() == 0
    assert middle.blue() > middle.green() > 0
