"""The pane of a lesson: what it shows of a page, and what it tells."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from gradscribe.playback.lessons.page import LessonPage
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.lessons.pane import LessonPane

WORDS = LessonPage(
    title="Two uses",
    place="Autograd · 9 of 26",
    heading="Two ways",
    number=1,
    total=4,
    words="<p>Some <code>code</code>.</p>",
)
ASKING = replace(
    WORDS, number=2, label="Predict", asked="<p>What arrives?</p>", can_hint=True, can_reveal=True
)
CHOOSING = replace(ASKING, kind="choice", choices=("one", "<b>two</b>", "three"))


@pytest.fixture
def pane(shown):
    return shown(LessonPane(), 330, 600)


def test_a_page_of_words_asks_nothing(pane):
    pane.show_page(WORDS)
    assert pane.title.said() == "Two uses"
    assert pane.words.said() == "Some  code ."
    assert not pane.card.isVisible()
    assert not pane.back.isEnabled()
    assert pane.next.text() == "Next"


def test_a_number_is_typed_and_checked(pane, qtbot):
    pane.show_page(ASKING)
    pane.focus_answer()
    assert pane.window().focusWidget() is pane.field
    qtbot.keyClicks(pane.field, "16")
    with qtbot.waitSignal(pane.answered) as told:
        qtbot.keyClick(pane.field, Qt.Key.Key_Return)
    assert told.args == ["16"]
    with qtbot.waitSignal(pane.answered):
        pane.check.click()


def test_what_came_of_an_answer_is_scrolled_into_sight(shown, qtbot):
    pane = shown(LessonPane(), 260, 300)
    page = replace(CHOOSING, words="<p>Many words.</p>" * 40)
    pane.show_page(page)
    sight = pane.area.viewport()
    assert pane.area.verticalScrollBar().value() == 0

    def seen(words):
        return sight.rect().contains(words.mapTo(sight, words.rect().center()))

    qtbot.waitUntil(lambda: pane.area.verticalScrollBar().maximum() > 100)
    assert not seen(pane.choices[0])
    pane.show_page(replace(page, mood="good", said="1", verdict="Yes", why="<p>Because</p>"))
    qtbot.waitUntil(lambda: seen(pane.verdict))
    pane.show_page(replace(page, number=3))
    assert pane.area.verticalScrollBar().value() == 0


def test_what_is_typed_stays_while_the_step_is_the_same(pane, qtbot):
    pane.show_page(ASKING)
    qtbot.keyClicks(pane.field, "1")
    pane.show_page(replace(ASKING, mood="bad", said="1", verdict="Not quite", hint="<p>h</p>"))
    assert pane.field.text() == "1"
    assert "Not quite" in pane.verdict.said()
    assert pane.hint.isVisible()
    pane.show_page(replace(ASKING, number=3))
    assert pane.field.text() == ""


def test_an_answered_question_takes_no_more_and_return_goes_on(pane, qtbot):
    pane.show_page(replace(ASKING, mood="good", said="16", verdict="Yes: 16", why="<p>why</p>"))
    assert pane.field.isReadOnly()
    assert not pane.check.isVisible()
    assert pane.why.isVisible()
    assert pane.verdict.text().count("✓") == 1
    pane.field.setFocus()
    with qtbot.waitSignal(pane.next_pressed), qtbot.assertNotEmitted(pane.answered):
        qtbot.keyClick(pane.field, Qt.Key.Key_Return)


def test_return_in_the_field_is_not_left_to_a_button_that_gets_the_keyboard(pane, qtbot):
    pane.show_page(replace(ASKING, mood="good", said="16", verdict="Yes: 16"))
    pane.next_pressed.connect(pane.next.setFocus)
    pane.field.setFocus()
    key = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r")
    with qtbot.waitSignal(pane.next_pressed):
        QApplication.sendEvent(pane.field, key)
    assert key.isAccepted()


def test_choices_are_chosen_by_mouse_key_and_number(pane, qtbot):
    pane.show_page(CHOOSING)
    assert [choice.isVisible() for choice in pane.choices] == [True] * 3 + [False] * 3
    assert not pane.field.isVisible()
    with qtbot.waitSignal(pane.answered) as told:
        qtbot.keyClick(pane, "2")
    assert told.args == ["1"]
    pane.focus_answer()
    with qtbot.waitSignal(pane.answered) as told:
        qtbot.keyClick(pane.choices[0], Qt.Key.Key_Return)
    assert told.args == ["0"]
    with qtbot.waitSignal(pane.answered) as told:
        qtbot.keyClick(pane.choices[2], Qt.Key.Key_Space)
    assert told.args == ["2"]
    with qtbot.assertNotEmitted(pane.answered):
        qtbot.keyClick(pane, "9")


def test_return_on_a_choice_goes_on_once_the_question_is_answered(pane, qtbot):
    pane.show_page(CHOOSING)
    pane.focus_answer()
    pane.show_page(replace(CHOOSING, mood="good", said="0", verdict="Yes"))
    with qtbot.waitSignal(pane.next_pressed), qtbot.assertNotEmitted(pane.answered):
        qtbot.keyClick(pane.choices[0], Qt.Key.Key_Return)
    pane.show_page(replace(CHOOSING, waiting=True))
    with qtbot.assertNotEmitted(pane.next_pressed), qtbot.assertNotEmitted(pane.answered):
        qtbot.keyClick(pane.choices[0], Qt.Key.Key_Return)


def test_the_field_says_that_numbers_may_be_a_list(pane):
    pane.show_page(ASKING)
    assert "[1, 2]" in pane.field.placeholderText()
    width = pane.field.fontMetrics().horizontalAdvance(pane.field.placeholderText())
    assert width < pane.field.width()


def test_a_choice_shows_how_it_came_out_by_sign_and_name(pane):
    pane.show_page(replace(CHOOSING, mood="bad", said="1", verdict="Not quite"))
    assert pane.choices[1].sign.text() == "✗"
    assert pane.choices[0].sign.text() == "1"
    assert "not right" in pane.choices[1].accessibleName()
    pane.show_page(replace(CHOOSING, mood="good", said="0", verdict="Yes"))
    assert pane.choices[0].sign.text() == "✓"


def test_nothing_is_answered_while_the_program_runs(pane, qtbot):
    pane.show_page(replace(ASKING, waiting=True))
    with qtbot.assertNotEmitted(pane.answered):
        qtbot.keyClick(pane.field, Qt.Key.Key_Return)
    assert "Running" in pane.verdict.said()


def test_the_buttons_tell(pane, qtbot):
    pane.show_page(replace(ASKING, can_restore=True))
    for button, signal in (
        (pane.next, pane.next_pressed),
        (pane.back, pane.back_pressed),
        (pane.hint_button, pane.hint_pressed),
        (pane.reveal_button, pane.reveal_pressed),
        (pane.restore, pane.restore_pressed),
        (pane.contents, pane.contents_pressed),
        (pane.close_button, pane.leave_pressed),
    ):
        assert button.isVisible()
        with qtbot.waitSignal(signal):
            button.click()


def test_a_program_is_shown_until_it_may_run(pane):
    pane.show_page(replace(ASKING, code="x = 1\n    y = 2\n"))
    assert pane.code_box.isVisible()
    assert pane.code.text().splitlines()[1].startswith("    y")
    pane.show_page(ASKING)
    assert not pane.code_box.isVisible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_the_pane(pane, theme):
    pane.set_theme(Theme.load(theme).scaled(1.5))
    long = "<p>" + "averyverylongword " * 30 + "<code>" + "x" * 80 + "</code></p>"
    pane.show_page(replace(CHOOSING, words=long, choices=("long " * 60, "b"), last=True))
    assert pane.area.horizontalScrollBar().maximum() == 0
    assert pane.next.text() == "Finish"


def test_the_page_can_be_spoken(pane):
    pane.show_page(ASKING)
    assert "Two ways" in pane.spoken()
    assert "What arrives?" in pane.spoken()
    assert pane.dots.accessibleName() == "Step 2 of 4"


@pytest.mark.parametrize("mood", ["bad", ""])
def test_a_reply_is_in_sight_in_a_low_pane(shown, qtbot, mood):
    pane = shown(LessonPane(), 260, 300)
    page = replace(ASKING, words="<p>Many words.</p>" * 40)
    pane.show_page(page)
    sight = pane.area.viewport()
    qtbot.waitUntil(lambda: pane.area.verticalScrollBar().maximum() > 100)
    pane.show_page(replace(page, mood=mood, said="1", verdict="It is said here " * 5))

    def whole():
        top = pane.verdict.mapTo(sight, pane.verdict.rect().topLeft()).y()
        return top >= 0 and top + pane.verdict.height() <= sight.height()

    qtbot.waitUntil(whole)
