"""Fit and residuals under the hand: navigation, editing, statistics and the table."""

import csv
import io

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.widgets.charts.plane import enlarge_plane
from gradscribe.widgets.plots.views.fit_plot import FitPlot
from tests.widgets.charts.test_plane import SHIFT, PlaneHand, entry, explored

X = np.linspace(-1, 1, 11)
Y = np.random.default_rng(1).normal(size=11)


@pytest.fixture
def hand(shown):
    hands = explored(FitPlot)
    shown(hands.widget, 560, 400)
    hands.widget.show_points(X, Y, np.arange(11) % 3 == 0, ("t", "v"))
    hands.widget.show_curve(np.array([-1.0, 1.0]), np.array([-0.5, 0.5]))
    return PlaneHand(hands)


def share(hand, x, y):
    axes = hand.chart.drawn_axes
    return axes.x.number_share(x), axes.y.number_share(y)


def emitted(signal):
    found = []
    signal.connect(lambda *sent: found.append(sent))
    return found


def test_wheel_drag_and_keys_move_it_and_home_shows_all(hand):
    whole = hand.ends()
    hand.wheel(0.5, 0.5)
    zoomed = hand.ends()
    assert zoomed[1] - zoomed[0] == pytest.approx(0.8 * (whole[1] - whole[0]))
    assert zoomed[3] - zoomed[2] == pytest.approx(0.8 * (whole[3] - whole[2]))
    hand.drag((0.5, 0.9), (0.25, 0.9))
    assert hand.ends()[0] == pytest.approx(zoomed[0] + 0.25 * (zoomed[1] - zoomed[0]), abs=0.02)
    hand.key(Qt.Key.Key_Home)
    assert hand.ends() == whole
    hand.key(Qt.Key.Key_Plus)
    assert hand.ends() != whole
    hand.double_click(0.5, 0.9)
    assert hand.ends() == whole


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_points_are_moved_drawn_and_removed_and_the_ground_pans(hand):
    hand.chart.editable = True
    drawn, moved, removed = (
        emitted(signal) for signal in (hand.chart.drawn, hand.chart.moved, hand.chart.removed)
    )
    point = share(hand, X[4], Y[4])
    whole = hand.ends()
    hand.drag(point, (point[0] + 0.1, point[1]))
    assert {index for index, *_ in moved} == {4}
    assert moved[-1][1] == pytest.approx(X[4] + 0.1 * (whole[1] - whole[0]), abs=0.02)
    assert hand.ends() == whole
    hand.click(0.02, 0.98)
    assert len(drawn) == 1
    assert drawn[0][0] == pytest.approx(whole[0] + 0.02 * (whole[1] - whole[0]), abs=0.02)
    QTest.mouseClick(hand.port, Qt.MouseButton.RightButton, pos=hand.at(*point).toPoint())
    assert removed == [], "no action on a right click but a menu"
    hand.choose("Remove this point", *point)
    assert removed == [(4,)]
    hand.drag((0.02, 0.98), (0.2, 0.9))
    assert len(drawn) == 1
    assert hand.ends() != whole


def test_a_click_draws_nothing_where_points_are_not_edited(hand):
    drawn = emitted(hand.chart.drawn)
    hand.click(0.02, 0.98)
    assert drawn == []


@pytest.mark.parametrize("residuals", [False, True])
def test_a_region_has_the_statistics_of_its_residuals(hand, residuals):
    hand.chart.residuals.setChecked(residuals)
    hand.chart.grab()
    hand.drag((0.0, 0.0), (0.47, 1.0), SHIFT)
    inside = X < -0.1
    found = (Y - X / 2)[inside]
    count, first, second = hand.hands.words()
    assert count == f"{inside.sum()} points"
    numbers = [float(w) for w in f"{first} {second}".replace("−", "-").split() if w[-1].isdigit()]
    wanted = found.mean(), found.min(), np.sqrt((found**2).mean())
    assert numbers == pytest.approx(wanted, rel=0.02, abs=0.01)


def test_the_table_has_the_points_in_sight_to_the_bit(hand):
    hand.wheel(0.5, 0.5, 3)
    low, high, under, over = hand.ends()
    head, *rows = csv.reader(io.StringIO("".join(hand.hands.table())))
    inside = (low <= X) & (high >= X) & (under <= Y) & (over >= Y)
    fit = np.interp(X, [-1.0, 1.0], [-0.5, 0.5])
    assert 0 < inside.sum() < len(X)
    assert head == ["t", "v", "fit", "residual", "validation"]
    numbers = np.array([[float(n) for n in row[:4]] for row in rows])
    assert (numbers == np.stack([X, Y, fit, Y - fit], axis=1)[inside]).all()
    assert [row[4] for row in rows] == [str(i % 3 == 0) for i in np.flatnonzero(inside)]


def test_the_menu_switches_to_the_residuals(hand):
    entry(hand, "Residuals").trigger()
    assert hand.chart.residuals.isChecked()
    assert entry(hand, "Residuals").isChecked()


def test_points_can_be_edited_in_the_large_window(hand, qtbot):
    hand.chart.editable = True
    larger = explored(FitPlot)
    window = enlarge_plane(
        hand.hands,
        larger,
        lambda: larger.widget.copy_from(hand.chart),
        [(larger.widget.drawn, hand.chart.drawn)],
    )
    qtbot.addWidget(window)
    window.show()
    drawn = emitted(hand.chart.drawn)
    PlaneHand(larger).click(0.02, 0.98)
    assert len(drawn) == 1


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([1.0], [2.0]),
        ([0.0, 1.0, 2.0], [np.nan, np.inf, 1.0]),
        ([np.nan, np.nan], [0.0, 1.0]),
        ([0.0, 1.0], [1e300, -1e300]),
        ([3.0, 3.0], [2.0, 2.0]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_odd_data_are_drawn_and_explored(hand, x, y):
    hand.chart.show_points(np.array(x), np.array(y))
    hand.wheel(0.5, 0.5)
    hand.drag((0.3, 0.3), (0.8, 0.8), SHIFT)
    hand.move(0.5, 0.5)
    hand.chart.grab()
    rows = list(csv.reader(io.StringIO("".join(hand.hands.table()))))
    assert all(len(row) == 5 for row in rows)
