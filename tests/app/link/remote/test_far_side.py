"""The supervisor on the far side, with a small program for an engine and a socket for a line."""

import json
import os
import socket
import subprocess
import sys
import threading
import zipfile
from io import BytesIO

import pytest

from gradscribe.app.link import interpreters, launch
from gradscribe.app.link.remote import connection, far_side
from gradscribe.app.link.remote.far_streams import RECORD, Frames, OutputLog
from gradscribe.app.link.remote.far_supervisor import Supervisor
from gradscribe.engine.protocol import frames, messages

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the far side has Unix sockets")
ECHO = """
import os, sys
os.write(2, b"here")
while data := os.read(0, 1 << 16):
    while data:
        data = data[os.write(1, data):]
sys.exit(7)
"""
PATIENCE_S = 30


def message(number, size=20):
    return b"".join(frames.encode_frames(messages.Run(number, "x" * size)))


class Line:
    """One line to a supervisor."""

    def __init__(self, path, o=0, r=0, i=1 << 40, is_new=False):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(PATIENCE_S)
        self._socket.connect(str(path))
        self.got = {b"o": b"", b"r": b""}
        has = {"is_new": is_new, "o": o, "r": r, "i": i}
        self.put(b"h", 0, json.dumps(has).encode())
        self.greeting = json.loads(self.take(b"h")[1])
        if not self.greeting["flaw"]:
            self.put(b"q")

    def put(self, kind, offset=0, body=b""):
        self._socket.sendall(RECORD.pack(kind, offset, len(body)) + body)

    def take(self, wanted):
        """Return offset and body of the next record of a kind; output before it is collected."""
        while True:
            kind, offset, length = RECORD.unpack(self._exactly(RECORD.size))
            body = self._exactly(length)
            if kind in self.got:
                self.got[kind] += body
            if kind == wanted:
                return offset, body

    def until(self, kind, data):
        while not self.got[kind].endswith(data):
            self.take(kind)

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def close(self):
        self._socket.close()


@pytest.fixture
def supervisor(tmp_path):
    """Start supervisors of small programs; return the path of their socket, and the thread."""
    started = []

    def start(program=ECHO, linger=60.0):
        path = tmp_path / "s"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(os.path.relpath(path))
        listener.listen(4)
        pipe = subprocess.PIPE
        engine = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )
        thread = threading.Thread(target=Supervisor(listener, engine, linger).serve)
        thread.start()
        started.append((listener, engine, thread))
        return path, thread

    yield start
    for listener, engine, thread in started:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
        listener.close()
        engine.kill()
        with engine:
            pass


@pytest.fixture
def connect():
    """Make lines to supervisors."""
    made = []

    def make(path, **has):
        made.append(Line(path, **has))
        return made[-1]

    yield make
    for line in made:
        line.close()


def test_the_ends_of_messages_are_found_wherever_a_stream_is_cut():
    stream = message(1) + message(2, 3 << 20) + message(3)
    ends = [len(message(1)), len(message(1)) + len(message(2, 3 << 20)), len(stream)]
    for size in (1, 4, 5, 1 << 16):
        if size > 5 or len(stream) < 1000:
            found, at = Frames(), 0
            seen = []
            while at < len(stream):
                seen += found.ends(stream[at : at + size], at)
                at += size
            assert seen == ends
            assert found.is_between


def test_a_log_gives_what_has_not_arrived_and_begins_with_a_whole_message():
    log = OutputLog()
    log.append(message(1) + message(2)[:9])
    log.append(message(2)[9:] + message(3))
    assert log.resume(4)
    assert log.piece() == (message(1) + message(2) + message(3))[4:]
    assert not log.resume(3)
    assert log.begin_message() == len(message(1))
    assert log.piece() == message(2) + message(3)
    log.drop(log.end)
    assert log.begin_message() == log.end


def test_a_line_that_is_cut_loses_nothing_in_either_direction(connect, supervisor):
    path, _ = supervisor()
    sent = b"".join(message(number, 1000) for number in range(200))
    first = connect(path)
    assert first.greeting == {"i": 0, "o": 0, "r": 0, "flaw": ""}
    first.put(b"i", 0, sent[:70_001])
    first.until(b"r", b"here")
    first.take(b"o")
    got, errors = first.got[b"o"], first.got[b"r"]
    first.put(b"o", len(got))
    first.close()
    second = connect(path, o=len(got), r=len(errors))
    at = second.greeting["i"]
    assert at <= 70_001
    # Bytes that have arrived already are not taken twice.
    again = max(0, at - 500)
    second.put(b"i", again, sent[again:])
    second.until(b"o", sent[-100:])
    assert got + second.got[b"o"] == sent
    assert errors + second.got[b"r"] == b"here"
    second.put(b"x")
    second.take(b"x")


def test_a_new_line_replaces_one_that_hangs(connect, supervisor):
    path, _ = supervisor()
    first, second = connect(path), connect(path)
    with pytest.raises((EOFError, ConnectionError)):
        first.take(b"x")
    second.put(b"x")
    second.take(b"x")


def test_a_window_that_is_new_begins_with_a_whole_message(connect, supervisor):
    path, _ = supervisor()
    first = connect(path)
    first.put(b"i", 0, message(1) + message(2))
    first.until(b"o", message(2))
    first.put(b"o", len(message(1)) - 3)
    first.put(b"i", 2 * len(message(1)), message(3))
    first.until(b"o", message(3))
    first.close()
    second = connect(path, is_new=True)
    assert second.greeting["o"] == len(message(1))
    assert second.greeting["i"] == 3 * len(message(1))
    second.until(b"o", message(3))
    assert second.got[b"o"] == message(2) + message(3)
    second.put(b"i", second.greeting["i"], message(4)[:5])
    second.take(b"i")
    second.close()
    # The rest of that message will never come.
    assert connect(path, is_new=True).greeting["flaw"] == "cut"
    end = connect(path, o=0, r=0)
    assert end.greeting["flaw"] == "lost"
    third = connect(path, o=len(message(1)), r=0)
    third.put(b"x")
    third.take(b"x")


def test_what_is_to_be_said_without_a_line_is_said_between_messages(connect, supervisor):
    path, _ = supervisor()
    first = connect(path)
    first.put(b"q", 0, message(9))
    first.put(b"i", 0, message(1))
    first.until(b"o", message(1))
    first.close()
    second = connect(path, o=len(message(1)), r=0)
    second.until(b"o", message(9))
    assert second.greeting["i"] == len(message(1))
    second.put(b"x")
    second.take(b"x")


def test_the_end_of_the_engine_comes_after_its_last_words(connect, supervisor):
    path, _ = supervisor("import os\nos.write(1, b'x' * 300_000)\nos.abort()")
    line = connect(path)
    assert int(line.take(b"f")[1]) < 0
    assert line.got[b"o"] == b"x" * 300_000
    line.close()
    # It is said again to who has not heard it.
    again = connect(path, o=300_000, r=len(line.got[b"r"]))
    assert int(again.take(b"f")[1]) < 0
    again.put(b"x")
    again.take(b"x")


def test_a_signal_reaches_the_engine(connect, supervisor):
    path, _ = supervisor()
    line = connect(path)
    line.until(b"r", b"here")
    line.put(b"s", 0, b"15")
    assert line.take(b"f")[1] == b"-15"
    line.put(b"x")
    line.take(b"x")


def test_an_engine_that_nobody_comes_for_ends(supervisor):
    _, thread = supervisor(linger=0.0)
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize("garbage", [b"?" * 50, RECORD.pack(b"h", 0, 3) + b"{]}", b"\xff" * 13])
def test_garbage_on_the_socket_ends_that_line_alone(connect, supervisor, garbage):
    path, thread = supervisor()
    bad = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    bad.settimeout(PATIENCE_S)
    bad.connect(str(path))
    bad.sendall(garbage)
    if len(garbage) != 13:
        assert bad.recv(1) == b""
    bad.close()
    assert thread.is_alive()
    line = connect(path)
    line.put(b"x")
    line.take(b"x")


def archive(files):
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as written:
        for path, data in files.items():
            written.writestr(path, data)
    return made.getvalue()


def test_the_engine_is_written_as_a_whole_and_known_by_its_content(tmp_path):
    files = {"a.py": b"1", "b/c.py": b"2"}
    folder = tmp_path / "engine" / far_side.content_hash(files)
    far_side.install_engine(folder, archive(files))
    assert far_side.has_engine(folder)
    (folder / "gradscribe" / "a.py").write_text("evil")
    assert not far_side.has_engine(folder)
    far_side.install_engine(folder, archive(files))
    assert far_side.has_engine(folder)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    with pytest.raises(zipfile.BadZipFile):
        far_side.install_engine(tmp_path / "engine" / "x", b"no zip")
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_versions_that_are_not_used_any_more_are_removed(tmp_path):
    for name in ("now", "lately", "old"):
        (tmp_path / name).mkdir()
    os.utime(tmp_path / "old", (0, 0))
    far_side.remove_unused(tmp_path / "now")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lately", "now"]


def test_the_archive_is_the_source_that_the_hash_names(tmp_path):
    folder = tmp_path / connection.engine_hash()
    far_side.install_engine(folder, connection.engine_archive())
    assert far_side.has_engine(folder)
    assert "engine/process/server.py" in interpreters.engine_files()


def test_passwords_of_the_far_environment_stay_out_of_confined_engines(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("TORCH_TOKEN", "s3cret")
    monkeypatch.setenv("OTHER", "x")
    config = {"hash": "abc", "words": [], **launch.far_start()}
    config = json.loads(json.dumps(config))
    passed = far_side.engine_environment(config)
    assert passed["CUDA_VISIBLE_DEVICES"] == "1"
    assert not {"TORCH_TOKEN", "OTHER"} & passed.keys()
    assert "abc" in passed["PYTHONPATH"]
    assert far_side.engine_environment({**config, "words": ["--open"]})["OTHER"] == "x"


def test_a_folder_that_others_may_enter_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(far_side.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = far_side.sessions_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    with pytest.raises(far_side.FarProblem, match="not only its user's"):
        far_side.sessions_folder()
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(far_side.FarProblem):
        far_side.sessions_folder()
