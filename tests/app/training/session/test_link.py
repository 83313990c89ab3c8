"""The training room's link with a real engine process."""

import platform

import torch
from PySide6.QtCore import QProcess

from gradscribe.app.link.engine_process import EngineProcess
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.training.session.link import TrainLink
from gradscribe.engine.protocol import training as messages
from tests.environments import make_environment


def test_an_engine_is_started_when_asked_and_replaced_when_it_dies(qtbot):
    link = TrainLink()
    try:
        with qtbot.waitSignal(link.ready, timeout=60_000):
            link.send(messages.ListCatalogue(0))
        assert link.is_ready
        with qtbot.waitSignal(link.died) as told:
            link.kill("a test did it")
        assert "a test did it" in told.args[0]
        assert not link.is_ready
        qtbot.waitUntil(lambda: not link.findChildren(QProcess))
    finally:
        link.close()


def test_run_ids_are_never_used_twice(qapp):
    link = TrainLink()
    assert [link.next_id() for _ in range(3)] == [1, 2, 3]
    link.close()


def test_new_runs_train_in_the_python_that_was_chosen(qtbot, tmp_path):
    link = TrainLink()
    told, said = [], []
    link.ready.connect(told.append)
    link.died.connect(said.append)
    python = make_environment(tmp_path / "mnist-env")
    other = Interpreter(str(python), platform.python_version(), torch.__version__)
    try:
        link.send(messages.ListCatalogue(0))
        qtbot.waitUntil(lambda: len(told) == 1, timeout=60_000)
        first = link.pid()
        link.interpreter = other
        assert link.pid() == first, "runs that train are not disturbed by the choice alone"
        link.renew()
        assert said == ["Training moved to Python of mnist-env"]
        assert link.pid() == 0
        link.send(messages.ListCatalogue(0))
        qtbot.waitUntil(lambda: len(told) == 2, timeout=60_000)
        (process,) = (p for p in link.findChildren(EngineProcess) if p.is_ready)
        assert process.interpreter == other
        link.renew()
        assert link.pid() == process.pid(), "it is the chosen one already"
        assert len(said) == 1
    finally:
        link.close()
