"""Training that goes on at another machine while no window is open, and its next window."""

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget

from gradscribe.app.link.far_engine import FarEngine
from gradscribe.app.link.interpreters import Interpreter, UnusablePython
from gradscribe.app.training.saving import left_engine, recovery, session_file
from gradscribe.app.training.saving.left_engine import LeftEngineGone
from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol import training as messages
from tests.app.training.windows import Window

PYTHON = Interpreter("/env/bin/python", "3.12.1", "2.9.0", host="ssh://lab")
READY = protocol_messages.Ready("2.9.0", "3.12.1", ("cpu", "cuda:0"), 7)
FAR = FarEngine(PYTHON, "0123456789abcdef", READY, "hash")


@pytest.fixture
def where(tmp_path):
    return tmp_path / "sessions"


@pytest.fixture
def open_window(qtbot, where):
    made = []
    ground = QWidget()
    qtbot.addWidget(ground)

    def new():
        made.append(Window(where, ground))
        return made[-1]

    yield new
    for one in made:
        one.close()


@pytest.fixture
def there(monkeypatch):
    """The engine is there whenever it is looked for."""
    monkeypatch.setattr(recovery, "check_left", lambda _far: None)


def left_at(open_window, steps=30):
    """Return the link of a window that was closed and left its engine at that step."""
    window = open_window()
    window.link.far = FAR
    window.train(steps)
    window.link.send(messages.SaveRun(window.session.run.run_id))
    window.link.leaves = True
    window.link.send(messages.Detach())
    window.close()
    return window.link


def reconnected(open_window, link):
    """Return a window that has taken the engine of a link over."""
    window = open_window()
    window.link.host = link.host
    window.link.host._deliver = window.link.received.emit
    window.choose(0)
    return window


def test_the_next_start_offers_it_in_a_line(open_window):
    left_at(open_window)
    (words,) = open_window().told
    assert words.startswith("Training goes on at lab, as of ")


def test_the_steps_made_without_a_window_come(open_window, there):
    link = left_at(open_window)
    hosted = next(iter(link.host._runs.values()))
    link.heard = []
    link.received.connect(link.heard.append)
    before = len(link.heard)
    hosted.play(steps=50)
    link.work()
    second = reconnected(open_window, link)
    run = second.session.run
    assert len(link.heard) == before, "nobody reads: nothing is written"
    assert second.link.far == FAR
    assert (run.step, run.alive, run.rejoins) == (80, True, False)
    rows, _, _ = hosted.run.history.store()
    steps, losses, _ = rows.T
    curve = run.curve("loss")
    assert np.array_equal(curve.steps(0, len(curve)), steps)
    assert np.array_equal(curve.numbers(0, len(curve)), losses.astype(np.float32))


def test_a_run_that_trains_goes_on_without_being_asked_to(open_window, there):
    link = left_at(open_window)
    next(iter(link.host._runs.values())).play()
    link.host._active = next(iter(link.host._runs))
    second = reconnected(open_window, link)
    assert second.session.controller.plays
    assert second.link.last(messages.Play) is None
    second.session.controller.pause()
    assert not second.session.run.running


def test_a_new_run_has_another_id_than_those_there(open_window, there):
    link = left_at(open_window)
    second = reconnected(open_window, link)
    before = second.session.run.run_id
    second.session.controller.begin()
    assert second.session.run.run_id > before


def test_the_document_runs_there_too(open_window, there):
    link, used = left_at(open_window), []
    window = open_window()
    ways = window.recovery._ways
    window.recovery._ways = recovery.RecoveryContext(
        ways.where, ways.notices, ways.offers, ways.enter, ways.save, used.append
    )
    window.link.host = link.host
    window.choose(0)
    assert used == [PYTHON]


def test_a_machine_that_is_not_reached_leaves_the_offer(open_window, where, monkeypatch):
    def fail(_far):
        raise UnusablePython("lab does not answer")

    monkeypatch.setattr(recovery, "check_left", fail)
    left_at(open_window)
    window = open_window()
    window.choose(0)
    assert window.told == ["lab does not answer"]
    assert [button.text() for button in window.notices.buttons] == ["Reconnect", "End it"]
    window.close()
    (kept,) = [session_file.decode(path.read_bytes()) for path in where.glob("*.training")]
    assert kept.far == FAR


def test_what_was_saved_goes_on_here_if_the_engine_is_gone(open_window, monkeypatch):
    def fail(_far):
        raise LeftEngineGone("The engine on lab is gone")

    monkeypatch.setattr(recovery, "check_left", fail)
    left_at(open_window)
    window = open_window()
    window.choose(0)
    (words,) = window.told
    assert words.startswith("The engine on lab is gone; training as of ")
    window.choose(0)
    assert window.link.far is None
    assert window.session.run.alive
    assert window.link.last(messages.ResumeRun) is not None


def test_it_is_ended_on_request(open_window, monkeypatch):
    ended = []
    monkeypatch.setattr(recovery, "end_session", lambda *which: ended.append(which))
    left_at(open_window)
    window = open_window()
    window.choose(1)
    assert ended == [("ssh://lab/env/bin/python", FAR.session)]
    (words,) = window.told
    assert words.startswith("The engine on lab has ended; training as of ")


def test_a_window_that_ends_its_engine_offers_none(open_window, where):
    window = open_window()
    window.link.far = FAR
    window.train()
    window.close()
    (kept,) = [session_file.decode(path.read_bytes()) for path in where.glob("*.training")]
    assert kept.far is None
    assert open_window().told == []


def test_a_window_that_dies_leaves_its_engine(open_window, qtbot, where):
    window = open_window()
    window.link.far = FAR
    window.train()
    qtbot.waitUntil(lambda: bool(list(where.glob("*.training"))))
    window.die()
    (words,) = open_window().told
    assert words.startswith("Training goes on at lab")


@pytest.mark.parametrize(
    ("sessions", "version", "words"),
    [((), "hash", "is gone"), ((FAR.session,), "other", "another version")],
)
def test_an_engine_that_cannot_be_gone_on_with_is_named(monkeypatch, sessions, version, words):
    found = tuple(left_engine.ask.FarSession(name) for name in sessions)
    machine = left_engine.ask.Machine(PYTHON, found)
    monkeypatch.setattr(left_engine.ask, "ask_machine", lambda _url: machine)
    monkeypatch.setattr(left_engine.connection, "engine_hash", lambda: version)
    with pytest.raises(LeftEngineGone, match=words):
        left_engine.check_left(FAR)
