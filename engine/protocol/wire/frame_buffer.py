"""Assemble a message from its frames; a long ``data`` field is collected separately.

Decoding a hundred megabytes of a run at once blocks the window for a fifth of a second, because
msgspec copies them twice. So the long bytes are left out of what is decoded.
"""

import io
from typing import TypeVar

import msgspec

T = TypeVar("T")

_TAGS = (b"\xa4type\xa8RunSaved", b"\xa4type\xa8Exported")
"""Second and following bytes of an encoded message whose field ``data`` may be long."""
_LONG = b"\xa4data\xc6"
"""Name of that field, and the MessagePack marker for bytes with a 4-byte length (bin 32)."""
_NEAR = 200
"""The field begins within this many bytes."""
_NOTHING = b"\xc4\x00"


class FrameBuffer:
    """The encoding of one message, filled frame by frame."""

    def __init__(self) -> None:
        self._plain = bytearray()
        """The encoding without the long bytes (empty bytes stand in their place)."""
        self._data: io.BytesIO | None = None
        self._left = 0
        """Number of long bytes still to come."""
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, piece: bytearray, more: bool) -> None:
        """Append the next frame; ``more``: further frames follow."""
        is_first, self._size = not self._size, self._size + len(piece)
        if is_first and more and piece.startswith(_TAGS, 1):
            at = piece.find(_LONG, 0, _NEAR) + len(_LONG)
            if at >= len(_LONG):
                self._plain += piece[: at - 1] + _NOTHING
                self._data = io.BytesIO()
                self._left = int.from_bytes(piece[at : at + 4], "big")
                piece = piece[at + 4 :]
        if self._data is not None:
            taken = self._data.write(memoryview(piece)[: self._left])
            self._left -= taken
            piece = piece[taken:]
        self._plain += piece

    def startswith(self, start: bytes) -> bool:
        """Return whether the encoding continues with ``start`` after its first byte."""
        return self._plain.startswith(start, 1)

    def to_bytes(self) -> bytes:
        """Return the encoding of a message without long bytes."""
        return bytes(self._plain)

    def decode(self, decoder: msgspec.msgpack.Decoder[T]) -> T:
        """Return the decoded message.

        Raises:
            DecodeError: the bytes encode no message.
        """
        message = decoder.decode(self._plain)
        if self._data is None:
            return message
        if self._left or not (isinstance(message, msgspec.Struct) and hasattr(message, "data")):
            raise msgspec.DecodeError("it ends before its bytes do")
        return msgspec.structs.replace(message, data=self._data.getvalue())
