"""Ranges of a chart: moved by shares, bounded, frozen, and never beyond what can be drawn."""

import math

import numpy as np
import pytest
from PySide6.QtCore import QObject, Qt

from gradscribe.widgets.charts.navigation import Navigation
from gradscribe.widgets.charts.view import NAVIGATION_KEYS, ChartView
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.views.curve_plot import PlotCurve
from tests.widgets.charts.conftest import Hand, series

SHIFT = Qt.KeyboardModifier.ShiftModifier
LARGEST = float(np.finfo(np.float32).max)
SMALLEST = 1e-45


@pytest.fixture
def view(shown):
    return shown(ChartView(lambda *_: None, lambda *_: None, None), 300, 200)


def make(view, x=(0.0, 100.0), y=(0.0, 10.0), **options):
    owner = QObject(view)
    return Navigation(view, lambda _x: (Axis(*x), Axis(*y)), owner, **options)


def ends(navigation):
    x, y = navigation.axes()
    return x.low, x.high, y.low, y.high


def test_shares_of_the_present_range_become_the_range(view):
    made = make(view)
    made.see(0.25, 0.75, 0.0, 0.5)
    assert ends(made) == (25, 75, 0, 5)
    made.see(0.0, 0.5, 0.0, 1.0)
    assert ends(made) == (25, 50, 0, 5)


def test_a_bounded_range_stays_within_the_numbers(view):
    made = make(view, is_bounded=True, least=2)
    made.see(0.5, 0.7, 0, 1)
    made.see(5, 6, 0, 1)
    assert ends(made)[:2] == pytest.approx((80, 100))
    made.see(-50, -49, 0, 1)
    assert ends(made)[:2] == pytest.approx((0, 20))
    for _ in range(50):
        made.see(0.4, 0.6, 0, 1)
    low, high = ends(made)[:2]
    assert 2 <= high - low < 20


def test_all_of_it_moved_sideways_is_still_all_of_it(view):
    made = make(view, x=(0.0, 351.0), is_bounded=True, least=2)
    for share in np.linspace(-0.9, 0.9, 181):
        made.see(share, 1 + share, 0.0, 1.0)
        assert made.is_following


def test_an_unbounded_range_never_loses_the_numbers(view):
    made = make(view)
    for _ in range(300):
        made.see(0.9, 1.9, 0.9, 1.9)
    low, _, under, _ = ends(made)
    assert low <= 100 + 101 * 100
    assert under <= 10 + 101 * 10
    for _ in range(300):
        made.see(-1, 2, -1, 2)
    low, high, under, over = ends(made)
    assert high - low <= 100 * 100
    assert over - under <= 100 * 10


def test_a_change_is_reported_once_and_no_change_never(view):
    made, found = make(view), []
    made.changed.connect(lambda: found.append(1))
    made.show(Axis(1, 2))
    made.show(Axis(1, 2))
    assert found == [1]
    made.freeze(True)
    made.show(Axis(3, 4))
    made.see(0.1, 0.2, 0.1, 0.2)
    assert len(found) == 2
    assert ends(made)[:2] == (1, 2)
    made.fit()
    assert made.is_following
    assert not made.is_frozen


def test_nothing_to_see_cannot_be_moved(view):
    made = Navigation(view, lambda _x: None, view)
    made.see(0.1, 0.2, 0.1, 0.2)
    assert made.is_following
    assert ends(made) == (0, 1, 0, 1)


def test_every_key_of_the_chart_is_used_and_no_other(view):
    made = make(view)
    assert all(made.press(key) for key in NAVIGATION_KEYS)
    assert not any(made.press(key) for key in (Qt.Key.Key_Space, Qt.Key.Key_A, Qt.Key.Key_End))


def test_a_logarithmic_axis_is_moved_by_its_exponents(chart, hand):
    chart.set_curves([PlotCurve("loss", series(10.0 ** np.arange(9)), chart.theme.forward)])
    chart.set_log(True)
    chart.grab()
    whole = chart.navigation.axes()[1]
    hand.wheel(0.5, 0.5, place=hand.at(-0.02, 0.5))
    seen = chart.navigation.axes()[1]
    assert seen.log
    span = math.log10(whole.high / whole.low)
    assert math.log10(seen.high / seen.low) == pytest.approx(0.8 * span)
    middle = math.sqrt(whole.low * whole.high)
    assert math.sqrt(seen.low * seen.high) == pytest.approx(middle, rel=0.1)


ODD = {
    "limits": [LARGEST, -LARGEST],
    "limits, in between": [-LARGEST, 0.0, LARGEST, 1.0],
    "subnormals": [SMALLEST, 3 * SMALLEST, 2 * SMALLEST],
    "one subnormal": [SMALLEST],
    "one limit": [LARGEST],
    "constant": [0.1] * 5,
    "gaps": [float("nan"), 1.0, float("inf"), float("nan"), -float("inf"), 2.0],
    "nothing finite": [float("nan"), float("inf"), -float("inf")],
}


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("numbers", ODD.values(), ids=ODD)
def test_odd_numbers_are_moved_by_every_gesture(chart, numbers, log):
    chart.set_curves([PlotCurve("loss", series(numbers), chart.theme.forward, shade=True)])
    chart.set_log(log)
    hand = Hand(chart)
    for notches in (1, -1, 40, -80, 40):
        for place in (hand.at(0.4, 0.6), hand.at(-0.02, 0.5), hand.at(0.5, -0.05)):
            hand.wheel(0, 0, notches, place=place)
            x, y = chart.navigation.axes()
            assert x.low < x.high
            assert y.low < y.high
            assert all(map(math.isfinite, (x.low, x.high, y.low, y.high)))
    for end in ((0.9, 0.9), (0.1, 0.1), (0.1, 0.9)):
        hand.drag((0.5, 0.5), end)
    for start, end in (((0.1, 0.5), (0.9, 0.5)), ((0.5, 0.5), (0.5, 0.5))):
        hand.drag(start, end, SHIFT)
    for key in NAVIGATION_KEYS:
        for _ in range(3):
            hand.key(key)
    hand.move(0.5, 0.5)
    chart.grab()
    chart.menu.svg()
    hand.double_click(0.5, 0.5)
    assert chart.is_following


def test_ten_million_numbers(chart):
    count = 10_000_000
    numbers = np.linspace(4, 1, count, dtype=np.float32)
    numbers[::1_000_003] = np.nan
    chart.set_curves([PlotCurve("loss", series(numbers), chart.theme.forward, shade=True)])
    chart.set_smoothing(3)
    hand = Hand(chart)
    hand.drag((0.1, 0.5), (0.9, 0.5), SHIFT)
    (one,) = chart.measured()
    assert one.mean == pytest.approx(2.5, rel=5e-3)
    assert one.least == pytest.approx(1.3, rel=5e-3)
    for _ in range(90):
        hand.wheel(0.5, 0.5)
    low, high = chart.steps
    assert high - low <= 3
    lines = "".join(chart.table()).splitlines()[1:]
    first, last = math.ceil(low), math.floor(high)
    assert [line.split(",")[0] for line in lines] == [str(k) for k in range(first, last + 1)]
    assert [np.float32(line.split(",")[1]) for line in lines] == list(numbers[first : last + 1])
    hand.key(Qt.Key.Key_Home)
    assert next(chart.table()) == "step,loss\n"
