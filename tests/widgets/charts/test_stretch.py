"""Statistics and tables of a stretch, compared with numpy and with the numbers that went in."""

import csv
import math

import numpy as np
import pytest

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.stretch import bounds, measure, table_parts
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import PlotCurve
from tests.widgets.charts.conftest import series

INK = Theme.load("light").forward


def curve(numbers, first=0, name="loss"):
    return PlotCurve(name, series(numbers, first), INK)


def test_bounds_include_both_ends():
    made = series(np.ones(10), first=5)
    assert bounds(made, 5, 14) == (0, 10)
    assert bounds(made, 6, 6) == (1, 2)
    assert bounds(made, 6.2, 6.8) == (2, 2)
    assert bounds(made, -9, 4) == (0, 0)
    assert bounds(made, 99, 100) == (10, 10)


def test_mean_least_and_factor_are_those_of_the_numbers():
    numbers = np.random.default_rng(0).uniform(1, 2, 400).astype(np.float32)
    one = measure(curve(numbers), 100, 299)
    part = numbers[100:300].astype(np.float64)
    assert (one.name, one.mean, one.least) == ("loss", part.mean(), part.min())
    assert one.factor == part[-50:].mean() / part[:50].mean()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_do_not_count(bad):
    one = measure(curve([1.0, bad, 3.0]), 0, 2)
    assert (one.mean, one.least) == (2.0, 1.0)
    assert measure(curve([bad, bad]), 0, 1) is None


def test_a_factor_needs_numbers_above_zero():
    assert math.isnan(measure(curve([-1.0, 1.0, 2.0, 3.0]), 0, 3).factor)
    assert math.isnan(measure(curve([0.0, 0.0]), 0, 1).factor)


def test_a_stretch_without_numbers_has_no_statistics():
    assert measure(curve([1.0, 2.0]), 0.2, 0.8) is None
    assert measure(curve([]), 0, 9) is None


def test_float_limits_do_not_overflow():
    largest = float(np.finfo(np.float32).max)
    one = measure(curve([largest, largest, largest]), 0, 2)
    assert one.mean == pytest.approx(largest)


def test_a_table_gives_every_number_back_to_the_bit():
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 1 << 32, 5000, dtype=np.uint64).astype(np.uint32)
    numbers = bits.view(np.float32)
    other = rng.standard_normal(700).astype(np.float32)
    curves = [curve(numbers, name="a"), curve(other, first=4000, name="b")]
    (head, *rows) = csv.reader("".join(table_parts(curves, 10, 4999)).splitlines())
    assert head == ["step", "a", "b"]
    assert [row[0] for row in rows] == [str(k) for k in range(10, 5000)]
    first = np.array([row[1] for row in rows], np.float32)
    known = ~np.isnan(numbers[10:])
    assert (first.view(np.uint32) == numbers[10:].view(np.uint32))[known].all()
    assert np.isnan(first[~known]).all()
    second = np.array([row[2] for row in rows[3990:4690]], np.float32)
    assert (second.view(np.uint32) == other.view(np.uint32)).all()
    assert {row[2] for row in (*rows[:3990], *rows[4690:])} == {""}


def test_steps_that_are_no_whole_numbers_are_written_whole():
    made = StepSeries()
    made.extend([0.1, 1 / 3], [1.0, 2.0])
    (_, *rows) = csv.reader("".join(table_parts([PlotCurve("x", made, INK)], 0, 1)).splitlines())
    assert [float(row[0]) for row in rows] == [0.1, 1 / 3]
