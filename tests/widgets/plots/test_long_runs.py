"""Long runs: what is drawn stays little, whatever was recorded."""

import numpy as np
import pytest

from widgets.plots.lines import FINE, Curve, Lines
from widgets.plots.series import BRANCH, Series


def long_series(count):
    series = Series()
    for start in range(0, count, 4096):
        steps = np.arange(start, min(start + 4096, count))
        series.extend(steps, np.cos(steps / 500) + 1.5)
    return series


@pytest.mark.parametrize("log", [False, True])
def test_a_curve_of_a_million_steps_is_a_few_hundred_points(shown, look, log, monkeypatch):
    plot = shown(Lines("Loss"), 500, 300)
    series = long_series(1_000_000)
    plot.set_curves([Curve("loss", series, plot.theme.forward, shade=True)])
    plot.set_log(log)
    plot.set_smoothing(0.02)
    drawn = []
    points = plot._points
    monkeypatch.setattr(plot, "_points", lambda x, y: drawn.append(len(x)) or points(x, y))
    look(plot)
    assert max(drawn) <= plot.canvas.width()
    assert min(drawn) <= FINE


def test_zooming_in_shows_every_single_number(shown, look):
    plot = shown(Lines("Loss"), 500, 300)
    series = long_series(200_000)
    plot.set_curves([Curve("loss", series, plot.theme.forward)])
    plot.zoom(100_000, 100_100)
    look(plot)
    steps, rows = series.thinned(100_000, 100_100, 500)
    assert steps.tolist() == list(range(100_000, 100_101))
    np.testing.assert_allclose(rows[2], np.cos(steps / 500) + 1.5, rtol=1e-6)


def test_the_pyramid_takes_a_fraction_of_the_numbers():
    series = long_series(300_000)
    entries = sum(level.rows.shape[1] for level in series._levels)
    assert entries < 2.5 * 300_000 / BRANCH


def test_evenly_spaced_steps_take_no_memory():
    assert long_series(100_000)._x is None


def test_growing_costs_what_is_new_and_not_what_was():
    series = long_series(300_000)
    touched = []
    summary = series._summary
    series._summary = lambda depth, first, count: (
        touched.append(count - first) or summary(depth, first, count)
    )
    series.extend([300_000], [1.0])
    assert sum(touched) <= 2 * len(series._levels)
