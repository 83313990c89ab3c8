"""Tapes that arrive: short ones at once, long ones once they are ready, late ones never."""

import threading

import pytest
from msgspec.structs import replace

from app import arrivals
from app.arrivals import Arrivals
from engine import wire
from engine.tape import Edge, Tape
from playback import readying
from tests.app.fakes import leaves

SHORT, LONG = leaves(3), leaves(arrivals.INLINE_EVENTS + 1)


@pytest.fixture
def arriving(qtbot):
    made = Arrivals()
    made.got = []
    made.arrived.connect(lambda message: made.got.append(message.run_id))
    yield made
    made.close()


def test_a_short_tape_is_handed_on_at_once(arriving):
    arriving.take(wire.Recorded(1, SHORT, 0.0))
    assert arriving.got == [1]


def test_a_long_tape_is_made_ready_on_another_thread(arriving, qtbot, monkeypatch):
    seen = []
    monkeypatch.setattr(
        readying, "ready", lambda tape, at: seen.append((tape, at, threading.get_ident()))
    )
    arriving.take(wire.Recorded(1, LONG, 0.0))
    assert arriving.got == []
    qtbot.waitUntil(lambda: arriving.got == [1])
    ((tape, position, thread),) = seen
    assert (tape, position) == (LONG, len(LONG.events))
    assert thread is not threading.main_thread().ident


def test_a_newer_tape_takes_the_place_of_one_that_waits(arriving, qtbot, monkeypatch):
    held = threading.Event()
    monkeypatch.setattr(readying, "ready", lambda _tape, _at: held.wait(5))
    arriving.take(wire.Recorded(1, LONG, 0.0))
    arriving.take(wire.Recorded(2, SHORT, 0.0))
    with qtbot.waitSignal(arriving.readied):
        held.set()
    assert arriving.got == [2]


def test_a_tape_that_cannot_be_made_ready_arrives_all_the_same(arriving, qtbot, monkeypatch):
    def fail(_tape, _at):
        raise ValueError("a fault of ours")

    monkeypatch.setattr(readying, "ready", fail)
    monkeypatch.setattr(threading, "excepthook", lambda _args: None)
    with qtbot.captureExceptions() as faults:
        arriving.take(wire.Recorded(1, LONG, 0.0))
        qtbot.waitUntil(lambda: arriving.got == [1])
    assert all(kind is ValueError for kind, _, _ in faults)


def test_closing_drops_what_waits(arriving):
    arriving.take(wire.Recorded(1, LONG, 0.0))
    arriving.close()
    assert arriving.got == []


def test_an_empty_tape_arrives(arriving):
    arriving.take(wire.Recorded(1, Tape(), 0.0))
    assert arriving.got == [1]


def test_a_tape_of_few_events_and_many_gradients_waits_until_it_is_ready(
    arriving, qtbot, monkeypatch
):
    monkeypatch.setattr(readying, "ready", lambda _tape, _at: None)
    many = replace(SHORT, edges=(Edge(None, 0, 0, 0, None, 0),) * (arrivals.INLINE_EDGES + 1))
    arriving.take(wire.Recorded(1, many, 0.0))
    assert arriving.got == []
    qtbot.waitUntil(lambda: arriving.got == [1])
