"""Announcements of the playback to assistive technology."""

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from gradscribe.app.document import announcer
from gradscribe.app.document.announcer import PlaybackAnnouncer
from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from tests.app.fakes import FakeLink, leaves

PROGRAM = """
import torch
x = torch.tensor(2.0, requires_grad=True)
y = x * 3
y.backward()
"""


@pytest.fixture
def session(qtbot, record):
    link = FakeLink()
    made = Session(link)
    link.greet()
    made.load(Doc(source=PROGRAM))
    link.answer(record(PROGRAM))
    made.move(0)
    yield made
    made.close()


@pytest.fixture
def heard(monkeypatch):
    """The sentences that are announced, while a screen reader listens."""
    said = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: said.append(event))
    return said


@pytest.fixture
def source(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


def test_each_step_is_announced_in_a_sentence_with_its_numbers(
    session, source, heard, monkeypatch, qtbot
):
    monkeypatch.setattr(announcer, "REST_MS", 0)
    PlaybackAnnouncer(session, source)
    clock = PlaybackClock(session)
    told = []
    for count in range(1, clock.length + 1):
        clock.step()
        qtbot.waitUntil(lambda count=count: len(heard) == count)
        told.append(heard[-1].message())
    # 2 * 3, and the derivative of x * 3 by x is 3.
    assert told[:2] == ["x = 2.0000 (parameter)", "mul made y = 6.0000"]
    assert "x.grad = 3.0000" in told
    assert {event.politeness() for event in heard} == {QAccessible.AnnouncementPoliteness.Polite}
    assert {event.object() for event in heard} == {source}
    clock.reset()
    qtbot.waitUntil(lambda: heard[-1].message() == "Start of the tape, nothing has run")


def test_of_a_fast_film_only_its_first_and_last_event_are_announced(session, source, heard, qtbot):
    PlaybackAnnouncer(session, source)
    clock = PlaybackClock(session)
    clock.set_speed(8)
    clock.play()
    qtbot.waitUntil(lambda: not clock.playing)
    last = "Backward is done"
    qtbot.waitUntil(lambda: heard[-1].message() == last)
    assert len(heard) == 2


def test_another_run_is_not_announced(session, source, heard):
    PlaybackAnnouncer(session, source)
    tape = session.result.tape
    session.load(Doc(source="other"))
    session._link.answer(leaves(4))
    assert session.result.tape is not tape
    assert heard == []


def test_nothing_is_said_while_nobody_listens(session, source, heard, monkeypatch):
    monkeypatch.setattr(QAccessible, "isActive", lambda: False)
    PlaybackAnnouncer(session, source)
    session.move(2)
    assert heard == []
