"""Messages of the window on their way to a far engine, and streams cut into whole messages."""

import threading
from collections import deque

import msgspec

from gradscribe.app.link.remote.far_streams import FRAME, PIECE, RECORD
from gradscribe.engine.protocol import frames
from gradscribe.engine.protocol.training import WatchViews

MOST = 64 << 20
"""Most bytes that wait; the window's pipe is not read then."""
MOST_MESSAGE = frames.MAX_MESSAGE + (1 << 20)
_WATCH = b"\xa4type\xaaWatchViews"
_QUIT = b"\xa4type\xa4Quit"
"""Encodings of messages behind their first byte."""
_LONGEST_WATCH = 1 << 16


class Messages:
    """Cuts a stream of frames into whole messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._seen = 0
        """Bytes of the frames of the unfinished message that are here as a whole."""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the messages that ``data`` completes, each with its frames' headers.

        Raises:
            ProtocolError: a message is too long.
        """
        self._bytes += data
        found = []
        while len(self._bytes) >= self._seen + FRAME.size:
            length, more = FRAME.unpack_from(self._bytes, self._seen)
            end = self._seen + FRAME.size + length
            if end > MOST_MESSAGE:
                raise frames.ProtocolError(f"a message of more than {MOST_MESSAGE >> 20} MB")
            if len(self._bytes) < end:
                break
            self._seen = end
            if not more:
                found.append(bytes(self._bytes[:end]))
                del self._bytes[:end]
                self._seen = 0
        return found


class Watched:
    """The views that the window watches: none of them is made while the line is lost."""

    def __init__(self) -> None:
        self._latest: dict[int, bytes] = {}
        self.has_quit = False
        """True once the window has asked the engine to end."""

    def note(self, message: bytes) -> bool:
        """Note a message of the window's; return whether the views have changed."""
        body = memoryview(message)[FRAME.size :]
        head = bytes(body[1:40])
        self.has_quit = self.has_quit or head.startswith(_QUIT)
        if not head.startswith(_WATCH) or len(body) > _LONGEST_WATCH:
            return False
        request = msgspec.msgpack.decode(body, type=WatchViews)
        self._latest.pop(request.run_id, None)
        if request.wishes:
            self._latest[request.run_id] = message
        return True

    def wishes(self) -> bytes:
        """Return the messages that ask for the views."""
        return b"".join(self._latest.values())

    def farewell(self) -> bytes:
        """Return the messages that ask for none of them."""
        ends = (frames.encode_frames(WatchViews(run_id, ())) for run_id in self._latest)
        return b"".join(frame for one in ends for frame in one)


class Outbox:
    """Bytes for the engine, kept until they have arrived, and records about the line."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._base = self._sent = 0
        self._records: deque[bytes] = deque()
        self._acknowledged: dict[bytes, int] = {}
        self.line = 0
        """Number of the line that it is sent on."""
        self._changed = threading.Condition()

    @property
    def end(self) -> int:
        """Offset behind the last byte."""
        return self._base + len(self._data)

    def put(self, data: bytes) -> None:
        """Append bytes for the engine; wait while too many have not arrived."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._data) < MOST)
            self._data += data
            self._changed.notify_all()

    def drop(self, offset: int) -> None:
        """Forget what has arrived."""
        with self._changed:
            count = min(max(0, offset - self._base), len(self._data))
            del self._data[:count]
            self._base += count
            self._sent = max(self._sent, self._base)
            self._changed.notify_all()

    def wait_empty(self, seconds: float) -> bool:
        """Wait until all has arrived; return whether it has."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._data, seconds)

    def record(self, kind: bytes, body: bytes = b"") -> None:
        """Put a record on the line before the bytes; without a line it is lost."""
        with self._changed:
            self._records.append(RECORD.pack(kind, 0, len(body)) + body)
            self._changed.notify_all()

    def acknowledge(self, kind: bytes, offset: int) -> None:
        """Say up to where a stream has arrived here."""
        with self._changed:
            self._acknowledged[kind] = offset
            self._changed.notify_all()

    def new_line(self) -> None:
        """Forget the records of a line that has ended."""
        with self._changed:
            self._records.clear()
            self._acknowledged.clear()
            self.line += 1
            self._changed.notify_all()

    def resume(self, offset: int, is_new: bool) -> None:
        """Continue where the engine's side is; ``is_new``: nothing was sent before."""
        with self._changed:
            if is_new:
                self._base = offset
            self._sent = offset
        self.drop(offset)

    def next(self, line: int) -> bytes | None:
        """Wait for the next record for a line; None once there is another line."""
        with self._changed:
            self._changed.wait_for(lambda: line != self.line or self._has_next())
            if line != self.line:
                return None
            if self._records:
                return self._records.popleft()
            if self._acknowledged:
                kind, offset = self._acknowledged.popitem()
                return RECORD.pack(kind, offset, 0)
            at = self._sent - self._base
            piece = bytes(self._data[at : at + PIECE])
            made = RECORD.pack(b"i", self._sent, len(piece)) + piece
            self._sent += len(piece)
            return made

    def _has_next(self) -> bool:
        return bool(self._records or self._acknowledged) or self._sent < self.end
