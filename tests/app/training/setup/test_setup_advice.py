"""Advice of the engine is shown at its setting, followed by a press, and undone like any change."""

import pytest
from PySide6.QtCore import Qt

from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part
from gradscribe.engine.protocol.training import Advice, RunAdvice

SCALE = Advice("scaling", "standardize", "Inputs are large", "Standardize", {"standardize": True})
RATE = Advice("rate", "optimizer.lr", "Far too small", "Learning rate 0.3", {"optimizer.lr": 0.3})


def said(room):
    sections = room.form.sections()
    return [line.said() for section in sections for line in section.advice_lines()]


@pytest.fixture
def advised(room, train_link):
    train_link.received.emit(RunAdvice(1, (SCALE, RATE)))
    return room


def press(room, section, qtbot):
    (button,) = section.advice.buttons
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_advice_is_followed_by_a_press_and_undone(advised, begun, train_link, qtbot):
    before = begun.setup
    assert sorted(said(advised)) == ["Far too small", "Inputs are large"]
    press(advised, advised.form.split, qtbot)
    assert begun.setup.standardize
    qtbot.waitUntil(lambda: train_link.last(messages.ChangeSetup) is not None)
    assert train_link.last(messages.ChangeSetup).setup.standardize
    press(advised, advised.form.parts["optimizer"], qtbot)
    assert begun.setup.optimizer == Part("adam", {"lr": 0.3})
    begun.controller.undo()
    begun.controller.undo()
    assert begun.setup == before


def test_advice_goes_when_the_engine_has_none_any_more(advised, train_link):
    train_link.received.emit(RunAdvice(1, ()))
    assert said(advised) == []


def test_advice_goes_with_the_run_it_was_on(advised, begun, train_link):
    train_link.begin(1, begun.setup)
    assert said(advised) == []
    train_link.received.emit(RunAdvice(1, (SCALE,)))
    begun.controller.begin()
    train_link.begin(2, begun.setup)
    assert said(advised) == []
    train_link.received.emit(RunAdvice(1, (RATE,)))
    assert said(advised) == []


def test_a_change_that_cannot_be_made_is_said_and_changes_nothing(room, begun, train_link, qtbot):
    before, heard = begun.setup, []
    begun.said.connect(heard.append)
    bad = Advice("x", "train", "Words", "Button", {"train": 7.0})
    train_link.received.emit(RunAdvice(1, (bad,)))
    press(room, room.form.split, qtbot)
    assert begun.setup == before
    assert any("train is 7.0" in words for words in heard)


def test_advice_out_of_sight_is_counted_and_shown(room, train_link, qtbot):
    for section in room.form.sections():
        section.head.setChecked(True)
    bar = room.sheet.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 400)
    bar.setValue(bar.maximum())
    train_link.received.emit(RunAdvice(1, (SCALE,)))
    qtbot.waitUntil(room.remarks.isVisible)
    assert room.remarks.text() == "1 remark out of sight"
    qtbot.mouseClick(room.remarks, Qt.MouseButton.LeftButton)
    line = room.form.split.advice_lines()[0]
    qtbot.waitUntil(lambda: not line.visibleRegion().isEmpty())
    qtbot.waitUntil(lambda: not room.remarks.isVisible())


def test_without_advice_there_is_nothing_to_count(room):
    assert not room.remarks.isVisible()
