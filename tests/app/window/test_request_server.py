"""Requests of other processes to show a file: answered by the window used last."""

import os
import socket
import subprocess
import sys
import threading

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.files import open_requests
from gradscribe.app.files.open_requests import OpenReply, OpenRequest
from gradscribe.app.window.request_server import RequestServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes have no files there")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the private folder of windows, with nothing in it."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return open_requests.private_folder()


@pytest.fixture
def server(folder, qtbot):
    """Return a listening server, with the requests that it was sent."""
    window = QWidget()
    qtbot.addWidget(window)
    asked = []

    def show(request):
        asked.append(request)
        return "it is no file" if request.path == "/no" else ""

    made = RequestServer(window, show)
    assert made.listen()
    yield made, asked
    made.close()


def ask(qtbot, request):
    """Send a request from another thread, as the event loop here answers it."""
    replies = []
    sending = threading.Thread(target=lambda: replies.append(open_requests.send(request)))
    sending.start()
    qtbot.waitUntil(lambda: not sending.is_alive(), timeout=30_000)
    return replies[0]


def test_a_request_arrives_whole_and_is_answered(server, qtbot):
    request = OpenRequest("/ä/b c.py", line=7, position=3)
    assert ask(qtbot, request) == OpenReply("")
    assert ask(qtbot, OpenRequest("/no")) == OpenReply("it is no file")
    assert server[1] == [request, OpenRequest("/no")]


def test_a_relative_path_is_refused(server, qtbot):
    assert "absolute" in ask(qtbot, OpenRequest("b.py")).refusal
    assert server[1] == []


def test_without_a_window_nobody_answers(folder):
    assert open_requests.send(OpenRequest("/a.py")) is None


def test_a_killed_window_is_forgotten_and_the_next_is_asked(server, folder, qtbot):
    open_requests.list_window(folder, 999_999)
    dead = open_requests.address(folder, 999_998)
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(dead)
    open_requests.list_window(folder, 999_998)
    os.utime(folder / f"{os.getpid()}.window", ns=(0, 0))
    assert ask(qtbot, OpenRequest("/a.py")) == OpenReply("")
    listed = sorted(path.name for path in folder.glob("*.window"))
    assert listed == [f"{os.getpid()}.window"]
    assert not os.path.exists(dead)


def test_the_window_used_last_is_asked_first(server, folder):
    open_requests.list_window(folder, 123)
    made, _ = server
    os.utime(folder / "123.window", ns=(1, 1))
    os.utime(folder / f"{os.getpid()}.window", ns=(0, 0))
    assert [*open_requests._listed(folder)] == [123, os.getpid()]
    QApplication.sendEvent(made.parent(), QEvent(QEvent.Type.WindowActivate))
    assert [*open_requests._listed(folder)] == [os.getpid(), 123]


@pytest.mark.parametrize("data", [b"\n", b"{}\n", b"\xff\xfe\n", b'{"path": 1}\n', b"[" * 70_000])
def test_nonsense_is_answered_and_does_no_harm(server, folder, qtbot, data):
    replies = []

    def send():
        replies.append(open_requests._exchange(folder, os.getpid(), data))

    sending = threading.Thread(target=send)
    sending.start()
    qtbot.waitUntil(lambda: not sending.is_alive(), timeout=30_000)
    assert b"cannot be read" in replies[0]
    assert server[1] == []
    assert ask(qtbot, OpenRequest("/a.py")) == OpenReply("")


def test_a_client_that_leaves_at_once_does_no_harm(server, folder, qtbot):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(open_requests.address(folder, os.getpid()))
        client.sendall(b'{"path"')
    assert ask(qtbot, OpenRequest("/a.py")) == OpenReply("")


def test_a_closed_server_leaves_nothing_behind(server, folder):
    server[0].close()
    assert [*folder.iterdir()] == []


def test_a_folder_that_others_can_write_to_is_not_used(folder, qtbot):
    folder.chmod(0o777)
    with pytest.raises(PermissionError):
        open_requests.private_folder()
    assert open_requests.send(OpenRequest("/a.py")) is None
    window = QWidget()
    qtbot.addWidget(window)
    assert not RequestServer(window, lambda _: "").listen()


def test_the_requests_need_no_qt():
    code = (
        "import sys; from gradscribe.app.files import open_requests as o; "
        "o.send(o.OpenRequest('/a')); print([m for m in sys.modules if 'PySide' in m])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True)
    assert done.stdout.split() == [b"[]"]
