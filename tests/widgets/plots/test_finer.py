"""A finer grid is the bilinear one between the middles of the cells."""

import numpy as np
import pytest

from widgets.plots.finer import finer


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
    found = finer(grid, times)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_hand(grid, times), rtol=1e-5, atol=1e-6)
    middle = times // 2
    np.testing.assert_array_equal(found[middle::times, middle::times], grid)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_not_finite_does_not_spread(odd):
    grid = np.ones((4, 4), np.float32)
    grid[1, 2] = odd
    assert finer(grid, 3) is grid
