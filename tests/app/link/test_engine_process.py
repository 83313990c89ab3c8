"""One engine process, from start to end, without the link around it."""

import pytest
from PySide6.QtCore import QObject

from gradscribe.app.link import launch
from gradscribe.app.link.engine_process import MAX_PIPE_BYTES, EngineProcess
from gradscribe.engine.protocol import frames
from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol import training as messages

PATIENCE_MS = 60_000


@pytest.fixture
def owner(qtbot):
    made = QObject()
    yield made
    for engine in made.findChildren(EngineProcess):
        engine.close()
    made.deleteLater()


@pytest.fixture
def engine(owner):
    return EngineProcess(owner)


def scripted(monkeypatch, source):
    """Let the "engine" be a few lines of Python."""
    monkeypatch.setattr(launch, "engine_arguments", lambda: ["-c", source])


def test_it_is_ready_once_it_says_so(qtbot, engine):
    assert not engine.is_ready
    with qtbot.waitSignal(engine.received, timeout=PATIENCE_MS) as blocker:
        engine.start()
    assert isinstance(blocker.args[0], protocol_messages.Ready)
    assert engine.is_ready
    assert blocker.args[0].pid == engine.pid()


def test_its_end_is_told_with_its_last_words(qtbot, engine, monkeypatch):
    scripted(monkeypatch, "import sys\nsys.exit('no torch here')")
    made = EngineProcess(engine.parent())
    with qtbot.waitSignal(made.ended, timeout=PATIENCE_MS) as blocker:
        made.start()
    assert blocker.args == ["exit code 1: no torch here"]
    made.discard()


def test_what_it_said_last_is_heard_before_its_end(qtbot, engine, monkeypatch):
    frame = b"".join(frames.encode_frames(protocol_messages.Started(7)))
    scripted(monkeypatch, f"import os\nos.write(1, {frame!r})\nos._exit(0)")
    made = EngineProcess(engine.parent())
    heard = []
    made.received.connect(heard.append)
    made.ended.connect(heard.append)
    made.start()
    qtbot.waitUntil(lambda: len(heard) == 2, timeout=PATIENCE_MS)
    assert heard[0] == protocol_messages.Started(7)


def test_a_program_that_speaks_something_else_has_ended(qtbot, engine, monkeypatch):
    scripted(monkeypatch, "print('hello, this is no frame', flush=True)\nwhile True: pass")
    made = EngineProcess(engine.parent())
    with qtbot.waitSignal(made.ended, timeout=PATIENCE_MS):
        made.start()
    made.discard()


def test_a_discarded_engine_says_nothing_more(qtbot, engine):
    said = []
    engine.ended.connect(said.append)
    engine.received.connect(said.append)
    engine.start()
    with qtbot.waitSignal(engine.destroyed, timeout=PATIENCE_MS):
        engine.discard()
    assert said == []


def test_only_the_end_of_a_flood_on_standard_error_is_kept(qtbot, engine, monkeypatch):
    scripted(monkeypatch, "import sys\nsys.stderr.write('x' * 10**6 + 'end')")
    made = EngineProcess(engine.parent())
    with qtbot.waitSignal(made.ended, timeout=PATIENCE_MS):
        made.start()
    assert len(made.errors) == launch.TAIL
    assert made.errors.endswith("end")
    made.discard()


def test_a_long_message_is_written_in_turns_and_arrives_before_what_follows(qtbot, engine):
    with qtbot.waitSignal(engine.received, timeout=PATIENCE_MS):
        engine.start()
    table = b"a,b\n" + (30 << 20) // 8 * b"123,456\n"
    told = []
    engine.received.connect(told.append)
    engine.send(messages.ProvideFile(0, "t.csv", table))
    assert engine._process.bytesToWrite() < MAX_PIPE_BYTES + 2 * frames.CHUNK
    engine.send(messages.InspectFile(1, "t.csv"))
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    assert (len(told), told[0].problem, told[0].columns) == (1, None, ("a", "b"))
    assert told[0].count == table.count(b"\n") - 1
