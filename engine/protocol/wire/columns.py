"""Rows of a tape as columns: less to send, and faster to encode and to decode than objects.

A chunk has up to `ROWS` rows of one kind, and a column for each of their fields. Columns of numbers
are arrays of the least width. A column with few distinct values is a table of those and an array of
indices, so that rows share them once decoded. All others are lists.
"""

import types
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from msgspec import Raw, Struct

from gradscribe.engine.protocol import tape as tapes

ROWS = 4096
"""Rows of a chunk: a few milliseconds of work."""
LEAST_ROWS = 1000
"""Fewer rows are not worth columns."""
KINDS: Mapping[str, type[Struct]] = {
    "snapshots": tapes.Snapshot,
    "values": tapes.Value,
    "ops": tapes.Op,
    "calls": tapes.Call,
    "nodes": tapes.Node,
    "edges": tapes.Edge,
    "executions": tapes.Execution,
    "accumulations": tapes.Accumulation,
    "passes": tapes.Pass,
    "steps": tapes.Step,
    "resets": tapes.Reset,
    "events": tapes.Event,
}
"""Fields of a tape that are sent as columns -> the kind of their rows."""
_SHARE = 4
"""A table has at most a row's value in this many."""
_SAMPLE = 64
"""Rows that tell whether a table is worth a try."""
_WIDTHS = (np.dtype("i1"), np.dtype("<i2"), np.dtype("<i4"), np.dtype("<i8"))

Form = Literal["numbers", "optional", "bools", "table", "list"]


class WireColumn(Struct, frozen=True, array_like=True, gc=False):
    """One field of all rows of a chunk.

    ``data``: little-endian signed integers of 1, 2, 4 or 8 bytes, one a row; -1 is None in an
    ``optional`` column; of a ``table`` they are indices in ``items``, which in a ``list`` are the
    rows' own values.
    """

    form: Form
    data: bytes
    items: Raw = Raw(b"\x90")


class Chunk(Struct, frozen=True, array_like=True):
    """Some rows as columns, in the order of their fields."""

    count: int
    columns: tuple[WireColumn, ...]


class _Field(Struct, frozen=True):
    """Field of a row; ``exact``: values of it that are equal may still differ."""

    form: Literal["numbers", "optional", "bools", ""]
    exact: bool
    decoder: msgspec.msgpack.Decoder[list[Any]]


_encoder = msgspec.msgpack.Encoder()
_chunks = msgspec.msgpack.Decoder(Chunk)


def encode_rows(name: str, rows: Sequence[Struct]) -> tuple[bytes, ...]:
    """Return the rows of a field of a tape as encoded chunks.

    Raises:
        UnicodeEncodeError: a name has a lone surrogate.
    """
    fields = _fields(name)
    found = []
    for start in range(0, len(rows), ROWS):
        part = rows[start : start + ROWS]
        columns = zip(*map(msgspec.structs.astuple, part), strict=True)
        packed = tuple(map(_pack, fields, columns))
        found.append(_encoder.encode(Chunk(len(part), packed)))
    return tuple(found)


def decode_rows(
    name: str, chunks: Sequence[bytes], names: Sequence[str] | None = None
) -> Iterator[list[Any]]:
    """Yield the rows of each chunk.

    ``names``: the fields that the columns are, of a file; None for those of this version. Others
    are left out, and missing ones have their defaults.

    Raises:
        msgspec.DecodeError: they are something else.
    """
    kind, fields = KINDS[name], _fields(name)
    own = kind.__struct_fields__
    order = own if names is None else tuple(names)
    for encoded in chunks:
        chunk = _chunks.decode(encoded)
        if len(chunk.columns) != len(order) or not 0 < chunk.count <= ROWS:
            raise msgspec.DecodeError("a chunk with other columns")
        found = dict(zip(order, chunk.columns, strict=True))
        yield [
            *map(
                kind,
                *(
                    _unpack(form, found[field], chunk.count)
                    if field in found
                    else [_default(kind, field)] * chunk.count
                    for field, form in zip(own, fields, strict=True)
                ),
            )
        ]


def _default(kind: type[Struct], name: str) -> object:
    """Return the value of a field that a row was written without."""
    field = next(field for field in msgspec.structs.fields(kind) if field.name == name)
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    if field.default is msgspec.NODEFAULT:
        raise msgspec.DecodeError(f"rows without {name}")
    return field.default


@cache
def _fields(name: str) -> tuple[_Field, ...]:
    kinds = get_type_hints(KINDS[name])
    return tuple(_field(kinds[field]) for field in KINDS[name].__struct_fields__)


def _field(kind: object) -> _Field:
    decoder = msgspec.msgpack.Decoder(list[kind])  # type: ignore[valid-type]
    if kind is bool:
        return _Field("bools", False, decoder)
    if kind is int:
        return _Field("numbers", False, decoder)
    return _Field("optional" if kind == int | None else "", _is_exact(kind), decoder)


def _is_exact(kind: object) -> bool:
    """Return whether values that are equal may differ: 0.0 and -0.0, 1 and True."""
    if get_origin(kind) is Literal or kind in (str, int, type(None)):
        return False
    if isinstance(kind, type) and issubclass(kind, Struct):
        return any(map(_is_exact, get_type_hints(kind).values()))
    if isinstance(kind, types.UnionType) or get_origin(kind) is tuple:
        return any(_is_exact(part) for part in get_args(kind) if part is not Ellipsis)
    return True


def _pack(field: _Field, column: tuple[Any, ...]) -> WireColumn:
    try:
        return _pack_closely(field, column)
    except OverflowError:  # A number past 64 bits.
        return WireColumn("list", b"", Raw(_encoder.encode(column)))


def _pack_closely(field: _Field, column: tuple[Any, ...]) -> WireColumn:
    if field.form == "bools":
        return WireColumn("bools", bytes(column))
    if field.form == "numbers":
        return WireColumn("numbers", _narrow(np.array(column, "<i8")))
    if field.form == "optional":
        numbers = np.array(
            [-1 if n is None else n for n in column] if None in column else column, "<i8"
        )
        if int((numbers < 0).sum()) == column.count(None):
            return WireColumn("optional", _narrow(numbers))
    distinct = [None] if not any(column) and column.count(None) == len(column) else list[Any]()
    if not field.exact and _SHARE * len(set(column[:_SAMPLE])) <= max(len(column), _SAMPLE):
        distinct = list(dict.fromkeys(column))
    if distinct and _SHARE * len(distinct) <= max(len(column), _SHARE):
        places = {item: at for at, item in enumerate(distinct)}
        codes = np.fromiter(map(places.__getitem__, column), "<i8", len(column))
        return WireColumn("table", _narrow(codes), Raw(_encoder.encode(distinct)))
    return WireColumn("list", b"", Raw(_encoder.encode(column)))


def _narrow(numbers: "np.ndarray[Any, np.dtype[np.int64]]") -> bytes:
    """Return integers as bytes of the least width."""
    low, high = int(numbers.min()), int(numbers.max())
    for width in _WIDTHS:
        limits = np.iinfo(width)
        if limits.min <= low and high <= limits.max:
            return numbers.astype(width).tobytes()
    raise OverflowError


def _unpack(field: _Field, column: WireColumn, count: int) -> Sequence[Any]:
    if column.form == "list" and not column.data:
        items = field.decoder.decode(column.items)
        if len(items) != count:
            raise msgspec.DecodeError("a list of another length")
        return items
    numbers = _numbers(column.data, count)
    if column.form == "table":
        items = field.decoder.decode(column.items)
        if numbers.min() < 0 or numbers.max() >= len(items):
            raise msgspec.DecodeError("an index past its table")
        return [*map(items.__getitem__, numbers.tolist())]
    if column.form != field.form:
        raise msgspec.DecodeError("a column of another form")
    if column.form == "bools":
        return list((numbers != 0).tolist())
    if column.form == "optional" and numbers.min() < 0:
        return [None if number < 0 else number for number in numbers.tolist()]
    return list(numbers.tolist())


def _numbers(data: bytes, count: int) -> "np.ndarray[Any, Any]":
    for width in _WIDTHS:
        if len(data) == count * width.itemsize:
            return np.frombuffer(data, width)
    raise msgspec.DecodeError("an array of another length")
