"""A finer grid is the bilinear one between the middles of the cells."""

import numpy as np
import pytest

from gradscribe.widgets.plots.drawing.upsampling import (
    upsample,
    upsample_logits,
    upsample_probabilities,
)


def by_hand(grid, times):
    """Return it by interpolating along each axis with NumPy's own one-dimensional interp."""
    for axis in (0, 1):
        count = grid.shape[axis]
        middles = (np.arange(count * times) + 0.5) / times - 0.5
        grid = np.apply_along_axis(
            lambda line, at=middles, n=count: np.interp(at, np.arange(n), line), axis, grid
        )
    return grid


@pytest.mark.parametrize("times", [1, 3, 5])
@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (6, 4), (3, 4, 3)])
def test_it_is_what_numpy_interpolates(times, shape):
    grid = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    found = upsample(grid, times)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_hand(grid, times), rtol=1e-5, atol=1e-6)
    middle = times // 2
    np.testing.assert_array_equal(found[middle::times, middle::times], grid)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_not_finite_does_not_spread(odd):
    grid = np.ones((4, 4), np.float32)
    grid[1, 2] = odd
    assert upsample(grid, 3) is grid


def crossing(row):
    """Return where a row of numbers goes through zero, in its own columns."""
    return np.interp(0.0, row, np.arange(row.size))


def test_a_sharp_slanted_boundary_is_straight_however_sure_the_model_is():
    # z = 300 (x - y / 4): its tanh is -1 or 1 in nearly every cell.
    across, up = np.meshgrid(np.arange(40.0), np.arange(40.0))
    logits = (300 * (across - 10.2 - up / 4)).astype(np.float32)
    found = upsample_logits(logits, 3)
    places = [crossing(row) for row in found]
    # Row r of the finer grid lies at up = (r + 1/2) / 3 - 1/2, column c likewise.
    rows = np.arange(len(places))
    straight = 3 * (10.2 + ((rows + 0.5) / 3 - 0.5) / 4 + 0.5) - 0.5
    inner = slice(3, -3)
    assert np.abs(places - straight)[inner].max() < 0.6
    # The tanh itself made finer stands still, then leaps by a whole cell.
    coarse = [crossing(row) for row in upsample(np.tanh(logits / 2), 3)]
    assert np.abs(coarse - straight)[inner].max() > 1


def test_probabilities_between_cells_are_those_of_the_logits_between_them():
    logits = np.random.default_rng(1).normal(0, 3, (5, 6, 3)).astype(np.float32)
    chances = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    expected = np.exp(by_hand(logits, 3))
    expected /= expected.sum(axis=2, keepdims=True)
    found = upsample_probabilities(chances, 3)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert upsample_probabilities(np.eye(3, dtype=np.float32)[None], 3).sum() == pytest.approx(27)
