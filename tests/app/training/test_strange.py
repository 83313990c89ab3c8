"""A training engine that is not ours any more: one line, a fresh engine, and bounded memory."""

import itertools
import math

import msgspec
import pytest
from PySide6.QtCore import QTimer

from gradscribe.app.link import engine_process, launch
from gradscribe.app.training.session.engine_restart import RunRestorer
from gradscribe.app.training.session.link import TrainLink
from gradscribe.app.training.session.session import TrainSession
from gradscribe.engine.protocol import frames
from gradscribe.engine.protocol import messages as messages_messages
from gradscribe.engine.protocol import training as protocol_messages
from gradscribe.engine.protocol.training import RawArray

PATIENCE_MS = 60_000
PUPPET = """
import os, sys
hello, said = bytes.fromhex(sys.argv[1]), open(sys.argv[2], "rb").read()
os.write(1, hello)
os.read(0, 1)
for _ in range(int(sys.argv[3])):
    view = memoryview(said)
    while view:
        view = view[os.write(1, view):]
while os.read(0, 1 << 16):
    pass
"""
"""Says it is ready, waits to be asked for something, says what it was told to say so many times."""


def frame(body):
    return len(body).to_bytes(4, "big") + b"\0" + body


def packed(value):
    return frame(msgspec.msgpack.encode(value))


def raw(*messages):
    return b"".join(one for message in messages for one in frames.encode_frames(message))


def lying(**changes):
    array = {"shape": [2], "dtype": "<f4", "data": b"12345678"} | changes
    body = [array["shape"], array["dtype"], array["data"]]
    return packed({"type": "Series", "run_id": 1, "steps": body, "values": body})


def unlike(kind, **shapes):
    """A message with arrays of these shapes, each whole by itself."""
    arrays = {
        name: [shape, "<f4", b"\0" * (4 * math.prod(shape))] for name, shape in shapes.items()
    }
    return packed({"type": kind, "run_id": 1, **arrays})


DEEP = b"\x91" * 200_000 + b"\xc0"
GARBAGE = {
    "too short for its shape": lying(shape=[3]),
    "a negative axis": lying(shape=[-2]),
    "sizes whose product overflows": lying(shape=[2**62, 4]),
    "objects": lying(dtype="|O8"),
    "a dtype that is none": lying(dtype="(2,3)f4, f8"),
    "a dtype without end": lying(dtype="<f" + "4" * 100_000),
    "axes without end": lying(shape=[1] * 1000),
    "steps that miss numbers": unlike("Series", steps=[3, 2], values=[2, 2]),
    "numbers of no curve": unlike("Series", steps=[2], values=[2]),
    "rows without targets": unlike("DataShown", x=[3, 2], y=[2], train=[3]),
    "targets without a number": unlike("DataShown", x=[3, 2], y=[3, 0], train=[3]),
    "rows that are two things": unlike("DataShown", x=[3, 2], y=[3], train=[3, 1]),
    "a giant int": packed({"type": "TrainState", "run_id": 2**64 - 1, "status": "paused"}),
    "a step that is text": packed(
        {"type": "TrainState", "run_id": 1, "status": "paused", "step": "x"}
    ),
    "a status that is none": packed({"type": "TrainState", "run_id": 1, "status": "?", "step": 1}),
    "nesting without end": frame(b"\x81\xa4type" + DEEP),
    "no text in UTF-8": frame(b"\x82\xa4type\xaaTrainState\xa6run_id\xa1\xff"),
    "a request": raw(protocol_messages.Play(1)),
    "no frame": b"<html>404</html>",
    "a giant length": b"\xff\xff\xff\xff\0",
    "an empty frame": frame(b""),
    "half a map": frame(b"\x8f\xa4type"),
}
ARRAY = RawArray((2,), "<f4", b"12345678")
COLUMN = RawArray((2, 1), "<f4", b"12345678")
ODD = {
    "an unknown run": raw(protocol_messages.TrainState(77, "running", 3)),
    "nothing of a run that was not begun": raw(protocol_messages.SeriesChunk(1, ARRAY, COLUMN)),
    "half a frame": raw(protocol_messages.TrainState(1, "paused", 1))[:-3],
    "numbers that are none": raw(
        protocol_messages.TrainState(1, "running", 3, epoch=float("nan"), rate=float("inf"))
    ),
    "a duplicate": raw(protocol_messages.TrainState(1, "paused", 1)) * 2,
    "a run kept that nobody asked for": raw(protocol_messages.RunSaved(99, 3, b"x" * 1000)),
    "another program's output": raw(
        messages_messages.Printed(5, "hello"),
        messages_messages.Ended(5),
        messages_messages.Started(5),
    ),
    "ready twice": raw(messages_messages.Ready("none", "3", ("cpu",), 1)),
}


@pytest.fixture
def puppet(qtbot, monkeypatch, tmp_path):
    """A function that makes a session; its first engine says strange things, later ones nothing."""
    script, said, nothing = (tmp_path / name for name in ("puppet.py", "said", "nothing"))
    script.write_text(PUPPET)
    nothing.write_bytes(b"")
    hello = raw(messages_messages.Ready("none", "3", ("cpu",), 1)).hex()
    made = []

    def make(data, times=1):
        said.write_bytes(data)
        first = ["-u", str(script), hello, str(said), str(times)]
        rest = ["-u", str(script), hello, str(nothing), "1"]
        lives = iter([first])
        monkeypatch.setattr(launch, "engine_arguments", lambda: next(lives, rest))
        link = TrainLink()
        session = TrainSession(link)
        session.restorer = RunRestorer(session, link, session)
        session.link, session.deaths, session.greeted = link, [], []
        link.died.connect(session.deaths.append)
        link.ready.connect(session.greeted.append)
        made.append(session)
        session.open()
        return session

    yield make
    for session in made:
        session.restorer.close()
        session.close()
        session.link.deleteLater()


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_garbage_never_becomes_a_message(data):
    with pytest.raises(frames.ProtocolError):
        list(frames.MessageReader(messages_messages.Reply).feed(data))


@pytest.mark.parametrize("name", ["too short for its shape", "nesting without end", "a request"])
def test_garbage_ends_in_a_line_and_a_fresh_engine(puppet, qtbot, name):
    session = puppet(GARBAGE[name])
    qtbot.waitUntil(lambda: bool(session.deaths), timeout=PATIENCE_MS)
    assert "it wrote something else than messages" in session.deaths[0]
    assert "it wrote something else" in session.run.problem
    session.play()
    qtbot.waitUntil(lambda: len(session.greeted) == 2, timeout=PATIENCE_MS)
    assert session.link.is_ready
    assert len(session.deaths) == 1


def test_what_does_not_belong_is_taken_for_nothing(puppet, qtbot):
    end = raw(protocol_messages.TrainState(1, "gone", 12))
    session = puppet(b"".join(part for name, part in ODD.items() if name != "half a frame") + end)
    qtbot.waitUntil(lambda: session.run.state and session.run.state.step == 12, timeout=PATIENCE_MS)
    assert not session.deaths
    assert [run.run_id for run in session.runs] == [1]


def test_half_a_frame_waits_for_its_other_half():
    reader = frames.MessageReader(messages_messages.Reply)
    assert not list(reader.feed(ODD["half a frame"]))
    rest = raw(protocol_messages.TrainState(1, "paused", 1))[-3:]
    assert list(reader.feed(rest)) == [protocol_messages.TrainState(1, "paused", 1)]


def test_a_flood_leaves_the_event_loop_its_turns(puppet, qtbot):
    """100,000 messages at once: they are all taken, a few milliseconds at a time."""
    count = 100_000
    session = puppet(raw(protocol_messages.TrainState(77, "running", 3)) * 1000, count // 1000)
    taken, turns = [], []
    session.link.received.connect(taken.append)
    timer = QTimer(session)
    timer.timeout.connect(lambda: turns.append(len(taken)))
    timer.start(0)
    qtbot.waitUntil(lambda: len(taken) >= count, timeout=PATIENCE_MS)
    timer.stop()
    most = max(b - a for a, b in itertools.pairwise(turns))
    assert most < count / 4, "so many at most between two turns of the loop"
    assert not session.deaths


def test_an_engine_that_writes_faster_than_anybody_reads_is_given_up(puppet, qtbot, monkeypatch):
    monkeypatch.setattr(engine_process, "MAX_BACKLOG", 1 << 20)
    session = puppet(raw(protocol_messages.TrainState(77, "running", 3)) * 10_000, 1_000)
    qtbot.waitUntil(lambda: bool(session.greeted), timeout=PATIENCE_MS)
    # Which of the two is quicker depends on the machine: this reader takes nothing any more.
    monkeypatch.setattr(engine_process.EngineProcess, "_take", lambda _: None)
    qtbot.waitUntil(lambda: bool(session.deaths), timeout=PATIENCE_MS)
    assert "it wrote without end" in session.deaths[0]
