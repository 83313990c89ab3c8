import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradscribe.widgets.plots.drawing.axes import Axis, axis_around, tick_label


def test_round_numbers_stand_along_a_linear_axis():
    assert [label for _, label in Axis(0, 413).ticks(4)] == ["0", "200", "400"]
    assert [label for _, label in Axis(0, 1500).ticks(3)] == ["0", "500", "1,000", "1,500"]
    assert [label for _, label in Axis(-1.1, 1.1).ticks(5)] == ["−1.0", "−0.5", "0", "0.5", "1.0"]


def test_powers_of_ten_stand_along_a_log_axis():
    labels = [label for _, label in Axis(0.004, 1.5, log=True).ticks(5)]
    assert labels == ["0.01", "0.1", "1"]


def test_a_log_axis_within_one_decade_still_has_numbers():
    assert len(Axis(0.31, 0.42, log=True).ticks(5)) >= 2


def test_shares_and_numbers_are_each_other_s_inverse():
    for axis in (Axis(-3, 5), Axis(0.01, 10, log=True)):
        for share in (0.0, 0.25, 1.0):
            assert axis.number_share(axis.number(share)) == pytest.approx(share)


def test_what_a_log_axis_cannot_hold_stands_nowhere():
    shares = Axis(0.1, 10, log=True).share(np.array([0.0, -1.0, 1.0]))
    assert np.isnan(shares[:2]).all()
    assert shares[2] == pytest.approx(0.5)


@example(1.15e308, 1.15e308, True)
@example(1.15e307, 8.7e307, True)
@example(1.9e-203, 1.8e296, True)
@given(st.floats(), st.floats(), st.booleans())
def test_any_two_numbers_give_an_axis_that_can_be_drawn(low, high, log):
    axis = axis_around(low, high, log)
    assert axis.low < axis.high or not math.isfinite(axis.high - axis.low)
    assert not log or (axis.low > 0 and math.isfinite(axis.high))
    if math.isfinite(axis.high - axis.low):
        assert len(axis.ticks(6)) < 40


@pytest.mark.parametrize(
    ("number", "step", "written"),
    [(0, 1, "0"), (20_000, 10_000, "20k"), (2.5e6, 5e5, "2.5M"), (-0.5, 0.1, "−0.5"),
     (3e11, 1e11, "300G"), (-9.5e15, 5e14, "−9.5e+15")],
)  # fmt: skip
def test_numbers_beside_an_axis_are_short(number, step, written):
    assert tick_label(number, step) == written


@given(
    size=st.floats(1e-12, 1e12),
    part=st.sampled_from((0.0, 1e-17, 1e-16, 1e-12, 1e-8, 1e-6, 9e-6, 1.1e-5, 1e-3)),
    sign=st.sampled_from((-1, 1)),
)
def test_numbers_that_are_nearly_one_have_short_labels_that_differ(size, part, sign):
    low, high = sorted((sign * size, sign * size * (1 + part)))
    axis = axis_around(low, high)
    labels = [label for _, label in axis.ticks(6)]
    assert len(labels) == len(set(labels)) >= 2
    assert max(map(len, labels)) <= 14
    assert axis.low < low <= high < axis.high


@pytest.mark.parametrize("end", [math.nan, math.inf])
def test_an_axis_without_ends_has_no_numbers(end):
    assert Axis(0.0, end).ticks(4) == Axis(end, 1.0).ticks(4) == []


def test_a_loss_that_ran_away_does_not_push_what_was_before_off_the_axis():
    axis = axis_around(0.01, 5e34, log=True)
    assert axis.low < 0.01 < 5e34 < axis.high
    assert axis_around(1e-40, 1.0, log=True).low > 1e-14
