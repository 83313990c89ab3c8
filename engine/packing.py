"""A message as MessagePack in pieces of which the long ones are not copied.

The encoder doubles its memory as it goes: a hundred megabytes of a run hold their thread up for a
tenth of a second.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

LONG = 1 << 20
"""Bytes in a field of a message that are left where they are if they are more."""
_encoder = msgspec.msgpack.Encoder()


def packed(message: Struct) -> list[bytes]:
    """Return the encoding of a message: all pieces, one after the other."""
    names = message.__struct_fields__
    if not any(_is_long(getattr(message, name)) for name in names):
        return [_encoder.encode(message)]
    config = message.__struct_config__
    tag = {} if config.tag is None else {str(config.tag_field): config.tag}
    assert len(names) + len(tag) < 16
    assert not config.array_like
    assert not config.omit_defaults
    head = bytes((0x80 | (len(names) + len(tag)),))
    head += b"".join(_encoder.encode(one) for pair in tag.items() for one in pair)
    pieces = [head]
    for name, value in zip(message.__struct_encode_fields__, _values(message), strict=True):
        pieces.append(_encoder.encode(name))
        if _is_long(value):
            assert isinstance(value, bytes)
            pieces += [b"\xc6" + len(value).to_bytes(4, "big"), value]
        else:
            pieces.append(_encoder.encode(value))
    return pieces


def cut(pieces: Sequence[bytes], size: int) -> Iterator[bytes]:
    """Yield the bytes of all pieces, ``size`` at a time; fewer in the end."""
    held = bytearray()
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            taken = size - len(held)
            held += rest[:taken]
            rest = rest[taken:]
            if len(held) == size:
                yield bytes(held)
                held.clear()
    if held:
        yield bytes(held)


def _values(message: Struct) -> list[object]:
    return [getattr(message, name) for name in message.__struct_fields__]


def _is_long(value: object) -> bool:
    return isinstance(value, bytes) and len(value) > LONG
