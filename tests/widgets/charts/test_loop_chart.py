"""The chart of a loop's scalars under the hand: picked rounds, the choice, the words."""

import math
import re

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.playback.tape.loops.loop_scalars import ScalarSeries
from gradscribe.playback.tape.loops.steps import Steps
from gradscribe.widgets.charts.enlarged import ChartWindow
from gradscribe.widgets.charts.loop_chart import LoopChart
from tests.widgets.charts.conftest import Hand


def scalars(name, numbers, line=3, every=10, dtype="float32"):
    positions = [every * (k + 1) for k in range(len(numbers))]
    return ScalarSeries(name, line, dtype, list(numbers), positions)


LOSS = scalars("loss", np.float32(1) / np.arange(1, 301, dtype=np.float32))
ACCURACY = scalars("acc", np.linspace(0, 1, 30).tolist(), line=7, every=100, dtype="float64")


@pytest.fixture
def loop(shown):
    made = shown(LoopChart(), 520, 360)
    made.set_series((LOSS, ACCURACY), "", again=False)
    made.grab()
    return made


@pytest.fixture
def hand(loop):
    return Hand(loop.chart)


def picked(loop):
    found = []
    loop.position_picked.connect(found.append)
    return found


def names(loop):
    return {curve.name for curve in loop.chart.curves}


def test_a_click_picks_the_position_of_the_round(loop, hand):
    found = picked(loop)
    hand.click(250 / 300, 0.5)
    assert abs(found[0] - 2500) <= 20
    assert found[0] % 10 == 0


def test_dragging_the_position_line_passes_through_the_rounds(loop, hand):
    loop.set_position(1500)
    found = picked(loop)
    hand.drag((0.5, 0.5), (0.8, 0.5))
    assert len(found) > 3
    assert found == sorted(found)
    assert abs(found[-1] - 2400) <= 30


@pytest.mark.parametrize(("position", "at"), [(0, None), (9, None), (10, 1), (2504, 250)])
def test_the_line_stands_at_the_round_of_the_playback(loop, position, at):
    loop.set_position(position)
    assert loop.chart.position == at


def test_the_exact_number_of_the_round_is_written(loop):
    loop.set_position(2500)
    (written,) = re.findall(r"loss = (\S+) in step 250", loop.words.said())
    assert np.float32(written) == np.float32(1) / np.float32(250)


def test_the_first_curve_is_shown_and_others_can_be_chosen(loop):
    assert names(loop) == {"loss"}
    for chip, expected in ((1, {"loss", "acc"}), (0, {"acc"}), (1, set())):
        QTest.mouseClick(loop.chips[chip], Qt.MouseButton.LeftButton)
        assert names(loop) == expected
    assert loop.chart.placeholder == "Choose a curve above"


def test_a_chip_is_toggled_by_keyboard(loop):
    loop.chips[1].setFocus()
    QTest.keyClick(loop.chips[1], Qt.Key.Key_Space)
    assert names(loop) == {"loss", "acc"}


def test_curves_share_the_rounds_of_the_longest(loop):
    loop.chips[1].click()
    acc = next(curve for curve in loop.chart.curves if curve.name == "acc")
    assert acc.series.steps(0, 30).tolist() == list(range(10, 301, 10))


def test_another_run_leaves_the_last_one_pale_and_the_choice_as_it_was(loop):
    loop.chips[1].click()
    better = scalars("loss", [0.5] * 300)
    loop.set_series((better, ACCURACY), "", again=True)
    assert names(loop) == {"loss", "acc", "loss, run before", "acc, run before"}
    before = next(one for one in loop.chart.curves if one.name == "loss, run before")
    assert before.series.numbers().tolist() == LOSS.numbers
    loop.set_series((better,), "", again=False)
    assert names(loop) == {"loss"}


@pytest.mark.parametrize(("bad", "word"), [(math.nan, "NaN"), (-math.inf, "infinite")])
def test_a_number_that_is_none_is_a_gap_and_said(loop, bad, word):
    loop.set_series((scalars("loss", [1.0] * 39 + [bad] * 20),), "Cut short.", again=False)
    loop.grab()
    assert f"loss is {word} first in step 40" in loop.words.said()
    assert "Cut short." in loop.words.said()


def test_names_that_are_alike_are_told_apart_by_their_lines(loop):
    loop.set_series((LOSS, scalars("loss", [1.0] * 5, line=9)), "", again=False)
    assert [chip.text() for chip in loop.chips[:2]] == ["loss, line 3", "loss, line 9"]


def test_nothing_offers_to_train_again(loop, hand):
    hand.drag((0.2, 0.5), (0.6, 0.5), Qt.KeyboardModifier.ShiftModifier)
    assert loop.chart.stretch is not None
    assert not loop.chart.again.isVisible()
    assert not [a for a in loop.chart.menu.menu().actions() if "Train" in a.text()]


def test_the_window_of_its_own_moves_the_playback_too(loop, qtbot):
    loop.chart.menu.enlarged.emit()
    (large,) = loop.window().findChildren(ChartWindow)
    qtbot.addWidget(large)
    found = picked(loop)
    Hand(large.chart).click(0.5, 0.5)
    assert abs(found[0] - 1500) <= 20
    loop.chart.menu.enlarged.emit()
    assert loop.window().findChildren(ChartWindow) == [large], "it is raised, not opened twice"


def test_twenty_thousand_rounds(loop):
    many = scalars("loss", np.linspace(1, 0, 20_000).tolist())
    loop.set_series((many,), "", again=False)
    loop.set_position(150_000)
    assert loop.chart.position == 15_000


def test_chips_that_do_not_fit_are_in_a_menu(loop, qtbot):
    many = [scalars(f"validation_loss_of_part_{k}", [1.0] * 5, line=k + 1) for k in range(6)]
    loop.set_series(many, "", again=False)
    loop.resize(320, 300)
    chips = [chip for chip in loop.chips if chip.isVisible()]
    assert 1 <= len(chips) < 6
    qtbot.waitUntil(lambda: all(c.width() >= c.sizeHint().width() for c in chips))
    assert loop.more.isVisible()
    entries = loop.all_curves().actions()
    assert [entry.text() for entry in entries] == [one.name for one in many]
    entries[5].trigger()
    assert many[5].name not in names(loop)
    loop.resize(1600, 300)
    assert not loop.more.isVisible()
    assert all(chip.isVisible() for chip in loop.chips)


def test_a_gradient_of_the_loss_is_drawn_once_it_is_chosen(loop):
    loop.set_series((LOSS, scalars("∂loss/∂h", [1.0] * 300)), "", again=False)
    assert names(loop) == {"loss"}
    loop.chips[1].click()
    assert names(loop) == {"loss", "∂loss/∂h"}


def test_the_axis_counts_the_steps_of_the_tape(loop, hand):
    # Of 300 steps of 10 events the first 100 lack the loss, the others have it twice.
    loop_steps = Steps(tuple(range(0, 3000, 10)), 3000)
    positions = [k * 10 + part for k in range(100, 300) for part in (3, 6)]
    twice = ScalarSeries("loss", 3, "float32", [float(p) for p in positions], positions)
    loop.set_series((twice,), "", again=False, steps=loop_steps)
    (curve,) = loop.chart.curves
    assert curve.series.steps(0, 400).tolist() == [k + part for k in range(101, 301)
                                                   for part in (0, 0.5)]  # fmt: skip
    loop.set_position(1504)
    assert loop.chart.position == 151
    assert "loss = 1503.0 in step 151" in loop.words.said()
    found = picked(loop)
    loop.chart.step_picked.emit(150)
    loop.chart.step_picked.emit(40)
    loop.chart.step_picked.emit(300)
    assert found == [1493, 1003, 2993]
