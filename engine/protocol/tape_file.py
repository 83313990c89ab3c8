"""A run as a file: the program, its environment, the view and the tape in checksummed sections.

A line with type and version, then sections: a header (name, stored size, unpacked size, SHA-256 of
these and of the stored bytes) and MessagePack compressed by zlib. Rows are columns with the names
of their fields, so that a later version with more fields reads the files of this one. The numbers
of big tensors, of which the tape has statistics alone, stand in sections of their own at the end,
and so do the slides of a lecture.
"""

import hashlib
import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol.check_replies import MAX_PEEKED
from gradscribe.engine.protocol.lecture.slides import Slide, plausible
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.engine.protocol.wire import columns, incremental, packing

VERSION = 1
SUFFIX = ".tape"
MAX_FILE = 512 << 20
"""Most bytes of a file."""
MAX_UNPACKED = 512 << 20
"""Most bytes of all sections once they are unpacked, as of a message of the engine."""
MAX_SECTION = 128 << 20
MAX_PROGRAM = 8 << 20
"""Most bytes of the program with its environment, and of the view."""
MAX_MODULES = 10_000
"""Most open modules."""
MAX_TIMESTAMP = float(1 << 36)
NUMBERS_BUDGET = 64 << 20
"""Bytes of big tensors that a file gets unless more is asked for."""
NUMBERS_CHUNK = 8 << 20
"""Bytes of big tensors in a section."""

MAGIC = b"gradscribe-tape "
"""The first bytes of a file; the number of its format follows."""
_LINE = 40
_HEADER = struct.Struct(">16sII32s")
_SIGNED = struct.Struct(">16sII")
_LEVEL = 3
"""Compression level: a higher one takes several times as long for some per cent."""

S = TypeVar("S", bound=Struct)


class UnreadableTape(ValueError):
    """The bytes are no run of this format; the text is a line for the user."""


class RunProgram(Struct, frozen=True):
    """The program of a run and what it ran on; ``recorded``: seconds since 1970."""

    source: str
    title: str = ""
    recorded: float = 0.0
    torch: str = ""
    python: str = ""
    platform: str = ""
    device: str = "cpu"
    seed: int = 0
    product: str = ""
    """The version of Gradscribe that wrote the file."""


class RunView(Struct, frozen=True):
    """Position in events, open modules (None: those that the picture chooses), selection."""

    position: int = 0
    open_calls: tuple[str, ...] | None = None
    selection: str = ""


class RunFile(Struct, frozen=True):
    """A run as read from a file; ``trouble`` says what of it is lost, empty if nothing is.

    Where numbers are lost, ``tape`` has no more than the output, the error, findings and figures.
    """

    program: RunProgram
    tape: Tape
    view: RunView = RunView()
    trouble: str = ""
    has_numbers: bool = True
    big: Mapping[int, Snapshot] = {}
    """All numbers of tensors that the tape only summarizes, by their index in its snapshots."""
    slides: tuple[Slide, ...] = ()
    """The slides of a lecture on the run, in order."""


class _Rest(Struct, frozen=True):
    """The tape without its rows, and the names of the columns that follow."""

    tape: msgspec.Raw
    fields: dict[str, tuple[str, ...]]
    counts: dict[str, int]


class _Lecture(Struct, frozen=True):
    slides: tuple[Slide, ...]


class _End(Struct, frozen=True):
    sections: int


@dataclass
class _Found:
    """Sections that are whole, and the first thing that is not."""

    sections: dict[str, list[bytes]] = field(default_factory=dict)
    trouble: str = ""
    count: int = 0
    is_complete: bool = False


_encoder = msgspec.msgpack.Encoder()


def encode(run: RunFile) -> list[bytes]:
    """Return the file's bytes in pieces.

    Raises:
        UnreadableTape: the run is too long to be read back.
    """
    pieces, unpacked, sections = [b"%s%d\n" % (MAGIC, VERSION)], 0, 0
    for name, raw in _raw_sections(run):
        unpacked += len(raw)
        if len(raw) > MAX_SECTION or unpacked > MAX_UNPACKED:
            raise UnreadableTape(f"The run is longer than {MAX_UNPACKED >> 20} MB")
        pieces += _section(name, raw)
        sections += 1
    pieces += _section("end", _encoder.encode(_End(sections)))
    return pieces


def summarized(tape: Tape, budget: int = NUMBERS_BUDGET) -> tuple[tuple[int, ...], int]:
    """Return indices of snapshots without their numbers, small ones first, and how many are left.

    Together the first have at most ``budget`` bytes; the number counts those past it.
    """
    sizes = []
    for at, snapshot in enumerate(tape.snapshots):
        if snapshot.data is None and snapshot.thumb is not None:
            sizes.append((check_tape.bytes_of(snapshot), at))
    chosen, spent = [], 0
    for size, at in sorted(sizes):
        spent += size
        if spent > budget or tape.snapshots[at].numel > MAX_PEEKED:
            break
        chosen.append(at)
    return tuple(chosen), len(sizes) - len(chosen)


def _raw_sections(run: RunFile) -> Iterator[tuple[str, bytes]]:
    yield "program", b"".join(packing.pack(run.program))
    yield "view", b"".join(packing.pack(run.view))
    tape = run.tape
    try:
        _encoder.encode(tape)
    except UnicodeEncodeError:  # A lone surrogate, which becomes a question mark.
        tape = msgspec.msgpack.decode(b"".join(packing.pack(tape)), type=Tape)
    rows = {name: getattr(tape, name) for name in columns.KINDS}
    fields = {name: kind.__struct_fields__ for name, kind in columns.KINDS.items()}
    counts = {name: len(found) for name, found in rows.items()}
    empty: dict[str, Any] = dict.fromkeys(rows, ())
    rest = msgspec.Raw(b"".join(packing.pack(replace(tape, **empty))))
    yield "tape", _encoder.encode(_Rest(rest, fields, counts))
    for name, found in rows.items():
        for start in range(0, len(found), columns.ROWS):
            for chunk in columns.encode_rows(name, found[start : start + columns.ROWS]):
                yield name, chunk
    for part in _in_chunks(run.big):
        yield "numbers", _encoder.encode(part)
    if run.slides:
        yield "lecture", b"".join(packing.pack(_Lecture(run.slides)))


def _in_chunks(big: Mapping[int, Snapshot]) -> Iterator[dict[int, Snapshot]]:
    part: dict[int, Snapshot] = {}
    size = 0
    for at, snapshot in big.items():
        if snapshot.data is None:
            continue
        if part and size + len(snapshot.data) > NUMBERS_CHUNK:
            yield part
            part, size = {}, 0
        # Its statistics stand on the tape.
        part[at] = Snapshot(snapshot.shape, snapshot.dtype, snapshot.store, snapshot.data)
        size += len(snapshot.data)
    if part:
        yield part


def _section(name: str, raw: bytes) -> tuple[bytes, bytes]:
    stored = zlib.compress(raw, _LEVEL)
    head = _SIGNED.pack(name.encode(), len(stored), len(raw))
    return head + hashlib.sha256(head + stored).digest(), stored


def decode(data: bytes) -> RunFile:
    """Read a run back, as far as it is whole; nothing of it is executed.

    Raises:
        UnreadableTape: it is no such file, a later version wrote it, or its program is lost.
    """
    if len(data) > MAX_FILE:
        raise UnreadableTape(f"it is longer than {MAX_FILE >> 20} MB")
    found = _Found()
    _collect(data, _check_version(data), found)
    program = _decoded(found, "program", RunProgram)
    if program is None:
        raise UnreadableTape("it is cut or spoilt, and its program is lost")
    view = _decoded(found, "view", RunView)
    if view is None:
        found.trouble = found.trouble or "its position and selection are spoilt"
    rest = _decoded(found, "tape", _Rest)
    tape = None if rest is None else _whole_tape(found, rest)
    has_numbers = tape is not None
    if tape is None:
        found.trouble = found.trouble or "its numbers are spoilt"
        tape = _without_rows(rest)
    big = _big(found, tape) if has_numbers else {}
    slides = _slides(found) if has_numbers else ()
    about, shown = _plausible(program), _fitting(view, tape)
    return RunFile(about, tape, shown, found.trouble, has_numbers, big, slides)


def _slides(found: _Found) -> tuple[Slide, ...]:
    """Return the slides, none if they are spoilt."""
    if "lecture" not in found.sections:
        return ()
    lecture = _decoded(found, "lecture", _Lecture)
    if lecture is None:
        found.trouble = found.trouble or "its slides are spoilt"
        return ()
    return plausible(lecture.slides)


def _check_version(data: bytes) -> int:
    """Return where the sections begin."""
    end = data.find(b"\n", 0, _LINE)
    number = data[len(MAGIC) : max(end, 0)]
    if not data.startswith(MAGIC) or not number.isdigit():
        raise UnreadableTape("it is not a recorded run")
    if int(number) > VERSION:
        raise UnreadableTape(
            f"a later version of Gradscribe wrote it: it has format {int(number)}, and this one"
            f" reads up to {VERSION}"
        )
    if int(number) < 1:
        raise UnreadableTape("it is not a recorded run")
    return end + 1


def _collect(data: bytes, at: int, found: _Found) -> None:
    """Unpack the sections that are whole; a size that is spoilt ends the search."""
    view, left = memoryview(data), MAX_UNPACKED
    while at < len(data):
        if len(data) - at < _HEADER.size:
            found.trouble = found.trouble or "it is cut"
            return
        name, stored, raw, digest = _HEADER.unpack_from(data, at)
        body = view[at + _HEADER.size : at + _HEADER.size + stored]
        signed = hashlib.sha256(view[at : at + _SIGNED.size])
        signed.update(body)
        at += _HEADER.size + stored
        left -= raw
        if len(body) < stored:
            found.trouble = found.trouble or "it is cut"
        elif raw > MAX_SECTION or left < 0:
            found.trouble = found.trouble or f"it has more than {MAX_UNPACKED >> 20} MB"
            return
        elif signed.digest() != digest or (unpacked := _unpacked(body, raw)) is None:
            found.trouble = found.trouble or "a part of it is spoilt"
            left += raw
            found.count += 1
        elif name.rstrip(b"\0") == b"end":
            _check_end(found, unpacked, at < len(data))
            return
        else:
            key = name.rstrip(b"\0").decode("utf-8", "replace")
            found.sections.setdefault(key, []).append(unpacked)
            found.count += 1
    found.trouble = found.trouble or "it is cut"


def _check_end(found: _Found, unpacked: bytes, is_longer: bool) -> None:
    try:
        end = msgspec.msgpack.decode(unpacked, type=_End)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found.trouble = found.trouble or "a part of it is spoilt"
        return
    if end.sections != found.count:
        found.trouble = found.trouble or "a part of it is missing"
    elif is_longer:
        found.trouble = found.trouble or "something was added after its end"


def _unpacked(body: memoryview, size: int) -> bytes | None:
    """Return the unpacked bytes if they are as many as announced, without ever making more."""
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(body, size + 1)
    except zlib.error:
        return None
    return raw if len(raw) == size and unpacker.eof and not unpacker.unused_data else None


def _decoded(found: _Found, name: str, kind: type[S]) -> S | None:
    raw = next(iter(found.sections.get(name, ())), None)
    if raw is None or (kind is not _Rest and len(raw) > MAX_PROGRAM):
        return None
    try:
        return msgspec.msgpack.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _whole_tape(found: _Found, rest: _Rest) -> Tape | None:
    """Return the tape if all its rows are there and refer to what exists."""
    try:
        rows: dict[str, Any] = {}
        for name in columns.KINDS:
            names, chunks = rest.fields.get(name, ()), found.sections.get(name, ())
            rows[name] = tuple(
                row for part in columns.decode_rows(name, chunks, names) for row in part
            )
            if len(rows[name]) != rest.counts.get(name, 0):
                return None
        tape = replace(_rest_of(rest), **rows)
        if any(check_tape.find_flaws(tape)):
            return None
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError, KeyError):
        return None
    return tape


def _big(found: _Found, tape: Tape) -> dict[int, Snapshot]:
    """Return the numbers of big tensors that fit what the tape says of them."""
    whole: dict[int, Snapshot] = {}
    for raw in found.sections.get("numbers", ()):
        try:
            part = msgspec.msgpack.decode(raw, type=dict[int, Snapshot])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            part = {-1: Snapshot((), "")}
        for at, full in part.items():
            if 0 <= at < len(tape.snapshots) and _fits(full, tape.snapshots[at]):
                whole[at] = _completed(tape.snapshots[at], full)
            else:
                found.trouble = found.trouble or "numbers of big tensors are spoilt"
    return whole


def _fits(full: Snapshot, summary: Snapshot) -> bool:
    return (
        full.data is not None
        and summary.data is None
        and (full.shape, full.dtype) == (summary.shape, summary.dtype)
        and check_tape.is_consistent_snapshot(full, MAX_PEEKED)
    )


def _completed(summary: Snapshot, full: Snapshot) -> Snapshot:
    completed: Snapshot = replace(summary, data=full.data, store=full.store)
    return completed


def _rest_of(rest: _Rest) -> Tape:
    *_, found = incremental.decode_tape(rest.tape)
    assert found is not None
    return found


def _without_rows(rest: _Rest | None) -> Tape:
    """Return what a tape says without its rows: output, error, findings, figures."""
    if rest is None:
        return Tape()
    try:
        whole = _rest_of(rest)
        tape = Tape(
            status=whole.status,
            error=whole.error,
            stdout=whole.stdout,
            stderr=whole.stderr,
            torch=whole.torch,
            device=whole.device,
            findings=whole.findings,
            figures=whole.figures,
        )
        return Tape() if any(check_tape.find_flaws(tape)) else tape
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return Tape()


def _plausible(program: RunProgram) -> RunProgram:
    """Return the program with texts of a line cut, and without a time that is no date."""
    most = check_tape.MAX_NAME_CHARS
    recorded = program.recorded
    names = {
        name: " ".join(getattr(program, name)[:most].split())
        for name in ("title", "torch", "python", "platform", "device", "product")
    }
    is_date = math.isfinite(recorded) and 0 <= recorded < MAX_TIMESTAMP
    seed = program.seed if -(1 << 63) <= program.seed < 1 << 63 else 0
    found: RunProgram = msgspec.structs.replace(
        program, recorded=recorded if is_date else 0.0, seed=seed, **names
    )
    return found


def _fitting(view: RunView | None, tape: Tape) -> RunView:
    """Return the view with a position on the tape, and names of a plausible length."""
    if view is None:
        return RunView()
    most = check_tape.MAX_NAME_CHARS
    calls = view.open_calls
    if calls is not None and (len(calls) > MAX_MODULES or any(len(c) > most for c in calls)):
        calls = None
    position = min(max(0, view.position), len(tape.events))
    return RunView(position, calls, view.selection if len(view.selection) <= most else "")
