"""A chart under the hand: every gesture, every key, and what follows by itself."""

import gc
import weakref

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from gradscribe.playback.text import formatting
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.curves import CurveChart, SharedSteps
from gradscribe.widgets.plots.views.curve_plot import PlotCurve
from tests.widgets.charts.conftest import Hand, series

SHIFT = Qt.KeyboardModifier.ShiftModifier


def ends(chart):
    x, y = chart.navigation.axes()
    return x.low, x.high, y.low, y.high


def test_the_wheel_zooms_both_axes_around_the_mouse(chart, hand):
    low, high, under, over = ends(chart)
    hand.wheel(0.25, 0.5)
    seen = ends(chart)
    assert seen[1] - seen[0] == pytest.approx(0.8 * (high - low))
    assert seen[3] - seen[2] == pytest.approx(0.8 * (over - under))
    assert seen[0] + 0.25 * (seen[1] - seen[0]) == pytest.approx(250, abs=2)


@pytest.mark.parametrize("side", ["left", "bottom"])
def test_over_an_axis_the_wheel_zooms_that_axis(chart, hand, side):
    before, frame = ends(chart), chart._drawn.area
    at = {
        "left": QPointF(frame.left() - 12, frame.center().y()),
        "bottom": QPointF(frame.center().x(), frame.bottom() + 10),
    }
    hand.wheel(0, 0, place=at[side])
    after = ends(chart)
    x_changed, y_changed = after[:2] != before[:2], after[2:] != before[2:]
    # Without heights of its own, a closer look at some steps is as high as their numbers are.
    assert x_changed is (side == "bottom")
    assert (chart._heights is not None) is (side == "left")
    assert y_changed


def test_a_drag_pans_what_was_zoomed(chart, hand):
    chart.zoom(400, 600)
    hand.chart.grab()
    before = ends(chart)
    hand.drag((0.5, 0.5), (0.25, 0.6))
    after = ends(chart)
    assert after[0] == pytest.approx(450, abs=3)
    assert after[1] - after[0] == pytest.approx(200)
    assert after[3] - after[2] == pytest.approx(before[3] - before[2])
    assert after[2] == pytest.approx(before[2] - 0.1 * (before[3] - before[2]), rel=0.05, abs=0.5)


def test_a_drag_never_leaves_the_steps_there_are(chart, hand):
    chart.zoom(400, 600)
    chart.grab()
    for _ in range(5):
        hand.drag((0.9, 0.5), (0.1, 0.5))
    assert ends(chart)[:2] == pytest.approx((800, 1000))


@pytest.mark.parametrize("way", ["double click", "home", "button"])
def test_all_is_shown_again(chart, hand, way):
    before = ends(chart)
    hand.wheel(0.3, 0.7, 3)
    assert chart.follow.isVisible()
    if way == "double click":
        hand.double_click(0.5, 0.5)
    elif way == "home":
        hand.key(Qt.Key.Key_Home)
    else:
        chart.follow.click()
    assert ends(chart) == before
    assert not chart.follow.isVisible()


def test_zooming_out_shows_all_and_follows_again(chart, hand):
    hand.wheel(0.5, 0.5, 2)
    hand.wheel(0.5, 0.5, -6)
    assert chart.is_following


def test_keys_pan_and_zoom(chart, hand):
    chart.zoom(400, 600)
    chart.grab()
    hand.key(Qt.Key.Key_Right)
    assert ends(chart)[:2] == pytest.approx((420, 620))
    hand.key(Qt.Key.Key_Left)
    assert ends(chart)[:2] == pytest.approx((400, 600))
    before = ends(chart)
    hand.key(Qt.Key.Key_Up)
    assert ends(chart)[2] == pytest.approx(before[2] + 0.1 * (before[3] - before[2]))
    hand.key(Qt.Key.Key_Plus)
    assert ends(chart)[:2] == pytest.approx((420, 580))
    hand.key(Qt.Key.Key_Minus)
    assert ends(chart)[:2] == pytest.approx((400, 600))


def test_a_growing_run_is_followed_until_a_hand_moves_the_view(chart, hand):
    grown = chart.curves[0].series
    grown.extend([1500], [0.0])
    chart.refresh()
    assert ends(chart)[1] == 1500
    hand.wheel(0.5, 0.5)
    seen = ends(chart)
    grown.extend([3000], [0.0])
    chart.refresh()
    assert ends(chart) == seen
    chart.follow.click()
    assert ends(chart)[1] == 3000


def test_a_view_of_steps_that_are_gone_shows_those_there_are(chart, hand):
    chart.zoom(800, 900)
    chart.curves[0].series.truncate(100)
    chart.refresh()
    assert ends(chart)[:2] == (0, 99)


def test_a_click_picks_the_step_and_a_drag_does_not(chart, hand):
    picked = []
    chart.step_picked.connect(picked.append)
    hand.drag((0.5, 0.5), (0.25, 0.5))
    assert picked == []
    hand.click(0.5, 0.5)
    assert picked == [pytest.approx(500, abs=2)]


def test_the_line_of_the_step_is_dragged(chart, hand):
    picked = []
    chart.step_picked.connect(picked.append)
    chart.position = 500.0
    chart.grab()
    hand.drag((0.5, 0.5), (0.8, 0.5))
    assert picked[-1] == pytest.approx(800, abs=5)
    assert picked == sorted(set(picked))
    assert chart.is_following
    chart.position = None
    assert not chart.marker.isVisible()


def test_the_line_stays_under_the_mouse_while_the_run_loses_its_later_steps(chart, hand):
    numbers, picked = chart.curves[0].series, []

    def go_back(step):
        picked.append(step)
        numbers.cut(step + 1)
        chart.position = float(step)
        chart.refresh()
        chart.grab()

    chart.step_picked.connect(go_back)
    chart.position = 800.0
    chart.grab()
    hand.drag((0.8, 0.5), (0.3, 0.5), steps=20)
    assert picked[-1] == pytest.approx(300, abs=5)
    assert chart.marker.value() == picked[-1]
    assert chart.is_following
    assert ends(chart)[:2] == (0, picked[-1])


def test_the_mouse_reads_every_run(chart, hand, monkeypatch):
    curves = [PlotCurve("other", series(np.full(1001, 7.0)), chart.theme.data), *chart.curves]
    chart.set_curves(curves)
    words = []
    monkeypatch.setattr(
        "gradscribe.widgets.plots.views.curve_plot.draw_bubble",
        lambda _painter, _frame, _at, lines, *_: words.append(lines),
    )
    hand.move(0.25, 0.5)
    chart.grab()
    step = int(words[-1][0].removeprefix("Step "))
    assert step == pytest.approx(250, abs=2)
    assert words[-1][1] == f"batch  {formatting.number(100 - step / 10)}"
    assert words[-1][2] == f"other  {formatting.number(7.0)}"


def test_a_stretch_is_brushed_and_measured(chart, hand):
    hand.drag((0.2, 0.5), (0.6, 0.5), SHIFT)
    low, high = chart.stretch
    assert (low, high) == (pytest.approx(200, abs=3), pytest.approx(600, abs=3))
    numbers = np.linspace(100, 0, 1001).astype(np.float32)[int(np.ceil(low)) : int(high) + 1]
    numbers = numbers.astype(np.float64)
    quarter = len(numbers) // 4
    (one,) = chart.measured()
    assert one.mean == pytest.approx(numbers.mean())
    assert one.least == numbers.min()
    assert one.factor == pytest.approx(numbers[-quarter:].mean() / numbers[:quarter].mean())
    assert chart.is_following
    assert "mean" in chart.view.accessibleDescription()
    asked = []
    chart.retrained.connect(asked.append)
    chart.again.click()
    assert asked == [int(np.ceil(low))]
    hand.key(Qt.Key.Key_Escape)
    assert chart.stretch is None
    assert not chart.again.isVisible()


def test_a_brush_of_no_width_selects_nothing(chart, hand):
    hand.drag((0.2, 0.5), (0.2, 0.9), SHIFT)
    assert chart.stretch is None


def test_charts_share_their_steps_and_not_their_heights(shown, chart, hand):
    other = shown(CurveChart("Rate", log=True), 400, 200)
    other.set_curves([PlotCurve("rate", series(np.linspace(1, 2, 1001)), other.theme.data)])
    shared = SharedSteps([chart, other])
    hand.wheel(0.5, 0.5, 3)
    assert ends(other)[:2] == ends(chart)[:2]
    assert other.navigation.y is None
    Hand(other).double_click(0.5, 0.5)
    assert chart.steps is None
    del shared


def test_frozen_axes_stay_whatever_grows_or_moves(chart, hand):
    chart.navigation.freeze(True)
    before = ends(chart)
    chart.curves[0].series.extend([5000], [900.0])
    chart.refresh()
    hand.wheel(0.5, 0.5)
    hand.drag((0.5, 0.5), (0.2, 0.2))
    assert ends(chart) == before
    chart.navigation.freeze(False)
    assert ends(chart)[1] == 5000


NUMBERS = [
    [],
    [1.0],
    [0.0, 0.0],
    [float("nan")] * 9,
    [float("inf"), -float("inf"), 1.0],
    [-1.0, -2.0],
    [3e38, 1e-45, 0.0],
    [1e300, 1.0],
    [1e-45, 2e-45],
]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("numbers", NUMBERS)
def test_any_numbers_can_be_drawn_moved_and_brushed(chart, log, numbers):
    chart.set_curves([PlotCurve("loss", series(numbers), chart.theme.forward, shade=True)])
    chart.set_log(log)
    chart.set_smoothing(30)
    hand = Hand(chart)
    if numbers:
        for notches in (1, 30, -60):
            hand.wheel(0.4, 0.6, notches)
        hand.drag((0.5, 0.5), (0.2, 0.2))
        hand.drag((0.1, 0.5), (0.9, 0.5), SHIFT)
    x, y = chart.navigation.axes()
    assert x.low < x.high
    assert y.low < y.high
    assert next(iter(chart.table())).startswith("step")


def test_a_chart_looks_as_the_plot_it_extends(shown):
    from gradscribe.widgets.plots.views.curve_plot import CurvePlot
    from tests.widgets.plots.test_plot import _pixels

    pictures = []
    for kind in (CurvePlot, CurveChart):
        for theme in ("light", "dark"):
            made = shown(kind("Loss", "caption", True), 420, 300)
            made.set_theme(Theme.load(theme))
            numbers = series(np.exp(-np.arange(300) / 50))
            made.set_curves([PlotCurve("batch", numbers, made.theme.forward, shade=True)])
            made.is_keyed = True
            made.set_smoothing(15)
            pictures.append(_pixels(made.grab().toImage()))
    for plot, chart in zip(pictures[:2], pictures[2:], strict=True):
        assert (np.abs(plot - chart) > 2).mean() < 0.001


def test_charts_that_are_dropped_are_freed(qtbot):
    left = []
    for _ in range(60):
        made = CurveChart("Loss")
        made.set_curves([PlotCurve("batch", series(np.ones(9)), made.theme.forward)])
        made.resize(300, 200)
        made.grab()
        left.append(weakref.ref(made))
        made.deleteLater()
        del made
    qtbot.wait(1)
    gc.collect()
    assert sum(one() is not None for one in left) <= 1


def test_a_screen_reader_gets_steps_latest_and_least_number_and_trend(chart, hand):
    chart.set_curves(
        [PlotCurve("loss", series([8.0, 4.0, 2.0, 1.0, 3.0]), Theme.load("light").forward)]
    )
    chart.view.clearFocus()
    chart.view.setFocus(Qt.FocusReason.TabFocusReason)
    told = chart.view.accessibleDescription()
    assert told == "loss, steps 0 to 4, last 3.0000, least 1.0000, falling"


def test_the_line_of_a_graph_that_is_ahead_of_the_curves_waits_for_them(chart):
    chart.grab()
    _, last, _, _ = ends(chart)
    chart.set_played(round(last) + 20)
    chart.grab()
    assert not chart.played.isVisible()
    chart.set_played(round(last) - 20)
    assert chart.played.isVisible()
    chart.set_played(None)
    assert not chart.played.isVisible()
