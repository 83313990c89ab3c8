"""Encode a message as MessagePack in pieces, without copying long byte strings.

msgspec's encoder doubles its buffer as it grows: a hundred megabytes of a run would block their
thread for a tenth of a second.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

LONG = 1 << 20
"""Byte strings longer than this are not copied."""
_encoder = msgspec.msgpack.Encoder()


def pack(message: Struct) -> list[bytes]:
    """Return the encoding of a message as consecutive pieces.

    A lone surrogate, which UTF-8 cannot represent, becomes a question mark.
    """
    try:
        return list(_pieces(message))
    except UnicodeEncodeError:
        # Names of modules, variables and labels come from the program and are not checked earlier.
        fields = _plain(msgspec.to_builtins(message, builtin_types=(bytes,)))
        return list(_pieces(msgspec.convert(fields, type(message), builtin_types=(bytes,))))


def _plain(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _pieces(value: object) -> Iterator[bytes]:
    if not _has_long(value):
        yield _encoder.encode(value)
    elif isinstance(value, bytes):
        yield b"\xc6" + len(value).to_bytes(4, "big")
        yield value
    elif isinstance(value, dict):
        yield _count(len(value), 0x80, 0xDE)
        for key, item in value.items():
            yield _encoder.encode(key)
            yield from _pieces(item)
    elif isinstance(value, tuple):
        yield _count(len(value), 0x90, 0xDC)
        for item in value:
            yield from _pieces(item)
    else:
        assert isinstance(value, Struct)
        yield from _fields(value)


def _fields(value: Struct) -> Iterator[bytes]:
    config, names = value.__struct_config__, value.__struct_encode_fields__
    tag = {} if config.tag is None else {str(config.tag_field): config.tag}
    assert not config.omit_defaults
    if config.array_like:
        yield _count(len(names) + len(tag), 0x90, 0xDC)
        yield b"".join(map(_encoder.encode, tag.values()))
        for item in _values(value):
            yield from _pieces(item)
        return
    yield _count(len(names) + len(tag), 0x80, 0xDE)
    yield b"".join(_encoder.encode(item) for pair in tag.items() for item in pair)
    for name, item in zip(names, _values(value), strict=True):
        yield _encoder.encode(name)
        yield from _pieces(item)


def _count(count: int, few: int, many: int) -> bytes:
    """Return the MessagePack header of a map or a list of ``count`` items."""
    if count < 16:
        return bytes((few | count,))
    wide = count >= 1 << 16
    return bytes((many + wide,)) + count.to_bytes(4 if wide else 2, "big")


def split_chunks(pieces: Sequence[bytes], size: int) -> Iterator[bytes]:
    """Yield the bytes of all pieces in chunks of ``size``; the last may be shorter."""
    chunk = bytearray()
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            missing = size - len(chunk)
            chunk += rest[:missing]
            rest = rest[missing:]
            if len(chunk) == size:
                yield bytes(chunk)
                chunk.clear()
    if chunk:
        yield bytes(chunk)


def _values(message: Struct) -> list[object]:
    return [getattr(message, name) for name in message.__struct_fields__]


def _has_long(value: object) -> bool:
    """Return whether a value contains long bytes, in structs, dicts or tuples of structs."""
    if isinstance(value, bytes):
        return len(value) > LONG
    inside: Iterable[object] = ()
    if isinstance(value, Struct):
        inside = _values(value) if _may_hold_bytes(type(value)) else ()
    elif isinstance(value, dict):
        inside = value.values()
    elif isinstance(value, tuple) and value and isinstance(value[0], Struct):
        # There may be a hundred thousand rows of a kind without any bytes.
        inside = value if any(map(_may_hold_bytes, set(map(type, value)))) else ()
    return any(map(_has_long, inside))


@cache
def _may_hold_bytes(kind: object) -> bool:
    """Return whether a value of this type may have bytes inside."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return any(map(_may_hold_bytes, get_type_hints(kind).values()))
    if inside := get_args(kind):
        return get_origin(kind) is not Literal and any(map(_may_hold_bytes, inside))
    return kind not in (str, int, float, bool, type(None), Ellipsis)
