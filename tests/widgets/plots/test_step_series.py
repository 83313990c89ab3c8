import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.widgets.plots.step_series import StepSeries, exponential_average


def made(numbers, steps=None):
    series = StepSeries()
    series.extend(np.arange(len(numbers)) if steps is None else steps, numbers)
    return series


def test_a_short_series_is_drawn_number_by_number():
    steps, rows = made([3.0, 1.0, 2.0]).summary(0, 2, 100)
    assert steps.tolist() == [0, 1, 2]
    assert rows.tolist() == [[3, 1, 2]] * 3


@pytest.mark.parametrize("count", [900, 5_000, 70_000, 300_001])
def test_thinning_keeps_the_extremes_and_the_mean(count):
    numbers = np.random.default_rng(0).normal(size=count).astype(np.float32)
    steps, rows = made(numbers).summary(0, count, 200)
    assert len(steps) == 200
    assert rows[0].min() == numbers.min()
    assert rows[1].max() == numbers.max()
    assert np.all(np.diff(steps) > 0)
    assert rows[2].mean() == pytest.approx(numbers.mean(), abs=0.01)


@given(
    st.lists(st.integers(1, 900), min_size=1, max_size=6), st.integers(0, 2**31), st.floats(0, 1)
)
def test_numbers_that_come_in_pieces_are_as_if_they_came_at_once(pieces, seed, keep):
    rng = np.random.default_rng(seed)
    grown = StepSeries()
    for piece in pieces:
        grown.truncate(round(len(grown) * keep))
        at = len(grown)
        grown.extend(np.arange(at, at + piece), rng.normal(size=piece))
    whole = made(grown.numbers())
    for low, high in ((0, len(whole)), (len(whole) / 3, len(whole) / 2)):
        for one, other in zip(
            grown.summary(low, high, 37), whole.summary(low, high, 37), strict=True
        ):
            np.testing.assert_array_equal(one, other)


def test_numbers_for_steps_that_were_there_replace_them_and_all_after():
    series = made(np.arange(100.0))
    series.extend([40, 41], [-1.0, -2.0])
    assert len(series) == 42
    assert series.last == 41
    assert series.latest == -2.0
    assert series.nearest(40) == (40.0, -1.0)


def test_steps_need_not_be_even():
    series = made([1.0, 2.0, 3.0, 4.0], [0, 10, 15, 400])
    assert series.nearest(12) == (10.0, 2.0)
    assert series.nearest(13) == (15.0, 3.0)
    assert series.nearest(9_999) == (400.0, 4.0)
    series.extend([500], [5.0])
    assert series.steps(0, 5).tolist() == [0, 10, 15, 400, 500]


def test_even_steps_that_turn_uneven_keep_their_places():
    series = made(np.zeros(2_000), np.arange(0, 4_000, 2))
    series.extend([4_001], [1.0])
    assert series.steps(1_998, 2_001).tolist() == [3_996, 3_998, 4_001]


def test_what_is_not_finite_does_not_spread():
    numbers = np.ones(10_000, np.float32)
    numbers[5_000] = np.nan
    numbers[9_000] = np.inf
    _, rows = made(numbers).summary(0, 10_000, 50)
    assert np.isfinite(rows[0]).all()
    assert np.isinf(rows[1]).sum() == 1
    assert np.isfinite(rows[2]).sum() == 49


def test_nothing_but_nan_stays_nan():
    _, rows = made(np.full(5_000, np.nan)).summary(0, 5_000, 10)
    assert np.isnan(rows).all()


def test_ten_million_numbers_are_read_from_a_few_thousand_entries():
    series = made(np.zeros(1_000_000, np.float32))
    level = max(one.block for one in series._levels if 1_000_000 // one.block >= 2 * 800)
    assert 1_000_000 // level < 2 * 800 * 16


def test_an_empty_series_has_nothing_to_show():
    series = StepSeries()
    assert series.summary(0, 10, 5)[1].shape == (3, 0)
    assert series.nearest(3) is None
    assert math.isnan(series.latest)


def test_smoothing_starts_unbiased_and_keeps_a_constant():
    assert exponential_average([5.0] * 20, 7) == pytest.approx([5.0] * 20)
    line = exponential_average([1.0, 0.0, 0.0], 2.0)
    keep = math.exp(-0.5)
    assert line[0] == 1.0
    assert line[2] == pytest.approx(keep**2 / (1 + keep + keep**2))


def test_smoothing_steps_over_a_gap():
    line = exponential_average([math.nan, 2.0, math.nan, 2.0], 3)
    assert math.isnan(line[0])
    assert line[1:].tolist() == pytest.approx([2.0, 2.0, 2.0])


def test_a_limit_keeps_numbers_of_the_whole_run():
    series = StepSeries(limit=100)
    for start in range(0, 10_000, 7):
        steps = np.arange(start, min(start + 7, 10_000))
        series.extend(steps, steps * 2.0)
    assert 40 < len(series) <= 100
    assert series.first == 0
    assert series.last > 9_700
    assert set(np.diff(series.steps(0, len(series)))) == {128.0}
    assert (series.numbers() == 2 * series.steps(0, len(series))).all()


def test_a_limited_series_can_be_taken_back():
    series = StepSeries(limit=50)
    series.extend(np.arange(1_000), np.zeros(1_000))
    series.cut(500)
    assert series.last < 500
    series.extend(np.arange(500, 600), np.ones(100))
    assert series.latest == 1.0


def test_a_number_too_big_for_the_curve_is_infinite():
    series = StepSeries()
    series.extend([1, 2], [1e300, -1e300])
    assert list(series.numbers()) == [float("inf"), float("-inf")]
