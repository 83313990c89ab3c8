"""Requests to an open window to show a file, sent from another process of the same user.

Each window listens at an address of its own and is listed by a file in a private folder; the latest
of these is that of the window used last. This module needs no Qt.
"""

import contextlib
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from gradscribe.playback.translation import tr

LISTED = ".window"
"""Suffix of the files that list the windows, whose stems are process ids."""
TIMEOUT_S = 5.0
"""Most seconds until a window answers; it may be opening something else."""
MOST_BYTES = 1 << 16
"""Most bytes of a request or an answer."""


class OpenRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Request to show a file in a window."""

    path: str
    """Absolute path of a script, a recorded run, a training session or a set-up."""
    line: int = 0
    """Line of the script to show, from 1; 0 for none."""
    position: int = -1
    """Position in the recorded run to show, in events; -1 for that in the file."""
    is_temporary: bool = False
    """True if the window removes the file once it is shown."""


class OpenReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Answer of a window; ``refusal`` says why it does not show the file, empty if it does."""

    refusal: str = ""


def private_folder() -> Path:
    """Return the folder that lists the user's windows, created if it is missing.

    Raises:
        OSError: it cannot be created, or others may write to it.
    """
    if sys.platform == "win32":
        folder = Path(tempfile.gettempdir(), "gradscribe")
        folder.mkdir(exist_ok=True)
        return folder
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and Path(runtime).is_dir():
        folder = Path(runtime, "gradscribe")
    else:
        folder = Path(tempfile.gettempdir(), f"gradscribe-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(tr("{folder} is not private", folder=folder))
    return folder


def address(folder: Path, pid: int) -> str:
    """Return the address at which the window of a process listens, as Qt's local server takes it.

    A path of a Unix socket; on Windows the name of a pipe.
    """
    return f"gradscribe-{pid}" if sys.platform == "win32" else str(folder / f"{pid}.socket")


def list_window(folder: Path, pid: int) -> None:
    """List the window of a process as the one that was used last."""
    (folder / f"{pid}{LISTED}").touch(mode=0o600)


def forget_window(folder: Path, pid: int) -> None:
    """Remove a window from the list, and what its socket left behind."""
    left = [folder / f"{pid}{LISTED}"]
    if sys.platform != "win32":
        left.append(Path(address(folder, pid)))
    for path in left:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def send(request: OpenRequest) -> OpenReply | None:
    """Ask the window used last to show a file; return its answer, None if no window answers."""
    try:
        folder = private_folder()
    except OSError:
        return None
    for pid in _listed(folder):
        try:
            answer = _exchange(folder, pid, msgspec.json.encode(request) + b"\n")
            return msgspec.json.decode(answer, type=OpenReply)
        except (ConnectionRefusedError, FileNotFoundError):
            forget_window(folder, pid)  # Its process has been killed.
        except (OSError, msgspec.DecodeError):
            continue  # It hangs.
    return None


def _listed(folder: Path) -> Iterator[int]:
    """Yield the process ids of the listed windows, that of the window used last first."""
    found = [path for path in folder.glob(f"*{LISTED}") if path.stem.isdecimal()]
    times: dict[Path, int] = {}
    for path in found:
        with contextlib.suppress(OSError):
            times[path] = path.stat().st_mtime_ns
    for path in sorted(times, key=lambda path: times[path], reverse=True):
        yield int(path.stem)


def _exchange(folder: Path, pid: int, request: bytes) -> bytes:
    """Send a line to a window and return its answer. Raises OSError."""
    if sys.platform == "win32":
        with open(rf"\\.\pipe\{address(folder, pid)}", "r+b", buffering=0) as pipe:
            pipe.write(request)
            return pipe.read(MOST_BYTES) or b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as pipe:
        pipe.settimeout(TIMEOUT_S)
        pipe.connect(address(folder, pid))
        pipe.sendall(request)
        answer = b""
        while not answer.endswith(b"\n") and len(answer) < MOST_BYTES:
            part = pipe.recv(MOST_BYTES)
            if not part:
                break
            answer += part
        return answer
