"""Shares of variance that a line and a curve explain, by mathematics."""

import numpy as np
import pytest

from gradscribe.engine.doctor.fitness import linear_share, smooth_share


def test_a_line_explains_all_of_a_line_and_nothing_of_an_even_curve():
    x = np.linspace(-1, 1, 41)[:, None]
    assert linear_share(x, 3 * x - 1) == pytest.approx(1)
    assert linear_share(x, x**2) == pytest.approx(0, abs=1e-9)


def test_the_share_of_a_line_with_noise_is_the_share_of_its_variance():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 1))
    y = 2 * x + rng.normal(size=x.shape)
    assert linear_share(x, y) == pytest.approx(4 / 5, abs=0.02)


def test_a_smooth_curve_is_predicted_and_noise_is_not():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, size=(150, 2))
    assert smooth_share(x, np.sin(x[:, :1]) * x[:, 1:]) > 0.95
    assert smooth_share(x, rng.normal(size=(150, 1))) < 0.1


def test_constant_targets_are_explained_and_constant_columns_do_no_harm():
    x = np.column_stack([np.linspace(0, 1, 20), np.ones(20)])
    assert linear_share(x, np.ones((20, 1))) == 1
    assert smooth_share(x, x[:, :1] ** 2) > 0.9
