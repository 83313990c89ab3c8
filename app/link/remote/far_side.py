"""The far side of an engine over ssh: this text is sent to the Python there and runs in it.

It needs the standard library of Python 3.10 alone; `far_streams` and `far_supervisor` are sent with
it. `main` attaches the ssh command's streams to a supervisor, a process that owns the engine and
outlives the line: what the engine writes stays in its log until this side has it, so that a line
that is cut at any byte loses nothing. The supervisor listens on a Unix socket in a folder that only
its user may enter; no port is opened.
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
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

from gradscribe.app.link.remote.far_streams import PIECE
from gradscribe.app.link.remote.far_supervisor import Supervisor, kill_group

MOST_SENT = 1 << 30
"""Most bytes of the engine's source, or of sent files."""
START_S = 1.0
UNUSED_S = 30 * 86400.0
"""Seconds after which an unused version of the engine's source is removed."""
FILES, SENT = "files", "GRADSCRIBE_SENT_FILES"
"""Folder of the files that were sent with a script, and the variable with its path."""
NEEDED = ("torch", "numpy", "msgspec")


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
        files = folder / FILES
        os.chdir(files if files.is_dir() else Path.home())
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        # Files in the home are not imported; Python 3.10 has no option for that.
        safe = ["-P", "-m", "gradscribe.engine"]
        program = safe if sys.version_info >= (3, 11) else ["-c", config["program"]]
        engine = subprocess.Popen(
            [sys.executable, "-u", *program, *config["words"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**engine_environment(config), **({SENT: str(files)} if files.is_dir() else {})},
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


def receive_files(folder: Path, config: "dict[str, Any]") -> None:
    """Ask for the files that are sent with a script; they are gone with the session's folder."""
    if not config.get("sends"):
        return
    say({"files": True})
    size = int(read_exactly(12))
    if size > MOST_SENT:
        raise FarProblem("the files to send are too long")
    with zipfile.ZipFile(io.BytesIO(read_exactly(size))) as archive:
        archive.extractall(folder / FILES)


def open_session(config: "dict[str, Any]") -> "socket.socket | None":
    """Return a connection to the session's supervisor, which is started if it is new."""
    folder = sessions_folder() / config["session"]
    try:
        # It may have been started by a line that was lost at once.
        if config["starts"] and not folder.exists():
            # A session that ends removes the folder of all if it was the last.
            folder.mkdir(mode=0o700, parents=True)
            try:
                receive_files(folder, config)
            except BaseException:
                # Else the next line would take it for a session that has begun.
                shutil.rmtree(folder, ignore_errors=True)
                raise
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
