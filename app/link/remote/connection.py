"""One ssh connection: the far side's source is sent, and it says what it has."""

import json
import os
import subprocess
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Self

from gradscribe.app.link import interpreters
from gradscribe.app.link.interpreters import Interpreter, UnusablePython
from gradscribe.app.link.remote import far_side, far_streams, far_supervisor, ssh_command
from gradscribe.app.link.remote.address import Address
from gradscribe.playback.translation import tr

GREETING_S = 60.0
"""Seconds for the greeting: the login, the start of Python, and the engine's source on its way."""
MOST_NOISE = 1 << 16
"""Most bytes that a login may print before Python starts."""
MOST_LINE = 1 << 20
TAIL = 16_384
MARK = "gradscribe far side"
OLDEST = (3, 10)
"""The oldest Python that runs the far side; an engine may need a newer one."""
BOOT = (
    "import os,sys,zlib;sys.path=[p for p in sys.path if p];"
    f'os.write(1,("{MARK} %d %d%s"%(sys.version_info[0],sys.version_info[1],chr(10))).encode());'
    "exec(zlib.decompress(sys.stdin.buffer.read(int(sys.stdin.buffer.read(12)))))"
)
"""The program on ssh's command line: no quote of the shell's, no backslash, no exclamation mark."""


class LineFailed(UnusablePython):
    """Raised when there is no connection; it may be there again later."""

    was_reached = False
    """True if a Python had answered."""


class SessionGone(UnusablePython):
    """Raised when the engine that was connected is not there any more."""


class Connection:
    """An ssh command whose streams reach the far side; leaving the context ends it."""

    def __init__(self, address: Address, config: dict[str, Any]) -> None:
        self.address, self._config = address, config
        command = f"{address.shell_python} -c '{BOOT}'"
        try:
            self._process = subprocess.Popen(
                ssh_command.arguments(address, command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "LC_ALL": "C"},
                bufsize=0,
                creationflags=_no_console(),
            )
        except OSError as error:
            raise UnusablePython(tr("There is no ssh here: install the OpenSSH client")) from error
        self._errors = bytearray()
        # Events, not `join` and `Timer`: these register a thread of Qt's that asks, for good.
        self._errors_ended, self._greeted = threading.Event(), threading.Event()
        threading.Thread(target=self._read_errors, daemon=True).start()
        self._is_late = False
        self._is_reached = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection, and wait for that."""
        self._process.kill()
        self._process.wait()
        self._errors_ended.wait(1.0)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    @property
    def input(self) -> IO[bytes]:
        """The stream to the far side."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def output(self) -> IO[bytes]:
        """The stream from the far side."""
        assert self._process.stdout is not None
        return self._process.stdout

    def kill(self) -> None:
        """Cut the line; a read of its output ends then."""
        self._process.kill()

    def open(self, judge: Callable[[dict[str, Any]], object], files: bytes = b"") -> dict[str, Any]:
        """Greet the far side and return its last answer.

        ``judge`` gets what the Python there has, and raises `UnusablePython` if that is not enough;
        ``files``: a zip file of those to send with a new engine.

        Raises:
            LineFailed: there is no connection.
            SessionGone: the session is over.
            UnusablePython: nothing can run there.
        """
        threading.Thread(target=self._give_up_late, daemon=True).start()
        try:
            return self._handshake(judge, files)
        except (OSError, EOFError) as error:
            raise self.failure() from error
        finally:
            self._greeted.set()

    def failure(self) -> UnusablePython:
        """Return why the line has ended."""
        if self._is_late:
            return self._failed(tr("{place} does not answer", place=self.address.place))
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = 255
        self._errors_ended.wait(1.0)
        words = ssh_command.reason(
            self.address, code, self._errors[-TAIL:].decode("utf-8", "replace")
        )
        # 255 is ssh's own failure, a signal the end of ssh: the machine is not reached.
        return self._failed(words) if code in (0, 255) or code < 0 else UnusablePython(words)

    def _failed(self, words: str) -> LineFailed:
        failure = LineFailed(words)
        failure.was_reached = self._is_reached
        return failure

    def _give_up_late(self) -> None:
        if not self._greeted.wait(GREETING_S):
            self._is_late = True
            self._process.kill()

    def _handshake(self, judge: Callable[[dict[str, Any]], object], files: bytes) -> dict[str, Any]:
        self._await_mark()
        source = far_side_source() + f"\nmain({self._config!r})\n".encode()
        self._send(zlib.compress(source, 9))
        found = self._answer()
        judge(found)
        self._send(json.dumps({"goes_on": True}).encode())
        answer = self._answer()
        if answer.get("need"):
            self._send(engine_archive())
            answer = self._answer()
        if answer.get("files"):
            self._send(files)
            answer = self._answer()
        if answer.get("gone"):
            raise SessionGone(
                tr(
                    "The engine on {place} is gone: that machine was started anew, or the "
                    "engine waited too long",
                    place=self.address.place,
                )
            )
        return {**found, **answer}

    def _await_mark(self) -> None:
        """Read past what the login prints, and check the version of Python."""
        noise = bytearray()
        while not (noise.endswith(b"\n") and MARK.encode() in noise):
            byte = self.output.read(1)
            if not byte or len(noise) > MOST_NOISE:
                raise self._no_python() if self._ended_well() else EOFError
            noise += byte
        words = noise.rpartition(MARK.encode())[2].split()
        version = tuple(map(int, words[:2]))
        self._is_reached = True
        if version < OLDEST:
            raise _too_old(self.address, version)

    def _ended_well(self) -> bool:
        """Return whether the command ran and was no Python."""
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return True  # It prints without end.
        return code not in (126, 127, 255) and code >= 0

    def _no_python(self) -> UnusablePython:
        place, python = self.address.place, self.address.python
        return UnusablePython(
            tr(
                "{python} on {place} is no Python that Gradscribe can use",
                python=python,
                place=place,
            )
        )

    def _send(self, data: bytes) -> None:
        """Send bytes after their number."""
        view = memoryview(f"{len(data):012}".encode() + data)
        while view:
            view = view[self.input.write(view) :]

    def _answer(self) -> dict[str, Any]:
        line = bytearray()
        while not line.endswith(b"\n"):
            byte = self.output.read(1)
            if not byte or len(line) > MOST_LINE:
                raise EOFError
            line += byte
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise self._no_python() from error
        if "problem" in answer:
            raise UnusablePython(f"{self.address.place}: {answer['problem']}")
        return dict(answer)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while data := stream.read(TAIL):
                self._errors += data
                del self._errors[:-TAIL]
        self._errors_ended.set()


def _no_console() -> int:
    return int(getattr(subprocess, "CREATE_NO_WINDOW", 0)) if sys.platform == "win32" else 0


def _too_old(address: Address, version: tuple[int, ...]) -> UnusablePython:
    words, oldest = (".".join(map(str, part)) for part in (version, interpreters.OLDEST_PYTHON))
    return UnusablePython(
        tr(
            "{python} on {place} is Python {words}: Gradscribe runs programs in {oldest} or newer",
            python=address.python,
            place=address.place,
            words=words,
            oldest=oldest,
        )
    )


@cache
def far_side_source() -> bytes:
    """Return the program that runs on the far side."""
    parts = ["import sys, types\n"]
    for module in (far_streams, far_supervisor):
        name, text = module.__name__, Path(module.__file__ or "").read_text("utf-8")
        # The other Python has no gradscribe: each is there by its name alone.
        parts.append(f"made = sys.modules[{name!r}] = types.ModuleType({name!r})\n")
        parts.append(f"exec(compile({text!r}, {name!r}, 'exec'), made.__dict__)\n")
    return ("".join(parts) + Path(far_side.__file__).read_text("utf-8")).encode()


@cache
def engine_hash() -> str:
    """Return the hash of the engine's source."""
    return far_side.content_hash(interpreters.engine_files())


def engine_archive() -> bytes:
    """Return the engine's source as a zip file."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in interpreters.engine_files().items():
            archive.writestr(path, data)
    return made.getvalue()


def judged(address: Address, found: dict[str, Any]) -> Interpreter:
    """Return the Python that has said what it has. Raises `UnusablePython`."""
    version = tuple(map(int, found["python"]))
    packages = {str(name): str(text) for name, text in found["found"].items()}
    name = tr("{python} on {place}", python=address.python, place=address.place)
    torch = interpreters.checked_torch(
        name, version, packages, address.url, lambda missing: install_command(address, missing)
    )
    numbers = ".".join(map(str, version))
    return Interpreter(address.python, numbers, torch, host=address.machine)


def install_command(address: Address, packages: list[str]) -> str:
    """Return the command that installs packages for a Python on another machine."""
    return ssh_command.typed(address, interpreters.install_command(address.python, packages))
