"""The far side of an engine over ssh: this text is sent to the Python there and runs in it.

It needs the standard library of Python 3.10 alone. `main` attaches the ssh command's streams to a
supervisor, a process that owns the engine and outlives the line: what the engine writes stays in
its log until this side has it, so that a line that is cut at any byte loses nothing. The
supervisor listens on a Unix socket in a folder that only its user may enter; no port is opened.

A record on the line is a kind, an offset in a stream and bytes (`RECORD`). To the supervisor:
``i`` bytes for the engine, ``o`` and ``r`` the offsets up to which its output and its standard
error have arrived, ``s`` a signal, ``q`` bytes for the engine when the line is lost, ``x`` end.
From it: ``o`` and ``r`` bytes, ``i`` the offset up to which bytes have come, ``f`` the end of the
engine with its exit code, ``x`` all is over. Each side first sends ``h`` with what it has.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

RECORD = struct.Struct(">cQI")
FRAME = struct.Struct(">I?")
"""Header of a frame: see `engine.protocol.frames`."""
PIECE = 1 << 16
MOST_PENDING = 4 << 20
"""Most bytes on their way to the engine, or to the line."""
MOST_LOG = 256 << 20
"""Most bytes of output that have not arrived; the engine waits then."""
MOST_SENT = 1 << 30
"""Most bytes of the engine's source, or of sent files."""
STALL_S = 30.0
"""Seconds after which a line that takes no bytes is lost."""
DRAIN_S = 1.0
"""Seconds for the last output of an engine that has ended, whose pipes others may hold."""
TICK_S = START_S = 1.0
UNUSED_S = 30 * 86400.0
"""Seconds after which an unused version of the engine's source is removed."""
NEEDED = ("torch", "numpy", "msgspec")


class Frames:
    """Finds the ends of messages in a stream of frames."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._left = 0
        self._more = False

    @property
    def is_between(self) -> bool:
        """True between two messages."""
        return not (self._head or self._left or self._more)

    def ends(self, data: bytes, start: int) -> list[int]:
        """Return the offsets at which messages end in ``data``, which begins at ``start``."""
        found, at = [], 0
        while at < len(data):
            if self._left:
                taken = min(self._left, len(data) - at)
            else:
                taken = min(FRAME.size - len(self._head), len(data) - at)
                self._head += data[at : at + taken]
            at += taken
            if self._left:
                self._left -= taken
            elif len(self._head) == FRAME.size:
                self._left, self._more = FRAME.unpack(self._head)
                self._head.clear()
            else:
                continue
            if not (self._left or self._more):
                found.append(start + at)
        return found


class OutputLog:
    """The engine's output that the other side does not have yet."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.base = 0
        """Offset of the first byte."""
        self.sent = 0
        """Offset up to which bytes are on the line."""
        self._frames = Frames()
        self._starts = [0]
        """Offsets at which messages begin, the first at most at the base."""

    @property
    def end(self) -> int:
        """Offset behind the last byte."""
        return self.base + len(self.data)

    def append(self, data: bytes) -> None:
        """Append output."""
        self._starts += self._frames.ends(data, self.end)
        self.data += data

    def drop(self, offset: int) -> None:
        """Forget what has arrived."""
        offset = min(max(offset, self.base), self.end)
        del self.data[: offset - self.base]
        self.base = offset
        while len(self._starts) > 1 and self._starts[1] <= offset:
            del self._starts[0]

    def resume(self, offset: int) -> bool:
        """Continue at an offset; return whether its bytes are still there."""
        self.sent = offset
        self.drop(offset)
        return self.base <= offset <= self.end

    def begin_message(self) -> int:
        """Continue at the first whole message, and return its offset."""
        start = next((at for at in self._starts if at >= self.base), self.end)
        self.resume(start)
        return start

    def piece(self) -> bytes:
        """Return the next bytes to send; none if all are on the line."""
        at = self.sent - self.base
        return bytes(self.data[at : at + PIECE // 4])


class Supervisor:
    """Owns the engine and serves one line at a time."""

    def __init__(
        self, listener: socket.socket, engine: "subprocess.Popen[bytes]", linger: float
    ) -> None:
        assert engine.stdin is not None
        assert engine.stdout is not None
        assert engine.stderr is not None
        self._listener, self._engine, self._linger = listener, engine, linger
        self._input, self._pipes = engine.stdin, {b"o": engine.stdout, b"r": engine.stderr}
        for pipe in (engine.stdin, engine.stdout, engine.stderr):
            os.set_blocking(pipe.fileno(), False)
        listener.setblocking(False)
        self._logs = {b"o": OutputLog(), b"r": OutputLog()}
        self._received = 0
        self._frames = Frames()
        self._to_engine = bytearray()
        self._when_lost = b""
        self._line: socket.socket | None = None
        self._from_line, self._to_line = bytearray(), bytearray()
        self._is_attached = self._has_greeted = False
        self._since = self._taken = time.monotonic()
        self._ended = 0.0
        self._is_over = self._finish_sent = False

    def serve(self) -> None:
        """Serve until the other side ends it, or nobody has come for too long."""
        while not self._is_over:
            self._fill_line()
            reads, writes = self._interests()
            ready, free, _ = select.select(reads, writes, [], TICK_S)
            if self._listener in ready:
                self._accept()
            for kind, pipe in list(self._pipes.items()):
                if pipe in ready:
                    self._read_engine(kind)
            if self._line is not None and self._line in ready:
                self._read_line()
            if self._line is not None and self._line in free:
                self._write_line()
            if self._input in free:
                self._write_engine()
            self._watch()

    def _interests(self) -> tuple[list[Any], list[Any]]:
        reads: list[Any] = [self._listener]
        if sum(len(log.data) for log in self._logs.values()) < MOST_LOG:
            reads += self._pipes.values()
        writes: list[Any] = [self._input] if self._to_engine else []
        if self._line is not None:
            if len(self._to_engine) < MOST_PENDING:
                reads.append(self._line)
            if self._to_line:
                writes.append(self._line)
        return reads, writes

    def _watch(self) -> None:
        """Notice the end of the engine, and of the patience."""
        now = time.monotonic()
        if not self._ended and self._engine.poll() is not None:
            self._ended = now
            kill_group(self._engine.pid)
        if self._ended and now - self._ended > DRAIN_S:
            self._pipes.clear()
        if self._line is not None and self._to_line and now - self._taken > STALL_S:
            self._lose_line()
        if self._line is None and now - self._since > self._linger:
            self._is_over = True

    # The engine

    def _read_engine(self, kind: bytes) -> None:
        try:
            data = os.read(self._pipes[kind].fileno(), PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._logs[kind].append(data)
        else:
            del self._pipes[kind]

    def _write_engine(self) -> None:
        try:
            written = os.write(self._input.fileno(), self._to_engine[:PIECE])
        except BlockingIOError:
            return
        except OSError:
            written = len(self._to_engine)  # It has ended, or is about to.
        del self._to_engine[:written]

    # The line

    def _accept(self) -> None:
        """Serve a new line in place of the last, which is lost if it is there at all."""
        with contextlib.suppress(OSError):
            line, _ = self._listener.accept()
            self._lose_line()
            line.setblocking(False)
            self._line, self._taken = line, time.monotonic()

    def _lose_line(self) -> None:
        if self._line is None:
            return
        self._line.close()
        self._line, self._since = None, time.monotonic()
        self._from_line.clear()
        self._to_line.clear()
        was_attached, self._is_attached = self._is_attached, False
        self._has_greeted = False
        if was_attached and self._when_lost and self._frames.is_between:
            self._to_engine += self._when_lost

    def _read_line(self) -> None:
        assert self._line is not None
        try:
            data = self._line.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose_line()
            return
        self._from_line += data
        while len(self._from_line) >= RECORD.size and not self._is_over:
            kind, offset, length = RECORD.unpack_from(self._from_line)
            if length > MOST_PENDING:
                self._lose_line()
                return
            if len(self._from_line) < RECORD.size + length:
                return
            body = bytes(self._from_line[RECORD.size : RECORD.size + length])
            del self._from_line[: RECORD.size + length]
            try:
                self._take(kind, offset, body)
            except (ValueError, LookupError, TypeError):
                self._lose_line()

    def _take(self, kind: bytes, offset: int, body: bytes) -> None:
        """Handle a record of the other side."""
        if kind == b"h":
            self._greet(json.loads(body))
            return
        if not self._is_attached:
            self._lose_line()
            return
        self._has_greeted = True
        if kind == b"i":
            new = body[max(0, self._received - offset) :]
            if offset <= self._received and new:
                self._frames.ends(new, self._received)
                self._received += len(new)
                self._to_engine += new
            self._put(b"i", self._received)
        elif kind in self._logs:
            self._logs[kind].drop(offset)
        elif kind == b"q":
            self._when_lost = body
        elif kind == b"s":
            with contextlib.suppress(OSError, ValueError):
                self._engine.send_signal(int(body))
        elif kind == b"x":
            self._end()

    def _greet(self, has: "dict[str, Any]") -> None:
        """Continue where the other side is; one that is new begins with a whole message."""
        output, errors = self._logs[b"o"], self._logs[b"r"]
        if has["is_new"]:
            start = output.begin_message(), errors.begin_message()
            flaw = "" if self._frames.is_between else "cut"
        else:
            start = has["o"], has["r"]
            fits = output.resume(start[0]) and errors.resume(start[1])
            flaw = "" if fits and has["i"] >= self._received else "lost"
        self._is_attached = not flaw
        answer = {"i": self._received, "o": start[0], "r": start[1], "flaw": flaw}
        self._finish_sent = False
        self._put(b"h", 0, json.dumps(answer).encode())

    def _put(self, kind: bytes, offset: int, body: bytes = b"") -> None:
        if not self._to_line:
            self._taken = time.monotonic()
        self._to_line += RECORD.pack(kind, offset, len(body)) + body

    def _fill_line(self) -> None:
        """Put what the engine has written on the line, as far as it takes it."""
        # A greeting that came with much else would be lost with it on a poor line.
        if not (self._is_attached and self._has_greeted):
            return
        for kind, log in self._logs.items():
            while len(self._to_line) < MOST_PENDING and (piece := log.piece()):
                self._put(kind, log.sent, piece)
                log.sent += len(piece)
        all_sent = all(log.sent == log.end for log in self._logs.values())
        if self._ended and not self._pipes and all_sent and not self._finish_sent:
            self._finish_sent = True
            self._put(b"f", 0, str(self._engine.returncode).encode())

    def _write_line(self) -> None:
        assert self._line is not None
        try:
            written = self._line.send(self._to_line[:PIECE])
        except BlockingIOError:
            return
        except OSError:
            self._lose_line()
            return
        self._taken = time.monotonic()
        del self._to_line[:written]

    def _end(self) -> None:
        """End the engine, and say so."""
        self._is_over = True
        kill_group(self._engine.pid)
        self._put(b"x", 0)
        if self._line is not None:
            self._line.setblocking(True)
            self._line.settimeout(TICK_S)
            with contextlib.suppress(OSError), self._line:
                self._line.sendall(self._to_line)


def kill_group(pid: int) -> None:
    """Kill the engine and the processes that its programs started."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


# Starting and attaching


class FarProblem(Exception):
    """Raised with a line for the user."""


def sessions_folder() -> Path:
    """Return the folder of this user's supervisors. Raises `FarProblem` if it is another's.

    It is on the machine's own disk: a socket does not work on every shared one, and is of this
    machine alone.
    """
    folder = Path(tempfile.gettempdir(), f"gradscribe-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise FarProblem(f"{folder} there is not only its user's: remove it")
    return folder


def cache_folder() -> Path:
    """Return the folder of the engine's versions."""
    known = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(known) if os.path.isabs(known) else Path.home() / ".cache"
    return base / "gradscribe" / "engine"


def content_hash(files: "dict[str, bytes]") -> str:
    """Return the hash of files by their paths."""
    content = hashlib.sha256()
    for path, data in sorted(files.items()):
        content.update(f"{path}\0{len(data)}\0".encode() + data)
    return content.hexdigest()


def has_engine(folder: Path) -> bool:
    """Return whether a folder has the engine's source that its name says."""
    root = folder / "gradscribe"
    try:
        files = {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
    except OSError:
        return False
    return content_hash(files) == folder.name


def install_engine(folder: Path, data: bytes) -> None:
    """Write the engine's source to a folder, as a whole or not at all. Raises `OSError`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix="."))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            archive.extractall(made / "gradscribe")
        if folder.is_dir():
            shutil.rmtree(folder)  # Parts of it have been removed or changed.
        with contextlib.suppress(FileExistsError):  # Another process has written it.
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def remove_unused(folder: Path) -> None:
    """Remove versions of the engine that have not been used for long."""
    with contextlib.suppress(OSError):
        os.utime(folder)
        for other in folder.parent.iterdir():
            if other != folder and time.time() - other.stat().st_mtime > UNUSED_S:
                shutil.rmtree(other, ignore_errors=True)


def packages() -> "dict[str, str]":
    """Return the versions of the packages that an engine needs, of those that are here."""
    found = {}
    for name in NEEDED:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def engine_environment(config: "dict[str, Any]") -> "dict[str, str]":
    """Return the engine's environment: as on the machine of the window, see `app.link.launch`."""
    names, prefixes = config["variables"], tuple(config["prefixes"])
    passwords = re.compile(config["passwords"], re.IGNORECASE)
    passed = {
        name: text
        for name, text in os.environ.items()
        if "--open" in config["words"]
        or ((name in names or name.startswith(prefixes)) and not passwords.search(name))
    }
    path = (str(cache_folder() / config["hash"]), passed.get("PYTHONPATH", ""))
    passed["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    return passed


def start_supervisor(folder: Path, config: "dict[str, Any]") -> None:
    """Start a supervisor in a process of its own. Its socket takes connections on return."""
    # By its name alone: the path of a socket may have some hundred bytes.
    os.chdir(folder)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("socket")
    listener.listen(4)
    child = os.fork()
    if child:
        listener.close()
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        supervise(folder, listener, config)
    finally:
        os._exit(0)


def supervise(folder: Path, listener: socket.socket, config: "dict[str, Any]") -> None:
    """Run an engine until it is ended, and leave nothing behind."""
    try:
        about = {**config["about"], "pid": os.getpid()}
        Path("about.json").write_text(json.dumps(about))
        os.chdir(Path.home())
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        # Files in the home are not imported; Python 3.10 has no option for that.
        safe = ["-P", "-m", "gradscribe.engine"]
        program = safe if sys.version_info >= (3, 11) else ["-c", config["program"]]
        engine = subprocess.Popen(
            [sys.executable, "-u", *program, *config["words"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=engine_environment(config),
            start_new_session=True,
            bufsize=0,
        )
        try:
            Supervisor(listener, engine, config["linger"]).serve()
        finally:
            kill_group(engine.pid)
            engine.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            folder.parent.rmdir()


def say(answer: "dict[str, Any]") -> None:
    """Write a line of the greeting."""
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


def read_exactly(size: int) -> bytes:
    """Return the next bytes from the line. Raises `EOFError`."""
    data = bytearray()
    while len(data) < size:
        piece = os.read(0, min(PIECE, size - len(data)))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def provide_engine(config: "dict[str, Any]") -> None:
    """Make sure that the engine's source is here: it is asked for if it is not."""
    folder = cache_folder() / config["hash"]
    if not has_engine(folder):
        say({"need": True})
        size = int(read_exactly(12))
        if size > MOST_SENT:
            raise FarProblem("the engine's source is too long")
        try:
            install_engine(folder, read_exactly(size))
        except OSError as error:
            reason = error.strerror or error
            raise FarProblem(f"{folder.parent} there cannot be written: {reason}") from error
    remove_unused(folder)


def open_session(config: "dict[str, Any]") -> "socket.socket | None":
    """Return a connection to the session's supervisor, which is started if it is new."""
    folder = sessions_folder() / config["session"]
    try:
        # It may have been started by a line that was lost at once.
        if config["starts"] and not folder.exists():
            # A session that ends removes the folder of all if it was the last.
            folder.mkdir(mode=0o700, parents=True)
            start_supervisor(folder, config)
        os.chdir(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FarProblem(f"{folder} there cannot be used: {error.strerror or error}") from error
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect("socket")
        except OSError:
            connection.close()
            # Another process may be about to listen.
            select.select([], [], [], START_S / 20)
        else:
            return connection
    shutil.rmtree(folder, ignore_errors=True)  # Its process was killed.
    return None


def attach(connection: socket.socket) -> None:
    """Carry bytes between the line and the supervisor until either ends."""

    def forward() -> None:
        with contextlib.suppress(OSError):
            while data := os.read(0, PIECE):
                connection.sendall(data)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        # The other direction may wait for a line that takes nothing any more.
        os._exit(0)

    threading.Thread(target=forward, daemon=True).start()
    with contextlib.suppress(OSError):
        while data := connection.recv(PIECE):
            while data:
                data = data[os.write(1, data) :]
    os._exit(0)


def sessions() -> "list[dict[str, Any]]":
    """Return what the sessions that run here were started with."""
    found = []
    folder = sessions_folder()
    for file in sorted(folder.glob("*/about.json")):
        with contextlib.suppress(OSError, ValueError):
            found.append({"session": file.parent.name, **json.loads(file.read_text())})
    with contextlib.suppress(OSError):
        folder.rmdir()
    return found


def main(config: "dict[str, Any]") -> None:
    """Do what the other side asks for."""
    try:
        found = packages() if config["task"] == "ask" or config["starts"] else {}
        say({"python": sys.version_info[:3], "executable": sys.executable, "found": found})
        if not json.loads(read_exactly(int(read_exactly(12))))["goes_on"]:
            return
        if config["task"] == "ask":
            provide_engine(config)
            say({"sessions": sessions()})
            return
        if config["starts"]:
            provide_engine(config)
        connection = open_session(config)
        say({"gone": connection is None})
        if connection is not None:
            attach(connection)
    except FarProblem as problem:
        say({"problem": str(problem)})
    except OSError as error:
        say({"problem": f"{type(error).__name__}: {error}"})
    except EOFError:
        return
