"""Windows on tapes of the user's process: the window used last, else a new one."""

import os
import subprocess
import sys
import threading
import types

import pytest
import torch
from PySide6.QtWidgets import QWidget

import gradscribe as gs
from gradscribe import tape_window
from gradscribe.app.files import open_requests
from gradscribe.app.window.request_server import RequestServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes have no files there")


@pytest.fixture
def tape():
    with gs.record() as tape:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        h = w.square()
        h.sum().backward()
    return tape


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Return the commands that would have started a window."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    commands = []

    class Started:
        def __init__(self, command, **options):
            assert options["start_new_session"]
            commands.append(command)

        def wait(self):
            return 0

    fake = types.SimpleNamespace(Popen=Started, DEVNULL=subprocess.DEVNULL)
    monkeypatch.setattr(tape_window, "subprocess", fake)
    return commands


def test_without_a_window_a_new_one_is_started(tape, started):
    tape.open(at=2)
    (command,) = started
    at = command.index("-m")
    assert command[at + 1] == "gradscribe"
    path = command[at + 2]
    assert command[at + 3 :] == ["--temporary", "--at", "2"]
    assert gs.load(path)["w"].grad.tolist() == [2.0, 4.0]
    os.unlink(path)


def test_a_tensor_is_a_position(tape):
    events = tape.data.events
    at = tape_window.position_of(tape, tape["h"])
    assert (events[at - 1].kind, tape.ops[events[at - 1].ref].name) == ("op", "square")
    assert tape_window.position_of(tape, tape["w"]) == 0


@pytest.mark.parametrize(("at", "error"), [(-1, ValueError), ("h", TypeError), (True, TypeError)])
def test_other_positions_are_refused(tape, started, at, error):
    with pytest.raises(error):
        tape.open(at=at)
    assert started == []


def test_a_window_that_can_not_be_started_leaves_no_file(tape, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(tape_window.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(tape_window.sys, "executable", str(tmp_path / "none"))
    with pytest.raises(RuntimeError, match="No window can be started"):
        tape.open()
    assert list(tmp_path.glob("*.tape")) == []


def test_the_open_window_is_used(tape, started, qtbot):
    window, seen = QWidget(), []
    qtbot.addWidget(window)

    def show(request):
        seen.append((gs.load(request.path)["h"].value.tolist(), request))
        os.unlink(request.path)
        return "" if len(seen) == 1 else "it is closing"

    server = RequestServer(window, show)
    assert server.listen()
    errors = []

    def open_both():
        tape.open(at=1)
        try:
            tape.open()
        except RuntimeError as error:
            errors.append(str(error))

    opening = threading.Thread(target=open_both)
    opening.start()
    qtbot.waitUntil(lambda: not opening.is_alive(), timeout=60_000)
    server.close()
    assert [numbers for numbers, _ in seen] == [[1.0, 4.0]] * 2
    assert [request.position for _, request in seen] == [1, -1]
    assert all(request.is_temporary for _, request in seen)
    assert errors == ["it is closing"]
    assert started == []
    assert open_requests.send(open_requests.OpenRequest("/a")) is None


def test_opening_loads_no_qt_in_the_users_process(tape, tmp_path):
    tape.save(tmp_path / "run.tape")
    code = (
        "import subprocess, sys, os; import gradscribe as gs; from gradscribe import tape_window; "
        "tape_window._start_window = lambda path, at: os.unlink(path); "
        "gs.load(sys.argv[1]).open(); print([m for m in sys.modules if 'PySide' in m])"
    )
    where = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = [sys.executable, "-P", "-c", code, str(tmp_path / "run.tape")]
    done = subprocess.run(command, capture_output=True, check=True, env=where)
    assert done.stdout.split() == [b"[]"]
