"""The pane asks, takes answers from the keyboard, and shows replies."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLayout

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.by_hand.pane import HandPage, HandPane

PAGE = HandPage(questions=("∂L/∂x", "∂L/∂w"), chosen=1, about="3 × 2", can_hide=True)


@pytest.fixture
def pane(qtbot):
    made = HandPane(("One op", "A chain"))
    made.layout().setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
    qtbot.addWidget(made)
    made.show()
    made.show_page(PAGE)
    return made


def test_return_sends_the_answer(pane, qtbot):
    pane.field.setFocus()
    QTest.keyClicks(pane.field, " 2*x ")
    with qtbot.waitSignal(pane.answered) as sent:
        QTest.keyClick(pane.field, Qt.Key.Key_Return)
    assert sent.args == ["2*x"]


@pytest.mark.parametrize(
    "page", [HandPage(), HandPage(questions=("a",), chosen=0, is_waiting=True)]
)
def test_nothing_is_sent_without_a_question_or_while_waiting(pane, qtbot, page):
    pane.show_page(page)
    pane.field.setText("1")
    with qtbot.assertNotEmitted(pane.answered):
        pane.field.returnPressed.emit()


def test_an_empty_answer_is_not_sent(pane, qtbot):
    with qtbot.assertNotEmitted(pane.answered):
        pane.field.returnPressed.emit()


def test_return_after_a_right_answer_goes_on(pane, qtbot):
    pane.show_page(
        HandPage(questions=PAGE.questions, chosen=1, reply="Right", mood="good", is_found=True)
    )
    with qtbot.waitSignal(pane.next_pressed):
        pane.field.returnPressed.emit()


def test_a_reply_is_plain_text(pane):
    pane.show_page(HandPage(questions=("a",), chosen=0, reply="a < b & <b>c</b>", mood="bad"))
    assert "<b>c</b>" in pane.reply.said()
    assert pane.reply.isVisibleTo(pane)


def test_buttons_are_there_where_they_make_sense(pane):
    assert not pane.reveal.isVisibleTo(pane)
    assert not pane.leave.isVisibleTo(pane)
    pane.show_page(
        HandPage(questions=("a",), chosen=0, hides=True, in_exercise=True, has_link=True)
    )
    for part in (pane.reveal, pane.leave, pane.link):
        assert part.isVisibleTo(pane)


def test_showing_a_page_reports_no_change_of_the_check_box(pane, qtbot):
    with qtbot.assertNotEmitted(pane.hiding_changed):
        pane.show_page(HandPage(hides=True, can_hide=True))
    assert pane.hiding.isChecked()


def test_an_exercise_carries_its_level(pane, qtbot):
    pane.level.setCurrentIndex(1)
    with qtbot.waitSignal(pane.exercise_pressed) as sent:
        pane.exercise.click()
    assert sent.args == [2]


@pytest.mark.parametrize("width", [230, 260, 380])
def test_nothing_is_cut_at_its_side(pane, width):
    pane.set_theme(Theme.load("dark"))
    pane.resize(width, 600)
    pane.show_page(
        HandPage(
            questions=("∂" + "a_long_name" * 9 + "/∂w",),
            chosen=0,
            reply="Not right. " * 20,
            mood="bad",
            hides=True,
            can_hide=True,
            in_exercise=True,
            score=("mul: 3 of 4 at the first try, 1 later",),
        )
    )
    body = pane.area.widget()
    assert body.minimumSizeHint().width() <= pane.area.viewport().width()
