"""Records and frames of the line to an engine on another machine, and the log of its output.

The far side needs the standard library alone: see `far_side`. A record on the line is a kind, an
offset in a stream and bytes (`RECORD`). To the supervisor: ``i`` bytes for the engine, ``o`` and
``r`` the offsets up to which its output and its standard error have arrived, ``s`` a signal, ``q``
bytes for the engine when the line is lost, ``x`` end. From it: ``o`` and ``r`` bytes, ``i`` the
offset up to which bytes have come, ``f`` the end of the engine with its exit code, ``x`` all is
over. Each side first sends ``h`` with what it has.
"""

import struct

RECORD = struct.Struct(">cQI")
FRAME = struct.Struct(">I?")
"""Header of a frame: see `engine.protocol.frames`."""
PIECE = 1 << 16
MOST_PENDING = 4 << 20
"""Most bytes on their way to the engine, or to the line."""


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
