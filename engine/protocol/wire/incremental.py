"""Decode a long tape incrementally, so that the event loop can run in between."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.protocol.wire import columns

BATCH = 64 << 10
"""Bytes decoded at a time, a few milliseconds of work."""

_NO_CHUNKS: Mapping[str, Sequence[bytes]] = {}
_raw_map = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_raw_list = msgspec.msgpack.Decoder(list[msgspec.Raw])
_kinds: dict[str, tuple[msgspec.msgpack.Decoder[Any], msgspec.msgpack.Decoder[Any] | None]] = {}
"""Field of a tape -> decoder of the whole field and, if it is a list, of a batch of its items."""


def decode_tape(
    body: bytes | memoryview | msgspec.Raw, chunks: Mapping[str, Sequence[bytes]] = _NO_CHUNKS
) -> Iterator[Tape | None]:
    """Yield None after each piece of work, and finally the tape that ``body`` encodes.

    ``chunks`` has the rows of fields that are sent as columns; see `columns`.

    Raises:
        msgspec.DecodeError: ``body`` encodes something else.
    """
    fields: dict[str, Any] = {}
    decoders = _decoders()
    for name, raw in _raw_map.decode(body).items():
        yield None
        if name not in decoders:
            continue
        whole, batched = decoders[name]
        if batched is None or len(memoryview(raw)) <= BATCH:
            fields[name] = whole.decode(raw)
            continue
        items: list[Any] = []
        for batch in _batches(_raw_list.decode(raw)):
            yield None
            items += batched.decode(batch)
        fields[name] = tuple(items)
    for name, encoded in chunks.items():
        if name not in columns.KINDS:
            continue
        rows: list[Any] = []
        for part in columns.decode_rows(name, encoded):
            yield None
            rows += part
        fields[name] = tuple(rows)
    yield None
    yield Tape(**fields)


def _batches(parts: list[msgspec.Raw]) -> Iterator[bytes]:
    """Yield the parts as encoded lists of about `BATCH` bytes each."""
    batch: list[memoryview] = []
    size = 0
    for part in parts:
        view = memoryview(part)
        batch.append(view)
        size += len(view)
        if size >= BATCH:
            yield _packed_list(batch)
            batch, size = [], 0
    if batch:
        yield _packed_list(batch)


def _packed_list(parts: list[memoryview]) -> bytes:
    """Return the MessagePack list of parts that are encoded already."""
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
