"""Messages between the window and the engine, and their framing.

Both sides import this file; it imports nothing but plain data. A frame is four bytes of length, a
flag byte (more frames of the message follow), and up to `CHUNK` bytes of MessagePack. Long
messages are split so that no single read stalls the window.
"""

import struct
from collections.abc import Iterator
from typing import Generic, TypeVar, cast, get_args

import msgspec
from msgspec import Struct

from engine import packing, pieces, plausible, sound
from engine.body import Body
from engine.standing import At
from engine.tape import Problem, Snapshot, Tape
from engine.training import StepTape, TrainReply, TrainRequest

CHUNK = 1 << 20
LONG = 256 << 10
"""The tape in a message of more bytes is decoded incrementally."""
MAX_MESSAGE = 512 << 20
"""A longer message is refused: the other side is broken or hostile."""

T = TypeVar("T")

_HEADER = struct.Struct(">I?")


class Run(Struct, frozen=True, tag=True):
    """Execute ``source`` in a fresh namespace and record it. ``timeout`` in seconds."""

    run_id: int
    source: str
    filename: str = "<gradscribe>"
    seed: int = 0
    device: str = "cpu"
    timeout: float = 10.0
    event_limit: int = 40_000
    threads: int = 1
    """Threads that torch may use; 0: torch's default. More threads change the last digits."""
    memory: int = 256 << 20
    """Bytes of copied values the engine may store; past it the oldest become summaries."""
    policy: bool = False
    """True if the policy for untrusted programs applies."""


class Stop(Struct, frozen=True, tag=True):
    """Interrupt the run ``run_id`` if it is still going."""

    run_id: int


class Peek(Struct, frozen=True, tag=True):
    """Ask for all numbers of a snapshot of the latest run, up to ``limit`` elements."""

    run_id: int
    snapshot: int
    limit: int = 1 << 20


class Check(Struct, frozen=True, tag=True):
    """Compare a leaf element's gradient with finite differences, by running again twice."""

    run_id: int
    value: int
    index: int = 0


class Gradcheck(Struct, frozen=True, tag=True):
    """Compare the backward of a custom Function, called by this op, with finite differences."""

    run_id: int
    op: int
    """Index in `Tape.ops`."""


class Probe(Struct, frozen=True, tag=True):
    """Run a few lines and trace the cells of the last line's result to its inputs.

    ``policy``: apply the policy for untrusted programs.
    """

    run_id: int
    source: str
    policy: bool = False


class Quit(Struct, frozen=True, tag=True):
    """End the engine."""


class Ready(Struct, frozen=True, tag=True):
    """The engine has imported torch and takes requests. ``devices``: ``cpu``, ``cuda:0``..."""

    torch: str
    python: str
    devices: tuple[str, ...]
    pid: int
    kept: tuple[str, ...] = ()
    """Resources its programs cannot access: ``files``, ``network``, ``processes``, ``memory``."""


class Started(Struct, frozen=True, tag=True):
    """A run has begun."""

    run_id: int


class Printed(Struct, frozen=True, tag=True):
    """Text the running program wrote, sent while it runs, in bounded pieces."""

    run_id: int
    text: str


class Ended(Struct, frozen=True, tag=True):
    """The program of a run has ended; its tape is being built."""

    run_id: int


class Recorded(Struct, frozen=True, tag=True):
    """A run has ended, with or without an error; ``seconds`` of wall time."""

    run_id: int
    tape: Tape
    seconds: float
    spent: bool = False
    """True if the program contaminated the process: the next run needs a fresh engine."""


class Peeked(Struct, frozen=True, tag=True):
    """All numbers of a snapshot; ``full`` is None if they are gone."""

    run_id: int
    snapshot: int
    full: Snapshot | None


class Checked(Struct, frozen=True, tag=True):
    """A gradient by autograd and by central differences with step ``eps``."""

    run_id: int
    value: int
    index: int
    autograd: float
    numeric: float
    eps: float
    agrees: bool
    problem: str = ""
    """Reason for which no comparison was possible; empty if it was."""
    tolerance: float = 0.0
    """Largest accepted distance of the two, given the accuracy of differences in this dtype."""
    imaginary: tuple[float, float] | None = None
    """Imaginary parts of a complex element, by autograd and by differences along i."""


class JacobianPair(Struct, frozen=True):
    """The Jacobian of one output by one input: by backward, and by central differences.

    ``input`` is an index among the tensors that require a gradient, ``output`` among the real
    results. The single entry is the one furthest apart: ∂output[of_output] / ∂input[of_input].
    The rows, one for each element of the output, are empty if there are too many.
    """

    input: int
    output: int
    of_output: tuple[int, ...]
    of_input: tuple[int, ...]
    by_backward: float
    by_differences: float
    entries: int
    differ: int
    backward_rows: tuple[tuple[float, ...], ...] = ()
    difference_rows: tuple[tuple[float, ...], ...] = ()


class Gradchecked(Struct, frozen=True, tag=True):
    """A custom Function's Jacobians, for its inputs in this run, computed in ``dtype``."""

    run_id: int
    op: int
    function: str
    dtype: str = ""
    eps: float = 0.0
    agrees: bool = False
    pairs: tuple[JacobianPair, ...] = ()
    problem: str = ""
    """Reason for which no comparison was possible, or gradcheck's objection; else empty."""


class Cells(Struct, frozen=True):
    """A tensor as the shape lab shows it.

    ``kind``: ``tensor``, ``array`` (numpy) or ``number``. Tensors of one ``storage`` (an address,
    0: none) share their memory of ``storage_size`` elements; ``stride`` and ``offset`` are in
    elements too.
    """

    name: str
    kind: str
    snapshot: Snapshot
    device: str
    stride: tuple[int, ...]
    offset: int
    contiguous: bool
    requires_grad: bool
    storage: int
    storage_size: int


class Links(Struct, frozen=True):
    """Pairs of cells: ``to[i]`` of result number ``result`` comes from ``source[i]`` of an input.

    Both are flat, row-major indices as little-endian int32. An input without `Links` could not be
    traced.
    """

    result: int
    input: int
    to: bytes
    source: bytes


class Jacobian(Struct, frozen=True):
    """Derivatives of a result's cells (rows) by an input's (columns); little-endian float64."""

    result: int
    input: int
    shape: tuple[int, int]
    data: bytes


class Probed(Struct, frozen=True, tag=True):
    """Result of a few lines: input tensors, result tensors, and the links between their cells."""

    run_id: int
    inputs: tuple[Cells, ...] = ()
    results: tuple[Cells, ...] = ()
    links: tuple[Links, ...] = ()
    jacobians: tuple[Jacobian, ...] = ()
    """All derivatives between small tensors."""
    sharing: tuple[Cells, ...] = ()
    """Other named tensors that share memory with one of these."""
    note: str = ""
    """Description of what could not be traced."""
    text: str = ""
    """The result, if it is no tensor."""
    problem: Problem | None = None


Request = Run | Stop | Peek | Check | Gradcheck | Probe | Quit | TrainRequest
Told = Started | At | Printed | Ended
"""Messages about a run that precede its tape."""
Reply = Ready | Told | Recorded | Peeked | Checked | Gradchecked | Probed | TrainReply


class _RecordedHead(Struct, tag="Recorded"):
    """`Recorded` with its tape still encoded."""

    run_id: int
    tape: msgspec.Raw
    seconds: float
    spent: bool = False


_RECORDED = b"\xa4type\xa8Recorded"
"""The encoding of a `Recorded` message after its first byte."""
_heads = msgspec.msgpack.Decoder(_RecordedHead)


class TooLong(ValueError):
    """A message that the other side would refuse."""


class Garbage(ValueError):
    """The bytes are not frames of this protocol."""


def frames(message: Request | Reply) -> Iterator[bytes]:
    """Yield the frames of one message, each at most `CHUNK` bytes plus its header.

    Raises:
        TooLong: it is longer than `MAX_MESSAGE`; nothing has been yielded then.
    """
    body = packing.packed(message)
    left = sum(map(len, body))
    if left > MAX_MESSAGE:
        raise TooLong(f"a message of {left >> 20} MB")
    for piece in packing.cut(body, CHUNK):
        left -= len(piece)
        yield _HEADER.pack(len(piece), left > 0) + piece


class Reader(Generic[T]):
    """Turn bytes, in pieces of any size, into messages of one direction."""

    def __init__(self, kind: type[T]) -> None:
        self._records = Recorded in get_args(kind)
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._bytes = bytearray()
        self._body = Body()

    def feed(self, data: bytes) -> Iterator[T]:
        """Yield every message that ``data`` completes.

        Raises:
            Garbage: the bytes are no frames, too long, or no message of this direction.
        """
        yield from (message for message in self.bits(data) if message is not None)

    def bits(self, data: bytes) -> Iterator[T | None]:
        """Do as `feed` does, but also yield None after each piece of work on a long message.

        Raises:
            Garbage: as in `feed`.
        """
        self._bytes += data
        while len(self._bytes) >= _HEADER.size:
            length, more = _HEADER.unpack_from(self._bytes)
            if length > CHUNK or len(self._body) + length > MAX_MESSAGE:
                raise Garbage(f"a frame of {length} bytes")
            if len(self._bytes) < _HEADER.size + length:
                return
            self._body.add(self._bytes[_HEADER.size : _HEADER.size + length], more)
            del self._bytes[: _HEADER.size + length]
            if more:
                yield None
                continue
            body, self._body = self._body, Body()
            try:
                if self._records and len(body) > LONG and body.startswith(_RECORDED):
                    yield from self._recorded(body.whole())
                else:
                    message = body.decoded(self._decoder)
                    _refuse(next(filter(None, _flaws(message)), ""))
                    yield message
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise Garbage(str(error)) from error

    def _recorded(self, body: bytes) -> Iterator[T | None]:
        head = _heads.decode(body)
        for tape in pieces.tape(head.tape):
            if tape is None:
                yield None
                continue
            for flaw in sound.flaws(tape):
                _refuse(flaw)
                yield None
            yield cast("T", Recorded(head.run_id, tape, head.seconds, head.spent))


def _refuse(flaw: str) -> None:
    if flaw:
        raise Garbage(f"a message with {flaw}")


def _flaws(message: object) -> Iterator[str]:
    """Yield the flaws of a message: wrong lengths, dangling references, or excessive sizes."""
    match message:
        case Recorded(_, tape) | StepTape(tape=tape):
            yield from sound.flaws(tape)
        case Peeked(full=Snapshot() as full):
            if not sound.is_whole(full, plausible.MOST_PEEKED):
                yield "a snapshot of the wrong length"
        case At():
            yield from plausible.standing(message)
        case Probed():
            yield from plausible.probed(message)
        case Checked():
            yield from plausible.checked(message)
        case Gradchecked():
            yield from plausible.gradchecked(message)
        case Ready():
            yield from plausible.ready(message)
        case _ if isinstance(message, TrainReply):
            yield from plausible.of_training(message)
