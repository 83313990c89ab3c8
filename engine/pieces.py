"""A long tape decoded bit by bit, so that whoever waits for it is not kept from everything else."""

from collections.abc import Iterator
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from engine.tape import Tape

BATCH = 64 << 10
"""So many bytes are decoded in one go, some milliseconds' worth."""

_raw_map = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_raw_list = msgspec.msgpack.Decoder(list[msgspec.Raw])
_kinds: dict[str, tuple[msgspec.msgpack.Decoder[Any], msgspec.msgpack.Decoder[Any] | None]] = {}
"""Field of a tape -> decoders of the whole and, where it is a list, of many of its items."""


def tape(body: bytes | memoryview | msgspec.Raw) -> Iterator[Tape | None]:
    """Yield None after each bit of work, and at last the tape that ``body`` encodes.

    Raises:
        msgspec.DecodeError: it encodes something else.
    """
    found: dict[str, Any] = {}
    kinds = _decoders()
    for name, raw in _raw_map.decode(body).items():
        yield None
        if name not in kinds:
            continue
        whole, items = kinds[name]
        if items is None or len(memoryview(raw)) <= BATCH:
            found[name] = whole.decode(raw)
            continue
        parts = _raw_list.decode(raw)
        made: list[Any] = []
        for batch in _batches(parts):
            yield None
            made += items.decode(batch)
        found[name] = tuple(made)
    yield None
    yield Tape(**found)


def _batches(parts: list[msgspec.Raw]) -> Iterator[bytes]:
    """Yield lists of the parts, encoded, each of about `BATCH` bytes."""
    taken: list[memoryview] = []
    size = 0
    for part in parts:
        view = memoryview(part)
        taken.append(view)
        size += len(view)
        if size >= BATCH:
            yield _listed(taken)
            taken, size = [], 0
    if taken:
        yield _listed(taken)


def _listed(parts: list[memoryview]) -> bytes:
    """Return the MessagePack of a list of encoded parts."""
    return b"".join([b"\xdd", len(parts).to_bytes(4, "big"), *parts])


def _decoders() -> dict[
    str, tuple[msgspec.msgpack.Decoder[Any], msgspec.msgpack.Decoder[Any] | None]
]:
    if not _kinds:
        for name, kind in get_type_hints(Tape).items():
            items = None
            if get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis:
                items = msgspec.msgpack.Decoder(list[get_args(kind)[0]])  # type: ignore[misc]
            _kinds[name] = (msgspec.msgpack.Decoder(kind), items)
    return _kinds
