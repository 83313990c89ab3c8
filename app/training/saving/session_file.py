"""Format of a training session file: MessagePack in an `app.files.checksummed`."""

import errno
import os
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
from msgspec import Struct

from gradscribe.app.files import checksummed, documents
from gradscribe.app.files.checksummed import DamagedFile, NewerVersion
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.session_file import MAX_TIMESTAMP
from gradscribe.app.files.sessions import SessionFormat
from gradscribe.app.link.far_engine import FarEngine
from gradscribe.app.training.saving import msgpack_bounds
from gradscribe.engine.protocol.setup import Setup, SetupError, validate
from gradscribe.engine.protocol.training.replies import QUANTILES
from gradscribe.engine.protocol.wire import packing
from gradscribe.playback.translation import tr
from gradscribe.widgets.plots.spread_table import SpreadTable
from gradscribe.widgets.plots.step_series import StepSeries

LIMIT = 256 << 20
"""Largest file in bytes that is read or written."""
MOST_NUMBERS = 1 << 20
"""Longer curves are thinned."""
MOST_QUANTILES = 1 << 18
"""Longer spreads over time are thinned."""
MOST_SPREAD_BYTES = 1 << 25
MOST_RUNS = 1000
MOST_CURVES = 5000
"""Most curves of all runs together."""
MOST_FLAGS, MOST_FLAG_TEXT = 1000, 1000
"""Most changes of settings along a run, and most characters of each."""
MOST_IN_SETUP = 100_000
"""Most MessagePack values in the setup of a run, such as points drawn by hand."""
MOST_IN_SESSION = 2_000_000
MOST_IN_STATE = 8_000_000
"""Most values in the engine state of a run. A run of 20,000 steps has 15,000."""

COPY_CHUNK = 1 << 20
"""Bytes that are copied while the GIL is held."""


class SessionCurve(Struct, frozen=True):
    """A curve: ``steps`` int64, ``numbers`` float32, little-endian."""

    steps: bytes
    numbers: bytes


class SessionSpread(Struct, frozen=True):
    """The spread over time, little-endian.

    ``steps`` int64 (n,), ``quantiles`` float32 (n, rows, ``shares``), ``counts`` int64
    (n, rows, 3).
    """

    steps: bytes
    quantiles: bytes
    counts: bytes
    rows: int
    shares: tuple[float, ...]


class SessionRun(Struct, frozen=True):
    """A run as the window knows it; ``data`` is its engine state, empty for none.

    ``parent``: the index of the run it was forked from in `TrainingSessionData.runs`, or -1.
    ``anew``: a fork
    without an engine state, which is forked again at ``parent_step``. ``ahead``: curves past
    ``step``, from before the run was rewound. ``origin``: of a fork, the setup of its source.
    ``flags``: steps after which something changed, and what.
    """

    name: str
    color: int
    setup: Setup
    step: int
    furthest: int
    curves: dict[str, SessionCurve]
    data: bytes = b""
    hidden: bool = False
    parent: int = -1
    parent_step: int = 0
    christened: bool = False
    anew: bool = False
    ahead: dict[str, SessionCurve] = {}
    spread: SessionSpread | None = None
    origin: Setup | None = None
    edited: str = ""
    flags: tuple[tuple[int, str], ...] = ()
    number: int = 0
    """Its id in the engine that it is in; 0: it is in none."""


class TrainingSessionData(Struct, frozen=True, tag="training"):
    """A training session: its set-up and its runs, of which ``current`` is the current one.

    ``when``: seconds since 1970. ``closed``: its window was closed and did not crash. ``right``:
    the index of the correct run that makes the steps of the current one, or -1.
    """

    setup: Setup
    runs: tuple[SessionRun, ...]
    current: int
    torch: str = ""
    when: float = 0.0
    closed: bool = False
    right: int = -1
    far: FarEngine | None = None
    """The engine of its runs if that is on another machine: it goes on without the window."""

    def programs(self) -> str:
        """Return the source of every program that its runs would execute; empty for none."""
        setups = [self.setup, *(run.setup for run in self.runs)]
        setups += [setup for run in self.runs for setup in _executed(run.data) or ()]
        found = [str(setup.model.options.get("source", "")) for setup in setups]
        own = [s for s, setup in zip(found, setups, strict=True) if setup.model.name == "own"]
        return "\n\n\n".join(dict.fromkeys(filter(None, own)))


class _Room(Struct, tag="training"):
    """A `TrainingSessionData` with its runs still encoded."""

    setup: Setup
    runs: tuple[msgspec.Raw, ...]
    current: int
    torch: str = ""
    when: float = 0.0
    closed: bool = False
    right: int = -1
    far: FarEngine | None = None


class _Curve(Struct):
    """A `SessionCurve` as views into the file's bytes."""

    steps: memoryview
    numbers: memoryview

    def taken(self) -> SessionCurve:
        """Return a copy. Raises ValueError if it is longer than any saved curve."""
        if max(len(self.steps) // 8, len(self.numbers) // 4) > MOST_NUMBERS + 1:
            raise ValueError("a curve that is too long")
        return SessionCurve(bytes(self.steps), bytes(self.numbers))


class _Spread(Struct):
    """A `SessionSpread` as views into the file's bytes."""

    steps: memoryview
    quantiles: memoryview
    counts: memoryview
    rows: int
    shares: tuple[float, ...]

    def taken(self) -> SessionSpread:
        """Return a copy. Raises ValueError if it is longer than any saved one."""
        parts = self.steps, self.quantiles, self.counts
        if max(map(len, parts)) > MOST_SPREAD_BYTES:
            raise ValueError("a spread that is too long")
        steps, quantiles, counts = map(bytes, parts)
        return SessionSpread(steps, quantiles, counts, self.rows, self.shares)


class _Curves(Struct):
    curves: dict[str, _Curve]
    ahead: dict[str, _Curve] = {}
    spread: _Spread | None = None


class _Run(Struct):
    """A `SessionRun` without its curves and spread; ``data`` is a view into the file's bytes."""

    name: str
    color: int
    setup: Setup
    step: int
    furthest: int
    data: memoryview = memoryview(b"")
    hidden: bool = False
    parent: int = -1
    parent_step: int = 0
    christened: bool = False
    anew: bool = False
    origin: Setup | None = None
    edited: str = ""
    flags: tuple[tuple[int, str], ...] = ()
    number: int = 0


class _Bytes(Struct, frozen=True):
    """The setups in the engine state of a run, which the engine would execute."""

    setups: tuple[Setup, ...] = ()


def _executed(data: bytes) -> tuple[Setup, ...] | None:
    """Return the setups in the engine state of a run; None if it cannot be decoded."""
    if not data:
        return ()
    try:
        msgpack_bounds.skip_field(data, "setups", MOST_IN_STATE, MOST_IN_SETUP)
        return msgspec.msgpack.decode(data, type=_Bytes).setups
    except (msgpack_bounds.TooManyValues, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def to_session_curve(curve: StepSeries, most: int = 0) -> SessionCurve:
    """Return a curve to save, with at most about ``most`` numbers (0: `MOST_NUMBERS`)."""
    size, every = len(curve), 1
    while size // every > (most or MOST_NUMBERS):
        every *= 2
    steps, numbers = curve.steps(0, size, every), curve.numbers(0, size, every)
    return SessionCurve(steps.astype("<i8").tobytes(), numbers.astype("<f4").tobytes())


def fill_curve(curve: StepSeries, kept: SessionCurve) -> None:
    """Fill an empty curve with a saved one."""
    curve.extend(np.frombuffer(kept.steps, "<i8"), np.frombuffer(kept.numbers, "<f4"))


def to_session_spread(table: SpreadTable, most: int = 0) -> SessionSpread | None:
    """Return a spread to save, with at most about ``most`` quantiles (0: `MOST_QUANTILES`).

    None if it has no steps.
    """
    steps, quantiles, counts = table.upto(table.last, most or MOST_QUANTILES).arrays()
    parts = steps.astype("<i8"), quantiles.astype("<f4"), counts.astype("<i8")
    if not steps.size or max(part.nbytes for part in parts) > MOST_SPREAD_BYTES:
        return None
    seen, values, totals = (part.tobytes() for part in parts)
    return SessionSpread(seen, values, totals, quantiles.shape[1], QUANTILES)


def spread_table(kept: SessionSpread | None) -> SpreadTable:
    """Return a saved spread; an empty table if there is none, or of other quantiles."""
    if kept is None or kept.shares != QUANTILES:
        return SpreadTable()
    steps = np.frombuffer(kept.steps, "<i8").astype(np.int64)
    quantiles = np.frombuffer(kept.quantiles, "<f4").astype(np.float32)
    counts = np.frombuffer(kept.counts, "<i8").astype(np.int64)
    shape = steps.size, kept.rows
    return SpreadTable.of(
        steps, quantiles.reshape(*shape, len(QUANTILES)), counts.reshape(*shape, 3)
    )


def encode_buffers(saved: TrainingSessionData) -> list[bytes]:
    """Return a session file as a list of buffers; long ones are not copied.

    Raises:
        Refused: there would be too many bytes, runs or curves.
    """
    curves = _count(saved)
    if len(saved.runs) > MOST_RUNS or curves > MOST_CURVES:
        much = tr(
            "{runs_count:,} runs with {curves:,} curves", runs_count=len(saved.runs), curves=curves
        )
        raise Refused(tr("The session has {much} and was not saved; forget some runs", much=much))
    found = checksummed.wrap_pieces(packing.pack(saved))
    if sum(map(len, found)) > LIMIT:
        raise Refused(
            tr("The session has more than {value} MB and was not saved", value=LIMIT >> 20)
        )
    return found


def encode(saved: TrainingSessionData) -> bytes:
    """Return the bytes of a session file. Raises `Refused` if they would be too many."""
    return b"".join(encode_buffers(saved))


def decode(data: bytes) -> TrainingSessionData:
    """Return the contents of a session file.

    Raises:
        Damaged: it is no session file, or was altered.
        Newer: a later version wrote it.
    """
    payload = checksummed.unwrap(data)
    try:
        return _sound(_decoded(payload))
    except (msgspec.MsgspecError, SetupError, ValueError, RecursionError) as error:
        raise DamagedFile(tr("it does not hold a training session")) from error


def _decoded(payload: memoryview) -> TrainingSessionData:
    """Return the session, decoded run by run, so that the GIL is released in between."""
    msgpack_bounds.skip(payload, 0, MOST_IN_SESSION)
    found = msgspec.msgpack.decode(payload, type=_Room)
    if len(found.runs) > MOST_RUNS:
        raise ValueError("too many runs")
    runs = []
    for raw in found.runs:
        msgpack_bounds.skip(memoryview(raw), 0, MOST_IN_SETUP)
        curves = msgspec.msgpack.decode(raw, type=_Curves)
        held, ahead = _taken(curves.curves), _taken(curves.ahead)
        run = msgspec.msgpack.decode(raw, type=_Run)
        fields = msgspec.structs.asdict(run) | {"data": _copied(run.data)}
        spread = curves.spread.taken() if curves.spread is not None else None
        runs.append(SessionRun(curves=held, ahead=ahead, spread=spread, **fields))
    return TrainingSessionData(
        found.setup,
        tuple(runs),
        found.current,
        found.torch,
        found.when,
        found.closed,
        found.right,
        found.far,
    )


def _taken(curves: dict[str, _Curve]) -> dict[str, SessionCurve]:
    return {name: curve.taken() for name, curve in curves.items()}


def _count(saved: TrainingSessionData) -> int:
    return sum(len(run.curves) + len(run.ahead) for run in saved.runs)


def _copied(view: memoryview) -> bytes:
    """Return a copy in chunks: a single copy would block the GUI for as long."""
    # bytes.join releases the GIL, other ways of copying do not.
    return b"".join([bytes(view[at : at + COPY_CHUNK]) for at in range(0, len(view), COPY_CHUNK)])


def read(path: Path) -> TrainingSessionData:
    """Return the contents of the session file ``path``.

    Raises:
        Refused: it cannot be read, was altered, or a later version wrote it.
    """
    try:
        with documents.open_plain(path) as file:
            return _whole(file)
    except OSError as error:
        raise Refused(
            tr("{path} cannot be read: {value}", path=path, value=error.strerror or error)
        ) from error
    except NewerVersion as error:
        raise Refused(
            tr("{name} was saved by a newer Gradscribe: {error}", name=path.name, error=error)
        ) from error
    except DamagedFile as error:
        raise Refused(
            tr("{name} is not a complete session file: {error}", name=path.name, error=error)
        ) from error


def _whole(file: BinaryIO) -> TrainingSessionData:
    # A regular file reports its size; a device or pipe may have no end.
    is_long = os.fstat(file.fileno()).st_size > LIMIT
    data = b"" if is_long else file.read(LIMIT + 1)
    if is_long or len(data) > LIMIT:
        raise DamagedFile(tr("it has more than {value} MB", value=LIMIT >> 20))
    return decode(data)


def _read_left(path: Path) -> TrainingSessionData:
    try:
        with documents.open_plain(path) as file:
            return _whole(file)
    except Refused as error:
        raise DamagedFile(str(error)) from error


def _encode(saved: TrainingSessionData) -> list[bytes]:
    try:
        return encode_buffers(saved)
    except Refused as refusal:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG)) from refusal


RECOVERY_FORM = SessionFormat(".training", _encode, _read_left)
"""Format of the recovery files, one for each window."""


def _sound(saved: TrainingSessionData) -> TrainingSessionData:
    """Return the session if it is consistent. Raises ValueError, `SetupError`."""
    if not 0 <= saved.current < len(saved.runs):
        raise ValueError("no such run")
    if not -1 <= saved.right < len(saved.runs):
        raise ValueError("no such correct run")
    if not abs(saved.when) < MAX_TIMESTAMP:
        raise ValueError("no such time")
    validate(saved.setup)
    if _count(saved) > MOST_CURVES:
        raise ValueError("too many curves")
    for number, run in enumerate(saved.runs):
        validate(run.setup)
        if run.origin is not None:
            validate(run.origin)
        texts = (run.edited, *(text for _, text in run.flags))
        if len(run.flags) > MOST_FLAGS or max(map(len, texts)) > MOST_FLAG_TEXT:
            raise ValueError("too much about changes")
        if run.parent >= number or min(run.step, run.furthest, run.color) < 0:
            raise ValueError("a run before its parent")
        for curve in (*run.curves.values(), *run.ahead.values()):
            _check_curve(curve)
        if run.spread is not None:
            _check_spread(run.spread)
    # A state that cannot be decoded here must not reach the engine: it may contain a program.
    runs = tuple(
        msgspec.structs.replace(run, data=b"") if _executed(run.data) is None else run
        for run in saved.runs
    )
    return msgspec.structs.replace(saved, runs=runs)


def _check_curve(curve: SessionCurve) -> None:
    count = len(curve.numbers) // 4
    if len(curve.steps) != 8 * count or len(curve.numbers) % 4:
        raise ValueError("a curve with steps that miss numbers")
    _check_steps(np.frombuffer(curve.steps, "<i8"))


def _check_spread(spread: SessionSpread) -> None:
    count = len(spread.steps) // 8
    numbers = count * spread.rows
    if min(spread.rows, count) < 1 or len(spread.steps) != 8 * count:
        raise ValueError("a spread without rows or steps")
    if len(spread.quantiles) != 4 * numbers * len(spread.shares):
        raise ValueError("a spread that misses quantiles")
    if len(spread.counts) != 8 * numbers * 3:
        raise ValueError("a spread that misses counts")
    _check_steps(np.frombuffer(spread.steps, "<i8"))


def _check_steps(steps: np.ndarray) -> None:
    if steps.size and (steps[0] < 0 or not bool(np.all(steps[1:] > steps[:-1]))):
        raise ValueError("a curve that does not go on")
