"""Long runs: what is drawn stays little, whatever was recorded."""

import gc
import tracemalloc

import numpy as np
import pytest

from gradscribe.widgets.plots.plot import AxesFrame
from gradscribe.widgets.plots.step_series import BRANCH, StepSeries
from gradscribe.widgets.plots.views.curve_plot import FINE, CurvePlot, PlotCurve


def long_series(count):
    series = StepSeries()
    for start in range(0, count, 4096):
        steps = np.arange(start, min(start + 4096, count))
        series.extend(steps, np.cos(steps / 500) + 1.5)
    return series


@pytest.mark.parametrize("log", [False, True])
def test_a_curve_of_a_million_steps_is_a_few_hundred_points(shown, look, log, monkeypatch):
    plot = shown(CurvePlot("Loss"), 500, 300)
    series = long_series(1_000_000)
    plot.set_curves([PlotCurve("loss", series, plot.theme.forward, shade=True)])
    plot.set_log(log)
    plot.set_smoothing(6)
    drawn = []
    points = AxesFrame.points
    monkeypatch.setattr(
        AxesFrame, "points", lambda axes, x, y: drawn.append(len(x)) or points(axes, x, y)
    )
    look(plot)
    assert max(drawn) <= plot.canvas.width()
    assert min(drawn) <= FINE


def test_zooming_in_shows_every_single_number(shown, look):
    plot = shown(CurvePlot("Loss"), 500, 300)
    series = long_series(200_000)
    plot.set_curves([PlotCurve("loss", series, plot.theme.forward)])
    plot.zoom(100_000, 100_100)
    look(plot)
    steps, rows = series.summary(100_000, 100_100, 500)
    assert steps.tolist() == list(range(100_000, 100_101))
    np.testing.assert_allclose(rows[2], np.cos(steps / 500) + 1.5, rtol=1e-6)


def test_even_steps_and_the_pyramid_take_a_fraction_of_the_numbers():
    series, held = held_by(lambda: long_series(300_000))
    assert len(series) == 300_000
    assert held < 4 * 300_000 * (1 + 2.5 * 3 / BRANCH)


def test_no_turn_takes_memory_for_all_that_was_told_before():
    # Room for 2,097,152 numbers, say, is not made by copying them.
    series, most = long_series(1_000_000), 0
    for start in range(1_000_000, 2_200_000, 4096):
        steps = np.arange(start, start + 4096)
        _, peak = peak_of(lambda steps=steps: series.extend(steps, np.ones(4096)))
        most = max(most, peak)
    assert most < 1 << 20


def test_steps_that_turn_uneven_late_take_no_memory_for_the_even_ones():
    series = long_series(1_000_000)
    _, peak = peak_of(lambda: series.extend([1_000_007], [1.0]))
    assert peak < 2 << 20
    assert series.steps(999_998, 1_000_001).tolist() == [999_998, 999_999, 1_000_007]
    assert series.index(1_000_001) == 1_000_000
    assert series.index(400_000) == 400_000


def test_a_branch_shares_what_both_hold_and_goes_on_otherwise():
    source = long_series(1_000_000)
    branch, peak = peak_of(lambda: source.upto(700_001))
    assert peak < 1 << 20
    branch.extend([700_001], [-5.0])
    source.cut(700_001)
    source.extend([700_001, 700_002], [-7.0, -8.0])
    assert (branch.latest, source.latest) == (-5.0, -8.0)
    for series, numbers in ((branch, [-5.0]), (source, [-7.0, -8.0])):
        told = np.append(np.cos(np.arange(700_001) / 500) + 1.5, numbers)
        alone = StepSeries()
        alone.extend(np.arange(told.size), told)
        for one, other in zip(
            series.summary(0, 800_000, 90), alone.summary(0, 800_000, 90), strict=True
        ):
            np.testing.assert_array_equal(one, other)


def held_by(make):
    """Return what ``make`` returns, and how many bytes that holds."""
    tracemalloc.start()
    try:
        made = make()
        gc.collect()
        return made, tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def peak_of(make):
    """Return what ``make`` returns, and how many bytes it took at most on the way."""
    tracemalloc.start()
    try:
        return make(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_growing_costs_what_is_new_and_not_what_was():
    series = long_series(300_000)
    touched = []
    summary = series._summary
    series._summary = lambda depth, first, count: (
        touched.append(count - first) or summary(depth, first, count)
    )
    series.extend([300_000], [1.0])
    assert sum(touched) <= 2 * len(series._levels)
