"""The link to the language process: it answers, dies, hangs and comes again."""

import os
import signal
import sys

import pytest

from gradscribe.app.link import language, launch
from gradscribe.app.link.interpreters import ask_interpreter
from gradscribe.app.link.language import LanguageLink
from gradscribe.engine.protocol import frames, messages
from gradscribe.engine.protocol.language import (
    Complete,
    Completed,
    KnownName,
    Locate,
    Located,
    TorchNames,
)
from tests.environments import make_environment

pytestmark = pytest.mark.e2e

PATIENCE_MS = 90_000


@pytest.fixture
def link(qtbot):
    made = LanguageLink()
    made.heard, made.states = [], []
    made.received.connect(made.heard.append)
    made.ready_changed.connect(made.states.append)
    yield made
    made.close()
    made.deleteLater()


def wait(qtbot, condition):
    qtbot.waitUntil(condition, timeout=PATIENCE_MS)


def scripted(monkeypatch, body, ready=True):
    """Let the process be a few lines of Python, which begin by saying that they are ready."""
    first = b"".join(frames.encode_frames(messages.Ready("", "3", (), 1))) if ready else b""
    lines = f"import os, sys, time\nos.write(1, {first!r})\n{body}"
    monkeypatch.setattr(launch, "language_arguments", lambda *_: ["-c", lines])


def test_it_answers_and_sends_the_names_of_torch(qtbot, link):
    link.ask(Complete(1, "x.", 1, 2))
    link.start()
    assert not link.is_ready
    wait(qtbot, lambda: link.is_ready)
    link.ask(Locate(2, "a = 1\na", 2, 1))
    wait(qtbot, lambda: Located(2, 1, 0) in link.heard)
    wait(qtbot, lambda: any(isinstance(one, TorchNames) for one in link.heard))
    # What was asked before there was a process has been dropped.
    assert not any(isinstance(one, Completed) for one in link.heard)
    pid = link.pid()
    link.start()
    assert link.pid() == pid


def test_it_is_not_started_where_memory_is_short(link, monkeypatch):
    monkeypatch.setattr(launch, "free_memory", lambda: 1 << 20)
    link.start()
    assert link.pid() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_its_death_is_survived_and_a_new_one_answers(qtbot, link, monkeypatch):
    monkeypatch.setattr(language, "AGAIN_MS", 1)
    link.start()
    wait(qtbot, lambda: link.is_ready)
    before = link.pid()
    link.ask(Complete(1, "x", 1, 1))
    os.kill(before, signal.SIGKILL)
    wait(qtbot, lambda: link.states == [True, False, True])
    assert link.pid() not in (0, before)
    link.ask(Locate(2, "a = 1\na", 2, 1))
    wait(qtbot, lambda: Located(2, 1, 0) in link.heard)


def test_one_that_dies_again_and_again_is_left_alone_for_a_while(qtbot, link, monkeypatch):
    monkeypatch.setattr(language, "AGAIN_MS", 1)
    scripted(monkeypatch, "sys.exit(3)", ready=False)
    link.start()
    wait(qtbot, lambda: len(link._starts) == language.RESTARTS + 1 and link.pid() == 0)
    assert link._again.isActive()
    assert link._again.interval() == round(1000 * language.RESTART_WINDOW_S)
    link.start()
    assert link.pid() == 0


def test_one_that_does_not_answer_is_replaced(qtbot, link, monkeypatch):
    monkeypatch.setattr(language, "AGAIN_MS", 1)
    scripted(monkeypatch, "time.sleep(600)")
    link.start()
    wait(qtbot, lambda: link.is_ready)
    monkeypatch.setattr(language, "ANSWER_S", 0.01)
    link.ask(Complete(1, "x", 1, 1))
    wait(qtbot, lambda: link.states[:3] == [True, False, True])


def test_an_answer_to_the_newest_ends_the_wait_for_all(qtbot, link, monkeypatch):
    reply = b"".join(frames.encode_frames(Completed(3, (KnownName("x"),))))
    scripted(monkeypatch, f"os.read(0, 1)\nos.write(1, {reply!r})\ntime.sleep(600)")
    link.start()
    wait(qtbot, lambda: link.is_ready)
    for serial in (1, 2, 3):
        link.ask(Complete(serial, "x", 1, 1))
    assert link._limit.isActive()
    wait(qtbot, lambda: link.heard == [Completed(3, (KnownName("x"),))])
    assert not link._limit.isActive()


@pytest.mark.parametrize("data", [b"\xff" * 100, b"".join(frames.encode_frames(Located(1, -4)))])
def test_garbage_is_survived(qtbot, link, monkeypatch, data):
    scripted(monkeypatch, f"os.write(1, {data!r})\ntime.sleep(600)")
    link.start()
    wait(qtbot, lambda: link._again.isActive())
    assert link.heard == []


def test_the_packages_of_another_python_are_known(qtbot, link, tmp_path):
    other = ask_interpreter(str(make_environment(tmp_path / "env")))
    link.set_place("", other)
    link.start()
    wait(qtbot, lambda: link.is_ready)
    link.ask(Complete(1, "import neighbour\nneighbour.", 2, 10))
    wait(qtbot, lambda: any(isinstance(one, Completed) for one in link.heard))
    answer = next(one for one in link.heard if isinstance(one, Completed))
    assert "points" in {known.name for known in answer.names}
    wait(qtbot, lambda: any(isinstance(one, TorchNames) for one in link.heard))
    listed = next(one for one in link.heard if isinstance(one, TorchNames))
    assert "relu" in {known.name for known in listed.owners["torch"]}


def test_another_folder_has_another_process(qtbot, link, tmp_path):
    (tmp_path / "mine.py").write_text("value = 1\n")
    link.start()
    wait(qtbot, lambda: link.is_ready)
    before = link.pid()
    link.set_place(str(tmp_path))
    wait(qtbot, lambda: link.is_ready and link.pid() != before)
    link.ask(Complete(1, "import mine\nmine.", 2, 5))
    wait(qtbot, lambda: any(isinstance(one, Completed) for one in link.heard))
    found = next(one for one in link.heard if isinstance(one, Completed))
    assert "value" in {one.name for one in found.names}
    after = link.pid()
    link.set_place(str(tmp_path))
    assert link.pid() == after
