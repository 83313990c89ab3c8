"""A message as it comes in, piece by piece; the long bytes in it are put together as they come.

Decoding a hundred megabytes of a run in one go holds a window up for a fifth of a second: they are
copied twice. So they stay out of what is decoded.
"""

import io
from typing import TypeVar

import msgspec

T = TypeVar("T")

_TAGS = (b"\xa4type\xa7RunKept", b"\xa4type\xa8Exported")
"""How an encoding goes on after its first byte if its field ``data`` may be long."""
_LONG = b"\xa4data\xc6"
"""The name of that field, and that four bytes tell how long it is."""
_NEAR = 200
"""It begins within so many bytes."""
_NOTHING = b"\xc4\x00"


class Body:
    """One message's encoding."""

    def __init__(self) -> None:
        self._plain = bytearray()
        """All of it, or what comes before the long bytes, and then what comes after them."""
        self._data: io.BytesIO | None = None
        self._left = 0
        """How many of the long bytes are still to come."""
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, piece: bytearray, more: bool) -> None:
        """Take what comes next; ``more``: it is not the last."""
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
        """Return whether it goes on like that after its first byte."""
        return self._plain.startswith(start, 1)

    def whole(self) -> bytes:
        """Return the encoding of a message without long bytes."""
        return bytes(self._plain)

    def decoded(self, decoder: msgspec.msgpack.Decoder[T]) -> T:
        """Return the message.

        Raises:
            DecodeError: it is none.
        """
        message = decoder.decode(self._plain)
        if self._data is None:
            return message
        if self._left or not (isinstance(message, msgspec.Struct) and hasattr(message, "data")):
            raise msgspec.DecodeError("it ends before its bytes do")
        return msgspec.structs.replace(message, data=self._data.getvalue())
