"""Advice stands at its section, with a button for the change, and goes when it is followed."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from gradscribe.engine.protocol.training import Advice
from gradscribe.widgets.training.setup.advice_lines import AdviceLines
from gradscribe.widgets.training.setup.setup_form import SetupForm

SCALE = Advice("scaling", "standardize", "Inputs are large", "Standardize", {"standardize": True})
LABELS = Advice("classes", "data.target", "Labels <b>True</b> and true are the same")
RATE = Advice("rate", "optimizer.lr", "Far too small", "Learning rate 0.01", {"optimizer.lr": 0.01})


@pytest.fixture
def form(shown):
    made = shown(SetupForm(), 320, 900)
    made.followed = []
    made.advice_followed.connect(made.followed.append)
    return made


def said(section):
    return [line.said() for line in section.advice_lines()]


def test_each_stands_at_the_section_of_its_setting(form):
    form.show_advice((SCALE, LABELS, RATE))
    assert said(form.split) == ["Inputs are large"]
    assert said(form.parts["data"]) == ["Labels <b>True</b> and true are the same"]
    assert said(form.parts["optimizer"]) == ["Far too small"]
    assert said(form.parts["model"]) == []


def test_it_is_seen_although_its_section_is_closed(form):
    form.show_advice((SCALE,))
    assert not form.split.is_open
    assert form.split.advice_lines()[0].isVisible()


def test_a_button_reports_what_it_would_change(form, qtbot):
    form.show_advice((SCALE, LABELS))
    (button,) = form.split.findChildren(AdviceLines)[0].buttons
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert form.followed == [SCALE]
    assert form.parts["data"].findChildren(AdviceLines)[0].buttons == []


def test_a_button_is_reached_and_pressed_by_keys(form, qtbot):
    form.show_advice((SCALE,))
    (button,) = form.split.findChildren(AdviceLines)[0].buttons
    assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert button.accessibleDescription() == "Inputs are large"
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert form.followed == [SCALE]


def test_other_advice_replaces_it_and_none_leaves_nothing(form, qtbot):
    form.show_advice((SCALE,))
    form.show_advice((RATE,))
    assert said(form.split) == []
    assert not form.split.advice.isVisible()
    form.show_advice(())
    qtbot.waitUntil(lambda: not form.findChildren(AdviceLines)[0].findChildren(QPushButton))
    assert not form.parts["optimizer"].advice.isVisible()


def test_the_same_advice_keeps_its_button(form):
    form.show_advice((SCALE,))
    before = form.split.advice.buttons[0]
    form.show_advice((Advice(*(getattr(SCALE, name) for name in SCALE.__struct_fields__)), RATE))
    assert form.split.advice.buttons == [before]


def test_an_unknown_place_is_the_data(form):
    form.show_advice((Advice("x", "nowhere.at.all", "Words"),))
    assert said(form.parts["data"]) == ["Words"]


def test_a_change_without_a_title_has_no_button(form):
    form.show_advice((Advice("x", "train", "Words", "", {"train": 1.0}),))
    assert form.split.advice.buttons == []
