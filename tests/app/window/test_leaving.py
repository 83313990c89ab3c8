"""The question of a window that closes while an engine on another machine trains."""

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget

from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.window.leaving import LeavingQuestion
from tests.app.training.fakes import FakeTrainLink
from tests.app.training.saving.test_left_engine import FAR


@pytest.fixture
def asked(qtbot):
    """A question over a window whose training engine is on another machine, and trains."""
    window = QWidget()
    qtbot.addWidget(window)
    link = FakeTrainLink()
    session = TrainSession(link)
    link.far = FAR
    session.controller.begin(play=True)
    return LeavingQuestion(window, session), link, session


def answer(monkeypatch, label):
    """Press a button of the question in place of showing it."""

    def press(box):
        assert "lab" in box.text()
        next(b for b in box.buttons() if b.text().replace("&", "") == label).click()

    monkeypatch.setattr(QMessageBox, "exec", press)


@pytest.mark.parametrize(
    ("label", "closes", "leaves"),
    [("Leave it running", True, True), ("End it", True, False), ("Cancel", False, False)],
)
def test_the_answer_decides_what_becomes_of_the_engine(asked, monkeypatch, label, closes, leaves):
    question, link, _ = asked
    answer(monkeypatch, label)
    assert question.settle() == closes
    assert link.leaves == leaves


def test_it_is_not_asked_of_an_engine_that_rests(asked):
    question, link, session = asked
    session.controller.pause()
    assert question.settle()
    assert not link.leaves


def test_it_is_not_asked_of_an_engine_on_this_machine(asked):
    question, link, _ = asked
    link.far = None
    assert question.settle()


def test_where_nobody_can_answer_the_engine_is_left(asked):
    question, link, _ = asked
    question.asks = False
    assert question.settle()
    assert link.leaves
