"""The five steps are switched off, doubled and moved by clicks and keys (rows 54, 81)."""

import pytest
from PySide6.QtCore import Qt

from gradscribe.engine.protocol.step_order import MAX_STATEMENTS, RIGHT_ORDER
from gradscribe.widgets.training.setup.step_order import StepOrderSection, order_of, rows_of


@pytest.fixture
def section(shown):
    made = shown(StepOrderSection())
    made.head.setChecked(True)
    made.heard = []
    made.reordered.connect(made.heard.append)
    return made


def line(section, name):
    return next(one for one in section.lines if one.isVisible() and one.box.text() == name)


def test_a_statement_that_is_left_out_stands_at_its_usual_place():
    assert rows_of(("forward", "loss", "step")) == [
        ("zero_grad", 0),
        ("forward", 1),
        ("loss", 1),
        ("backward", 0),
        ("step", 1),
    ]
    for order in (RIGHT_ORDER, ("step", "step", "forward"), ("loss", "forward", "loss")):
        assert order_of(rows_of(order)) == order


@pytest.mark.checklist(54, 81)
def test_a_click_leaves_a_statement_out_and_back_in(section, qtbot):
    box = line(section, "zero_grad").box
    box.click()
    assert section.heard[-1] == RIGHT_ORDER[1:]
    assert "never cleared" in section.why.said()
    assert not line(section, "zero_grad").twice.isEnabled()
    box.click()
    assert section.heard[-1] == RIGHT_ORDER
    assert not section.why.isVisible()


def test_a_click_doubles_a_statement_and_another_one_takes_that_back(section):
    line(section, "step").twice.click()
    assert section.heard[-1] == (*RIGHT_ORDER, "step")
    line(section, "step").twice.click()
    assert section.heard[-1] == RIGHT_ORDER


def test_keys_move_a_statement_and_the_focus_goes_with_it(section, qtbot):
    line(section, "step").up.setFocus()
    for _ in range(2):
        qtbot.keyClick(section.focusWidget(), Qt.Key.Key_Space)
    assert section.heard[-1] == ("zero_grad", "forward", "step", "loss", "backward")
    assert section.focusWidget() is line(section, "step").up
    for _ in range(2):
        qtbot.keyClick(section.focusWidget(), Qt.Key.Key_Space)
    assert section.heard[-1] == ("step", "zero_grad", "forward", "loss", "backward")
    assert not line(section, "step").up.isEnabled()
    assert section.focusWidget() is line(section, "step").down


def test_a_statement_that_is_switched_off_moves_without_a_new_order(section):
    line(section, "zero_grad").box.click()
    heard = len(section.heard)
    line(section, "zero_grad").down.click()
    assert len(section.heard) == heard
    section.choose(section.heard[-1], False)
    line(section, "zero_grad").box.click()
    assert section.heard[-1] == ("forward", "zero_grad", "loss", "backward", "step")


def test_the_last_statement_cannot_be_switched_off_nor_more_be_added_than_may_be(section):
    section.choose(("step",), False)
    line(section, "step").box.click()
    assert section.heard == []
    assert line(section, "step").box.isChecked()
    section.choose((*["forward", "loss"] * (MAX_STATEMENTS // 2),), False)
    section.lines[0].twice.click()
    assert section.heard == []


def test_an_order_from_a_file_is_shown_with_each_of_its_rows(section):
    section.choose(("zero_grad", "forward", "loss", "backward", "step", "zero_grad"), False)
    shown = [one.box.text() for one in section.lines if one.isVisible()]
    assert shown == ["zero_grad", "forward", "loss", "backward", "step", "zero_grad"]
    section.choose(("step",) * 3, False)
    assert [one.box.text() for one in section.lines if one.isVisible()][-1] == "step ×3"
    section.usual.click()
    assert section.heard[-1] == RIGHT_ORDER
    assert sum(one.isVisible() for one in section.lines) == 5


def test_the_update_by_hand_is_a_switch_of_its_own(section):
    heard = []
    section.update_switched.connect(heard.append)
    section.manual.click()
    assert heard == [True]
    section.choose(RIGHT_ORDER, False)
    assert not section.manual.isChecked()


def test_buttons_have_names_for_a_screen_reader(section):
    one = line(section, "loss")
    names = [button.accessibleName() for button in (one.twice, one.up, one.down)]
    assert names == ["Run loss twice", "Move loss up", "Move loss down"]
