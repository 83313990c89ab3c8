"""Rich words, choices and dots."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.lessons.parts import AnswerChoice, ProgressDots, RichTextLabel


def test_words_are_hidden_while_empty_and_grow_with_their_text(shown):
    words = shown(RichTextLabel(), 200, 400)
    words.say("")
    assert not words.isVisible()
    words.say("<p>short</p>")
    short = words.heightForWidth(200)
    words.say("<p>" + "long " * 60 + "</p>")
    assert words.heightForWidth(200) > 3 * short
    words.set_theme(Theme.load("light").scaled(2.0))
    assert words.heightForWidth(200) > 8 * short


def test_a_mood_is_a_sign_and_no_colour_alone(shown):
    words = shown(RichTextLabel())
    words.say("Not quite")
    words.set_mood("bad")
    assert "✗" in words.text()
    words.set_mood("good")
    assert "✓" in words.text()
    assert words.said() == "Not quite"


@pytest.mark.parametrize("live", [True, False])
def test_a_choice_is_taken_only_while_it_is_live(shown, qtbot, live):
    choice = shown(AnswerChoice(1))
    choice.show_choice("two", "", live)
    taken = []
    choice.chosen.connect(taken.append)
    qtbot.mouseMove(choice)
    qtbot.keyClick(choice, Qt.Key.Key_Return)
    assert taken == ([1] if live else [])


def test_dots_tell_their_step(shown):
    dots = shown(ProgressDots(), 60, 16)
    dots.show_step(3, 40)
    assert dots.accessibleName() == "Step 3 of 40"
    assert not dots.grab().isNull()


def test_return_that_is_held_down_does_not_run_through_a_lesson(shown):
    choice = shown(AnswerChoice(0))
    choice.show_choice("one", "good", live=False)
    passed = []
    choice.continue_pressed.connect(lambda: passed.append(1))
    for held in (True, False):
        press = QKeyEvent(
            QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", held
        )
        choice.keyPressEvent(press)
    assert passed == [1]
