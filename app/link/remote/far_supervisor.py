"""The process on another machine that owns an engine, and outlives the line: see `far_side`."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import time
from typing import Any

from gradscribe.app.link.remote.far_streams import MOST_PENDING, PIECE, RECORD, Frames, OutputLog

MOST_LOG = 256 << 20
"""Most bytes of output that have not arrived; the engine waits then."""
STALL_S = 30.0
"""Seconds after which a line that takes no bytes is lost."""
DRAIN_S = 1.0
"""Seconds for the last output of an engine that has ended, whose pipes others may hold."""
TICK_S = 1.0


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
            self._handshake(json.loads(body))
            return
        if kind == b"x":
            self._end()
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

    def _handshake(self, has: "dict[str, Any]") -> None:
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
