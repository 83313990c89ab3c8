"""The word in the empty graph."""

import pytest
from PySide6.QtWidgets import QWidget

from gradscribe.app.document.state import Doc, Result
from gradscribe.app.ui.canvas.empty_state import EmptyState, empty_state_text
from gradscribe.engine.protocol.tape import Problem
from tests.app.fakes import leaves


@pytest.mark.parametrize(
    ("result", "word"),
    [
        (Result(engine="starting"), "Starting"),
        (Result(engine="ready", problem=Problem("E", "m")), "once the program runs"),
        (Result(engine="ready", shown_id=1), "Examples"),
        (Result(engine="running"), ""),
    ],
)
def test_it_says_what_one_waits_for(result, word):
    assert word in empty_state_text(result, Doc())


def test_a_program_from_elsewhere_wants_to_be_let_run():
    assert "then run it" in empty_state_text(Result(engine="ready", shown_id=-1), Doc(foreign=True))


def test_a_lesson_that_asks_first_does_not_send_to_the_examples():
    ran = Result(engine="ready", shown_id=1)
    assert empty_state_text(ran, Doc(lesson="tensor")) == "The program runs once you have answered"
    assert "Examples" in empty_state_text(ran, Doc(lesson="tensor", source="x = 1"))


def test_a_program_that_runs_does_not_ask_for_one():
    runs = Result(engine="running", shown_id=1)
    assert empty_state_text(runs, Doc(source="import torch")) == "Running…"


def test_a_graph_needs_no_word(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    word = EmptyState(over)
    word.show_result(Result(), Doc())
    assert not word.isHidden()
    word.show_result(Result(tape=leaves(1)), Doc())
    assert word.isHidden()


def test_a_tape_without_anything_to_draw_is_explained(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    word = EmptyState(over)
    failed = Result(tape=leaves(1), problem=Problem("E", "m"))
    word.show_result(failed, Doc())
    word.show_picture(has_cards=False)
    assert word.text() == "The program ended before its first operation"
    word.show_result(Result(tape=leaves(1)), Doc())
    assert word.isHidden()
    word.show_picture(has_cards=False)
    assert word.text() == "No operation has run here"
    word.show_picture(has_cards=True)
    assert word.isHidden()
