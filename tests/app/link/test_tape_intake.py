"""Tapes that arrive: short ones at once, long ones once they are ready, late ones never."""

import threading

import pytest
from msgspec.structs import replace

from gradscribe.app.link import tape_intake
from gradscribe.app.link.tape_intake import TapeIntake
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.tape import Edge, Tape
from gradscribe.playback import precompute
from tests.app.fakes import leaves

SHORT, LONG = leaves(3), leaves(tape_intake.INLINE_EVENTS + 1)


@pytest.fixture
def arriving(qtbot):
    made = TapeIntake()
    made.got = []
    made.arrived.connect(lambda message: made.got.append(message.run_id))
    yield made
    made.close()


def test_a_short_tape_is_handed_on_at_once(arriving):
    arriving.accept(messages.Recorded(1, SHORT, 0.0))
    assert arriving.got == [1]


def test_a_long_tape_is_made_ready_on_another_thread(arriving, qtbot, monkeypatch):
    seen = []
    monkeypatch.setattr(
        precompute, "precompute", lambda tape, at: seen.append((tape, at, threading.get_ident()))
    )
    arriving.accept(messages.Recorded(1, LONG, 0.0))
    assert arriving.got == []
    qtbot.waitUntil(lambda: arriving.got == [1])
    ((tape, position, thread),) = seen
    assert (tape, position) == (LONG, len(LONG.events))
    assert thread is not threading.main_thread().ident


def test_a_newer_tape_takes_the_place_of_one_that_waits(arriving, qtbot, monkeypatch):
    held = threading.Event()
    monkeypatch.setattr(precompute, "precompute", lambda _tape, _at: held.wait(5))
    arriving.accept(messages.Recorded(1, LONG, 0.0))
    arriving.accept(messages.Recorded(2, SHORT, 0.0))
    held.set()
    qtbot.waitUntil(lambda: not arriving.busy)
    qtbot.wait(20)
    assert arriving.got == [2]


def test_a_tape_that_cannot_be_made_ready_arrives_all_the_same(arriving, qtbot, monkeypatch):
    def fail(_tape, _at):
        raise ValueError("a fault of ours")

    monkeypatch.setattr(precompute, "precompute", fail)
    with qtbot.captureExceptions() as faults:
        arriving.accept(messages.Recorded(1, LONG, 0.0))
        qtbot.waitUntil(lambda: arriving.got == [1])
    assert [kind for kind, _, _ in faults] == [ValueError]


def test_closing_drops_what_waits(arriving):
    arriving.accept(messages.Recorded(1, LONG, 0.0))
    arriving.close()
    assert arriving.got == []


def test_an_empty_tape_arrives(arriving):
    arriving.accept(messages.Recorded(1, Tape(), 0.0))
    assert arriving.got == [1]


def test_a_tape_of_few_events_and_many_gradients_waits_until_it_is_ready(
    arriving, qtbot, monkeypatch
):
    monkeypatch.setattr(precompute, "precompute", lambda _tape, _at: None)
    many = replace(SHORT, edges=(Edge(None, 0, 0, 0, None, 0),) * (tape_intake.INLINE_EDGES + 1))
    arriving.accept(messages.Recorded(1, many, 0.0))
    assert arriving.got == []
    qtbot.waitUntil(lambda: arriving.got == [1])
