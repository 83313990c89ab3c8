"""Lines of equal numbers, compared with the curves of known functions."""

import warnings

import numpy as np
import pytest

from gradscribe.widgets.plots.drawing.isolines import isolines


def lengths(lines):
    return np.hypot(lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1])


@pytest.mark.parametrize("radius", [5.0, 12.5, 20.0])
def test_the_lines_of_a_bowl_are_circles(radius):
    y, x = np.mgrid[0:61, 0:61] - 30.0
    lines = isolines(x**2 + y**2, radius**2)
    ends = lines.reshape(-1, 2) - 30.0
    assert np.hypot(*ends.T) == pytest.approx(np.full(len(ends), radius), abs=0.03)
    assert lengths(lines).sum() == pytest.approx(2 * np.pi * radius, rel=0.01)


def test_the_line_of_a_ramp_is_straight_and_exact():
    y, x = np.mgrid[0:7, 0:9].astype(float)
    lines = isolines(2 * x + y, 7.0)
    ends = lines.reshape(-1, 2)
    assert 2 * ends[:, 0] + ends[:, 1] == pytest.approx(np.full(len(ends), 7.0))
    assert lengths(lines).sum() == pytest.approx(np.hypot(3, 6))


def test_a_saddle_has_two_lines_in_a_cell():
    lines = isolines(np.array([[1.0, -1.0], [-1.0, 1.0]]), 0.0)
    assert lines.shape == (2, 4)
    assert sorted(lines.reshape(-1, 2).tolist()) == [[0, 0.5], [0.5, 0], [0.5, 1], [1, 0.5]]


@pytest.mark.parametrize(
    "grid",
    [
        np.zeros((0, 0)),
        np.ones((1, 9)),
        np.full((5, 5), 3.0),
        np.full((5, 5), np.nan),
        np.full((5, 5), np.inf),
    ],
    ids=["empty", "one row", "constant", "nan", "inf"],
)
def test_without_a_crossing_there_are_no_lines(grid):
    assert isolines(grid, 2.0).shape == (0, 4)


@pytest.mark.parametrize("size", [1e-300, 1e300, 1.7e308])
def test_the_size_of_the_numbers_does_not_matter(size):
    _, x = np.mgrid[0:5, 0:5] / 4.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lines = isolines(size * (2 * x - 1), 0.0)
    assert lines.reshape(-1, 2)[:, 0] == pytest.approx(np.full(8, 2.0))


def test_a_number_that_is_not_finite_leaves_out_the_cells_around_it():
    _, x = np.mgrid[0:9, 0:9].astype(float)
    grid = x.copy()
    grid[4, 4] = np.nan
    rows = isolines(grid, 3.5)[:, [1, 3]]
    assert not ((rows.min(axis=1) < 5) & (rows.max(axis=1) > 3)).any()
    assert len(rows) == 6
