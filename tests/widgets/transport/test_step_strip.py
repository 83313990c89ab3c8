"""The step strip: a number to type, curves to choose, the pace of playing."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.playback.tape.loops.step_curves import StepCurve
from gradscribe.playback.tape.loops.steps import StepMarks, Steps
from gradscribe.widgets.transport.step_strip import StepStrip


def curve(name, is_loss):
    return StepCurve(name, np.arange(300) + 0.5, np.arange(300.0), is_loss)


@pytest.fixture
def strip(shown):
    made = shown(StepStrip(), 1000, 50)
    made.set_steps(Steps(tuple(range(0, 9000, 30)), 9000), StepMarks())
    made.set_position(3015)
    made.heard = []
    made.picked.connect(made.heard.append)
    return made


def type_step(strip, text):
    strip.edit_step()
    QTest.keyClicks(strip.entry, text)
    QTest.keyClick(strip.entry, Qt.Key.Key_Return)


def test_it_shows_the_step_of_the_position_and_their_number(strip):
    assert strip.entry.text() == "101"
    assert strip.total.said() == "of 300"
    assert strip.canvas.value() == 101


def test_a_typed_step_is_picked(strip):
    type_step(strip, "250")
    assert strip.heard == [250]


def test_a_number_may_be_written_with_commas(shown):
    strip = shown(StepStrip(), 1000, 50)
    strip.set_steps(Steps(tuple(range(2000)), 2000), StepMarks())
    heard = []
    strip.picked.connect(heard.append)
    type_step(strip, "1,250")
    assert heard == [1250]


@pytest.mark.parametrize("text", ["0", "301", "-4", "12.5", "last", "²"])
def test_a_step_that_does_not_exist_is_said_at_its_place_and_stays(strip, text):
    type_step(strip, text)
    assert strip.heard == []
    assert strip.total.said() == "1 to 300"
    assert strip.total.property("role") == "error"
    assert strip.entry.text() == text
    type_step(strip, "7")
    assert strip.heard == [7]
    assert strip.total.said() == "of 300"


def test_playing_on_does_not_overwrite_what_is_being_typed(strip):
    strip.edit_step()
    QTest.keyClicks(strip.entry, "29")
    strip.set_position(3100)
    assert strip.entry.text() == "29"
    QTest.keyClick(strip.entry, Qt.Key.Key_Escape)
    assert strip.entry.text() == "104"


def test_a_program_without_steps_has_no_strip(strip):
    strip.set_steps(Steps((), 40), StepMarks())
    assert not strip.isVisible()
    strip.set_position(7)


def test_losses_are_drawn_and_others_can_be_chosen(strip):
    strip.set_curves([curve("loss", True), curve("acc", False)])
    assert [c.name for c in strip.shown_curves()] == ["loss"]
    menu = strip.curve_menu()
    assert [a.isChecked() for a in menu.actions()] == [True, False]
    menu.actions()[1].trigger()
    assert [c.name for c in strip.shown_curves()] == ["loss", "acc"]
    assert strip.names.text() == "loss, acc"
    menu.actions()[0].trigger()
    assert strip.names.text() == "acc"
    strip.set_curves([curve("loss", True), curve("acc", False)])
    assert [c.name for c in strip.shown_curves()] == ["acc"], "the choice outlives a run"


def test_the_pace_is_chosen_by_hand_and_shown_in_silence(strip, qtbot):
    strip.pace.setFocus()
    with qtbot.waitSignal(strip.pace_picked) as heard:
        QTest.keyClick(strip.pace, Qt.Key.Key_Down)
    assert heard.args == ["line"]
    with qtbot.assertNotEmitted(strip.pace_picked):
        strip.set_pace("step")
    assert strip.pace.currentText() == "by step"


def test_every_control_has_a_name(strip):
    for part in (strip.entry, strip.canvas, strip.names, strip.pace):
        assert part.accessibleName()


def test_a_large_window_draws_the_curves_higher(strip):
    low = strip.canvas.sizeHint().height()
    strip.resize(1800, strip.height())
    assert strip.canvas.sizeHint().height() > low
    strip.resize(900, strip.height())
    assert strip.canvas.sizeHint().height() == low
