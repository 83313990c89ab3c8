"""The decision boundary under the hand: navigation, editing, statistics and the table."""

import csv
import io

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.widgets.plots.drawing.points import PlanePoints
from gradscribe.widgets.plots.ground import Ground
from gradscribe.widgets.plots.views.boundary import BoundaryPlot
from tests.widgets.charts.test_fit_plane import emitted, share
from tests.widgets.charts.test_plane import SHIFT, PlaneHand, entry, explored

DATA = np.random.default_rng(2).uniform(-0.9, 0.9, (40, 2))
KINDS = (DATA[:, 0] > 0).astype(np.intp)


@pytest.fixture
def hand(shown):
    hands = explored(BoundaryPlot)
    shown(hands.widget, 560, 440)
    logits = np.tile(np.linspace(-3, 3, 40, dtype=np.float32), (40, 1))
    hands.widget.show_points(PlanePoints(*DATA.T, kinds=KINDS, names=("left", "right")))
    hands.widget.show_ground(Ground((-1, -1, 1, 1), np.tanh(logits / 2), logits=logits))
    return PlaneHand(hands)


def test_wheel_drag_and_keys_move_it_and_home_shows_all(hand):
    hand.wheel(0.25, 0.75)
    assert hand.ends() == pytest.approx((-0.9, 0.7, -0.7, 0.9), abs=0.02)
    hand.drag((0.5, 0.5), (0.25, 0.5))
    assert hand.ends() == pytest.approx((-0.5, 1.1, -0.7, 0.9), abs=0.03)
    hand.key(Qt.Key.Key_Home)
    assert hand.ends() == (-1, 1, -1, 1)
    hand.key(Qt.Key.Key_Right)
    assert hand.ends() == pytest.approx((-0.8, 1.2, -1, 1))
    hand.double_click(0.5, 0.5)
    assert hand.ends() == (-1, 1, -1, 1)


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_points_are_moved_drawn_and_removed_where_it_is_zoomed(hand):
    hand.chart.editable = True
    hand.wheel(*share(hand, *DATA[7]), 3)
    drawn, moved, removed = (
        emitted(signal) for signal in (hand.chart.drawn, hand.chart.moved, hand.chart.removed)
    )
    x, y = share(hand, *DATA[7])
    seen = hand.ends()
    hand.drag((x, y), (x + 0.1, y))
    assert {index for index, *_ in moved} == {7}
    assert moved[-1][1] == pytest.approx(DATA[7, 0] + 0.1 * (seen[1] - seen[0]), abs=0.01)
    assert hand.ends() == seen
    QTest.mouseClick(hand.port, Qt.MouseButton.RightButton, pos=hand.at(x, y).toPoint())
    assert removed == [], "no action on a right click but a menu"
    hand.choose("Remove this point", x, y)
    assert removed == [(7,)]
    hand.chart.show_points(PlanePoints(np.empty(0), np.empty(0), kinds=np.empty(0, np.intp)))
    hand.click(0.25, 0.5)
    hand.choose("Draw a point of class 0 here", 0.75, 0.5)
    assert [kind for *_, kind in drawn] == [1, 0]
    assert drawn[0][0] == pytest.approx(seen[0] + 0.25 * (seen[1] - seen[0]), abs=0.01)
    hand.drag((0.5, 0.5), (0.3, 0.5))
    assert len(drawn) == 2
    assert hand.ends() != seen


def test_a_region_counts_the_points_of_each_class(hand):
    hand.drag((0.0, 0.0), (0.7, 1.0), SHIFT)
    inside = DATA[:, 0] < -1 + 2 * 0.7
    assert hand.hands.words() == [
        f"{inside.sum()} points",
        f"left  {(KINDS[inside] == 0).sum()}",
        f"right  {(KINDS[inside] == 1).sum()}",
    ]


def test_the_table_has_the_points_in_sight_to_the_bit(hand):
    hand.wheel(0.5, 0.5, 3)
    low, high, under, over = hand.ends()
    x, y = DATA.T
    inside = (low <= x) & (x <= high) & (under <= y) & (y <= over)
    head, *rows = csv.reader(io.StringIO("".join(hand.hands.table())))
    assert head == ["x", "y", "class"]
    assert 0 < inside.sum() < len(DATA)
    assert [(float(a), float(b), int(k)) for a, b, k in rows] == list(
        zip(x[inside], y[inside], KINDS[inside], strict=True)
    )


def test_the_menu_switches_what_is_shown(hand):
    entry(hand, "Discrete").trigger()
    assert hand.chart.discrete.isChecked()
    entry(hand, "Validation points").trigger()
    assert not hand.chart.held_back.isChecked()
