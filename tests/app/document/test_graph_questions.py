"""Questions to the graph: only the latest is answered, and in another thread."""

import threading

import pytest

from gradscribe.app.document import graph_questions
from gradscribe.app.document.graph_questions import GraphQuestions, WaysFinder
from gradscribe.playback.flow import highlight
from gradscribe.playback.flow.highlight import Highlight
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.tape import scenes

SOURCE = "x = param(2.0)\ny = param(3.0)\nz = x * y\nw = z + x\nloss = w**2\nloss.backward()"


@pytest.fixture
def questions(qtbot):
    made = GraphQuestions()
    yield made
    made.close()


@pytest.fixture
def shown(record):
    tape = record(SOURCE)
    return tape, build_picture(tape, scenes.scenes(tape)[0])


def key_of(tape, picture, name):
    return picture.value_cards[next(v.id for v in tape.values if v.name == name)]


def test_an_answer_is_found_in_another_thread_and_lights_up(questions, shown, qtbot, monkeypatch):
    threads, sizes = [], []
    plain = highlight.answer

    def answer(*args):
        threads.append(threading.get_ident())
        return plain(*args)

    monkeypatch.setattr(highlight, "answer", answer)
    questions.changed.connect(lambda: sizes.append(len(questions.lit)))
    questions.ask(*shown, Highlight("ways", key_of(*shown, "x")))
    assert questions.lit is None
    qtbot.waitUntil(lambda: not questions.is_busy)
    assert threads[0] != threading.get_ident()
    assert sizes == [1, 2, 3, 4]


def test_the_same_question_is_not_asked_again(questions, shown, qtbot):
    asked = Highlight("after", key_of(*shown, "x"))
    questions.ask(*shown, asked)
    qtbot.waitUntil(lambda: not questions.is_busy)
    questions.ask(*shown, asked)
    assert not questions.is_busy


def test_only_the_latest_question_is_answered(questions, shown, qtbot):
    questions.ask(*shown, Highlight("after", key_of(*shown, "x")))
    questions.ask(*shown, Highlight("before", key_of(*shown, "z")))
    qtbot.waitUntil(lambda: not questions.is_busy)
    assert questions.answer.words == "2 cards lead to z"


def test_an_answer_that_is_not_wanted_any_more_is_dropped(questions, shown, qtbot):
    questions.ask(*shown, Highlight("after", key_of(*shown, "x")))
    questions.forget()
    questions._worker.wait()
    assert questions.answer is None
    assert questions.lit is None


def test_a_large_picture_is_answered_at_once(questions, shown, qtbot, monkeypatch):
    monkeypatch.setattr(graph_questions, "LARGE", 2)
    sizes = []
    questions.changed.connect(lambda: sizes.append(len(questions.lit)))
    questions.ask(*shown, Highlight("ways", key_of(*shown, "x")))
    qtbot.waitUntil(lambda: not questions.is_busy)
    assert sizes == [4]


def test_ways_are_found_for_the_latest_value(record, qtbot):
    tape, got = record(SOURCE), []
    finder = WaysFinder()
    finder.found.connect(lambda value, found: got.append((value, found.total)))
    x, y = (next(v.id for v in tape.values if v.name == name) for name in "xy")
    finder.request(tape, x)
    finder.request(tape, y)
    qtbot.waitUntil(lambda: not finder.is_busy)
    assert got == [(y, 32.0)]
    finder.close()
