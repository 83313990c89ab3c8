"""A process that stands for an engine on another machine: the same streams, carried by ssh.

``python -m gradscribe.app.link.remote.relay ADDRESS [options] [words of the engine]``. It writes
whole messages alone, and among them `messages.LineState` when the line is lost and when it is there
again. It ends as the engine ends. When its standard input closes, the engine stays; SIGTERM ends
the engine, SIGABRT makes it write its traceback.
"""

import argparse
import contextlib
import json
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.app.link import launch
from gradscribe.app.link.interpreters import UnusablePython
from gradscribe.app.link.remote import address as addresses
from gradscribe.app.link.remote import connection as connections
from gradscribe.app.link.remote import sent_files
from gradscribe.app.link.remote.connection import Connection, LineFailed
from gradscribe.app.link.remote.far_streams import MOST_PENDING, PIECE, RECORD
from gradscribe.app.link.remote.outbox import Messages, Outbox, Watched
from gradscribe.engine import system
from gradscribe.engine.protocol import frames, messages

PAUSES_S = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0)
"""Pauses before each further attempt to connect; the last is repeated."""
END_S = 3.0
"""Seconds for the far engine to end, and for the last messages to arrive there."""


class Relay:
    """Carries bytes between the window's pipes and a supervisor, over one line after another."""

    def __init__(self, options: argparse.Namespace, incoming: int, outgoing: int) -> None:
        self._options, self._incoming, self._outgoing = options, incoming, outgoing
        self._address = addresses.parse(options.address)
        self._session = options.session or secrets.token_hex(8)
        self._files = sent_files.pack(options.send) if options.send else b""
        self._outbox, self._watched, self._window = Outbox(), Watched(), Messages()
        self._engine = Messages()
        self._arrived = {b"o": 0, b"r": 0}
        self._is_new = True
        self._is_up = self._was_up = False
        self._lost = 0.0
        """Time at which the line was lost; 0 while it is there."""
        self._code: int | None = None
        self._connection: Connection | None = None
        self._is_over = threading.Event()
        """Set once nothing is to be carried any more."""

    def run(self) -> int:
        """Carry until the engine ends; return its exit code, negative for a signal.

        Raises:
            UnusablePython: there is no engine, or no more.
        """
        threading.Thread(target=self._read_window, daemon=True).start()
        attempt = 0
        while True:
            try:
                with Connection(self._address, self._config()) as connection:
                    self._connection = connection
                    connection.open(self._judge, self._files)
                    self._carry(connection)
            except LineFailed as failure:
                if self._is_over.is_set():
                    return self._code or 0
                if not (self._was_up or failure.was_reached):
                    raise
                attempt = self._note_lost(str(failure), attempt)
            self._is_over.wait(PAUSES_S[min(attempt, len(PAUSES_S) - 1)])
            if self._is_over.is_set():
                return self._code or 0

    def _note_lost(self, why: str, attempt: int) -> int:
        """Tell the window that the line is lost; return the number of the next attempt.

        Raises:
            LineFailed: it has been lost for too long.
        """
        now = time.monotonic()
        if not self._lost:
            self._lost, self._is_up = now, False
            self._report_line(messages.LineState(False, self._address.place, why))
            return 0
        if now - self._lost > self._options.linger:
            raise LineFailed(f"The line to {self._address.place} stays lost: {why}")
        return attempt + 1

    def _config(self) -> dict[str, Any]:
        """Return what the far side is to do; see `far_side.main`."""
        return {
            "task": "run",
            "session": self._session,
            "starts": not (self._was_up or self._options.take),
            "hash": connections.engine_hash(),
            "words": self._options.words,
            "linger": self._options.linger,
            "sends": bool(self._files),
            "about": {"title": self._options.title, "begun": time.time()},
            **launch.far_start(),
        }

    def _judge(self, found: dict[str, Any]) -> None:
        # An engine that runs already has what it needs, and what there is is not asked again.
        if not (self._was_up or self._options.take):
            connections.judged(self._address, found)

    # From the window

    def _read_window(self) -> None:
        """Read what the window sends until it closes its pipe."""
        with contextlib.suppress(OSError, frames.ProtocolError):
            while data := os.read(self._incoming, PIECE):
                for message in self._window.feed(data):
                    if self._watched.note(message):
                        self._outbox.record(b"q", self._watched.farewell())
                    self._outbox.put(message)
        if self._is_up:
            # An engine that was asked to end says so; one that is left gets the rest.
            (self._is_over.wait if self._watched.has_quit else self._outbox.wait_empty)(END_S)
        self._stop()

    def end(self) -> None:
        """End the engine."""
        if self._is_up:
            self._outbox.record(b"x")
            self._is_over.wait(END_S)
        self._stop()

    def signal_engine(self, number: int) -> None:
        """Send the engine a signal; without a line this side ends as if it had got it."""
        if self._is_up:
            self._outbox.record(b"s", str(number).encode())
        else:
            self._code = -number
            self._stop()

    def _stop(self) -> None:
        self._is_over.set()
        if self._connection is not None:
            self._connection.kill()

    # The line

    def _carry(self, connection: Connection) -> None:
        """Carry records until the line ends. Raises `LineFailed` then."""
        self._handshake(connection)
        writer = threading.Thread(target=self._write, args=(connection,), daemon=True)
        try:
            writer.start()
            while not self._is_over.is_set():
                self._take(connection, *_read_record(connection))
        except (EOFError, OSError):
            pass
        finally:
            connection.kill()
            self._outbox.new_line()
            writer.join()
        raise connection.failure()

    def _handshake(self, connection: Connection) -> None:
        """Agree with the supervisor on where both are."""
        has = {
            "is_new": self._is_new,
            "o": self._arrived[b"o"],
            "r": self._arrived[b"r"],
            "i": self._outbox.end,
        }
        body = json.dumps(has).encode()
        try:
            connection.input.write(RECORD.pack(b"h", 0, len(body)) + body)
            kind, _, answer = _read_record(connection)
            there: dict[str, Any] = json.loads(answer) if kind == b"h" else {"flaw": "lost"}
        except (EOFError, OSError) as error:
            raise connection.failure() from error
        if there["flaw"]:
            raise UnusablePython(f"The engine on {self._address.place} has lost its thread")
        self._outbox.resume(there["i"], self._is_new)
        self._arrived = {b"o": there["o"], b"r": there["r"]}
        if self._lost:
            away = time.monotonic() - self._lost
            self._report_line(messages.LineState(True, self._address.place, seconds=away))
            self._outbox.put(self._watched.wishes())
            self._outbox.record(b"q", self._watched.farewell())
        # With the first record from here the supervisor sends what there is.
        self._outbox.acknowledge(b"o", self._arrived[b"o"])
        self._is_new, self._lost = False, 0.0
        self._is_up = self._was_up = True

    def _write(self, connection: Connection) -> None:
        """Write to a line what there is for it, until there is another."""
        line = self._outbox.line
        with contextlib.suppress(OSError, ValueError):
            while (record := self._outbox.next(line)) is not None:
                view = memoryview(record)
                while view:
                    view = view[connection.input.write(view) :]
        connection.kill()

    def _take(self, connection: Connection, kind: bytes, offset: int, body: bytes) -> None:
        """Handle a record of the supervisor's."""
        if kind in self._arrived:
            new = body[max(0, self._arrived[kind] - offset) :]
            if offset > self._arrived[kind]:
                raise EOFError
            self._arrived[kind] += len(new)
            self._deliver(kind, new)
            self._outbox.acknowledge(kind, self._arrived[kind])
        elif kind == b"i":
            self._outbox.drop(offset)
        elif kind == b"f":
            self._code = int(body)
            self._outbox.record(b"x")
            late = threading.Timer(END_S, connection.kill)
            late.daemon = True
            late.start()
        elif kind == b"x":
            self._is_over.set()

    # To the window

    def _deliver(self, kind: bytes, data: bytes) -> None:
        if kind == b"r":
            _write_all(2, data)
            return
        for message in self._engine.feed(data):
            self._pass_on(message)

    def _report_line(self, line: messages.LineState) -> None:
        self._pass_on(b"".join(frames.encode_frames(line)))

    def _pass_on(self, message: bytes) -> None:
        try:
            _write_all(self._outgoing, message)
        except OSError:
            self._stop()  # The window is gone.


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_record(connection: Connection) -> tuple[bytes, int, bytes]:
    """Return the next record. Raises `EOFError` if the line ends before it does."""
    kind, offset, length = RECORD.unpack(_read_exactly(connection, RECORD.size))
    if length > MOST_PENDING:
        raise EOFError
    return kind, offset, _read_exactly(connection, length)


def _read_exactly(connection: Connection, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = connection.output.read(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def handle_signals(handlers: dict[int, Callable[[], None]]) -> None:
    """Call a handler for each signal, in a thread: the main one may wait for a lock or a pipe."""
    taken, given = os.pipe()
    os.set_blocking(given, False)

    def wait() -> None:
        while numbers := os.read(taken, 1):
            handlers.get(numbers[0], lambda: None)()

    for number in handlers:
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(given)
    threading.Thread(target=wait, daemon=True).start()


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the options; ``words`` are those for the engine."""
    parser = argparse.ArgumentParser(prog="relay", allow_abbrev=False)
    parser.add_argument("address")
    parser.add_argument("--linger", type=float, required=True)
    parser.add_argument("--session", default="")
    parser.add_argument("--take", action="store_true")
    parser.add_argument("--title", default="")
    parser.add_argument("--send", action="append", default=[])
    options, others = parser.parse_known_args(words)
    options.words = others
    return options


def main(words: Sequence[str]) -> None:
    """Stand for an engine until it ends."""
    system.start_session()
    incoming, outgoing = system.claim_pipes()
    try:
        relay = Relay(parse(words), incoming, outgoing)
    except UnusablePython as refusal:
        _refuse(refusal)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        abort = signal.SIGABRT
        handle_signals({signal.SIGTERM: relay.end, abort: lambda: relay.signal_engine(abort)})
    try:
        code = relay.run()
    except UnusablePython as refusal:
        _refuse(refusal)
    else:
        _exit_like(code)


def _refuse(refusal: UnusablePython) -> None:
    """End with a line for the user."""
    _write_all(2, f"{refusal}\n".encode())
    _exit_like(launch.REFUSED)


def _exit_like(code: int) -> None:
    """End as a process with this exit code did, negative for a signal."""
    if code < 0 and sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main(sys.argv[1:])
