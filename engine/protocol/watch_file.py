"""The file of a watched training loop: records that are only ever appended.

The user's process writes it and windows read it, also while it grows. Each record is checked by
itself, so that a file that is cut or spoilt is read as far as it is whole. Never pickled.
"""

import struct
import zlib
from typing import Literal

import msgspec
from msgspec import Struct

SUFFIX = ".watch"
ORDER = ".record"
"""Ending, after that of the file, of the order of a tape: it has the number of the step, 0 for the
next."""
MAGIC = b"gradscribe-watch 1\n"
_BEGIN = b"gradscribe-watch "
MAX_RECORD = 1 << 24
"""Most bytes of a record."""
MAX_FILE = 1 << 28
"""Most bytes of a file; the watch ends there."""
_HEAD = struct.Struct("<II")


class UnreadableWatch(ValueError):
    """The file is none, or spoilt from here on; a line for the user."""


class WatchHeader(Struct, frozen=True, tag="header", array_like=True):
    """The loop; the first record of a file."""

    model: str
    optimizer: str
    parameters: tuple[tuple[str, tuple[int, ...]], ...]
    """Names and shapes, in order of the columns of samples."""
    modules: tuple[str, ...]
    """Modules whose outputs are measured."""
    program: str = ""
    torch: str = ""
    started: float = 0.0
    """Seconds since 1970."""
    rank: int = 0
    ranks: int = 1
    note: str = ""
    """The measurements that are left out, and why."""


class WatchLosses(Struct, frozen=True, tag="losses", array_like=True):
    """Losses of some steps."""

    steps: bytes
    """Little-endian int64."""
    numbers: bytes
    """Little-endian float64, as many."""
    dropped: int = 0
    """Steps between them that are left out."""


class WatchSample(Struct, frozen=True, tag="sample", array_like=True):
    """All measurements of one step; little-endian float32, NaN where there is none."""

    step: int
    rate: float
    """Learning rate of the first parameter group."""
    gradients: bytes
    """Norms, one a parameter."""
    weights: bytes
    updates: bytes
    """Norms of the update over those of the parameter before it."""
    means: bytes
    """Means of the outputs, one a module."""
    spreads: bytes
    """Standard deviations of the outputs."""


WatchKind = Literal["nan", "spike", "tape", "lost", "note", "end"]


class WatchEvent(Struct, frozen=True, tag="event", array_like=True):
    """Something that happened after a step; ``path`` is the file of a tape."""

    kind: WatchKind
    step: int
    text: str
    path: str = ""


WatchRecord = WatchHeader | WatchLosses | WatchSample | WatchEvent
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(WatchRecord)


def encode(record: WatchRecord) -> bytes:
    """Return the bytes of a record."""
    data = _encoder.encode(record)
    return _HEAD.pack(len(data), zlib.crc32(data)) + data


def check_begin(data: bytes) -> int:
    """Return the length of the file's first line, 0 while it is not whole.

    Raises:
        UnreadableWatch: it is no such file, or of a later version.
    """
    begin = data[: len(MAGIC)]
    if begin == MAGIC:
        return len(MAGIC)
    if MAGIC.startswith(begin):
        return 0
    if begin.startswith(_BEGIN):
        raise UnreadableWatch("it was written by a later version of Gradscribe")
    raise UnreadableWatch("it is no watched training loop")


def decode(data: bytes | memoryview) -> tuple[list[WatchRecord], int]:
    """Return the whole records at the begin of ``data``, and how many bytes they take.

    Raises:
        UnreadableWatch: the first record is spoilt; those before one that is are returned first.
    """
    found: list[WatchRecord] = []
    at = 0
    while len(data) - at >= _HEAD.size:
        size, checksum = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + size
        if size <= MAX_RECORD and end > len(data):
            break
        record = None
        if size <= MAX_RECORD:
            record = _record(bytes(data[at + _HEAD.size : end]), checksum)
        if record is None:
            if found:
                break
            raise UnreadableWatch("it is spoilt from here on")
        found.append(record)
        at = end
    return found, at


def _record(data: bytes, checksum: int) -> WatchRecord | None:
    if zlib.crc32(data) != checksum:
        return None
    try:
        record: WatchRecord = _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return record
