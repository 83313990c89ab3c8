"""A training run heard: its turns of events, and never its single steps."""

import pytest
from PySide6.QtGui import QAccessible

from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training.advice import Advice


@pytest.fixture
def heard(monkeypatch):
    """The sentences that are announced, while a screen reader listens."""
    said = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(
        QAccessible,
        "updateAccessibility",
        lambda event: said.append(event.message()) if hasattr(event, "message") else None,
    )
    return said


def test_it_trains_and_pauses_and_no_step_is_said(room, begun, train_link, heard):
    for step in range(1, 4):
        train_link.state(1, step, "running")
    train_link.state(1, 3, "paused")
    assert [words.partition(",")[0] for words in heard] == ["Training", "Paused at step 3"]


def test_a_run_that_diverges_says_so_once(room, begun, train_link, heard):
    bad = Problem("NaN", "The loss of step 9 is NaN.")
    for _ in range(2):
        train_link.received.emit(messages.TrainState(1, "paused", 8, problem=bad))
    assert heard == ["The loss of step 9 is NaN."]


def test_new_advice_is_said_once(room, begun, heard):
    begun.run.advice = (Advice("rate", "optimizer.lr", "The learning rate is large."),)
    for _ in range(2):
        begun.advised.emit(begun.run)
    assert heard == ["Advice: The learning rate is large."]
