"""Frames: messages between the window and the engine as bytes on a pipe.

A frame is four bytes of length, a flag byte (more frames of the message follow), and up to `CHUNK`
bytes of MessagePack. Long messages are split so that no single read stalls the window.
"""

import struct
from collections.abc import Iterator
from typing import Generic, TypeVar, cast, get_args

import msgspec
from msgspec import Struct

from gradscribe.engine.protocol import check_replies, check_tape, language, regions
from gradscribe.engine.protocol.messages import (
    Checked,
    Computed,
    Gradchecked,
    HandChecked,
    Importing,
    MeasuredCosts,
    ModelFile,
    Peeked,
    Probed,
    Ready,
    Recorded,
    Reply,
    Request,
)
from gradscribe.engine.protocol.outcome import Outcome
from gradscribe.engine.protocol.position import CurrentLine
from gradscribe.engine.protocol.regions import Region
from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.engine.protocol.training import StepTape, TrainReply
from gradscribe.engine.protocol.wire import columns, incremental, packing
from gradscribe.engine.protocol.wire.frame_buffer import FrameBuffer

CHUNK = 1 << 20
MAX_MESSAGE = 512 << 20
"""A longer message is refused: the other side is broken or hostile."""

T = TypeVar("T")

_HEADER = struct.Struct(">I?")


class _RecordedHead(Struct, tag="Recorded"):
    """`Recorded` with its tape still encoded."""

    run_id: int
    tape: msgspec.Raw
    seconds: float
    spent: bool = False
    outcome: Outcome | None = None
    is_draft: bool = False
    columns: dict[str, tuple[bytes, ...]] = {}


class _RecordedColumns(Struct, tag="Recorded"):
    """`Recorded` with most rows of its tape as columns."""

    run_id: int
    tape: Tape
    seconds: float
    spent: bool
    outcome: Outcome | None
    is_draft: bool
    columns: dict[str, tuple[bytes, ...]]


_RECORDED = b"\xa4type\xa8Recorded"
"""The encoding of a `Recorded` message after its first byte."""
_heads = msgspec.msgpack.Decoder(_RecordedHead)


class MessageTooLong(ValueError):
    """A message that the other side would refuse."""


class ProtocolError(ValueError):
    """The bytes are not frames of this protocol."""


def encode_frames(message: Request | Reply) -> Iterator[bytes]:
    """Yield the frames of one message, each at most `CHUNK` bytes plus its header.

    Raises:
        TooLong: it is longer than `MAX_MESSAGE`; nothing has been yielded then.
    """
    body = _packed(message)
    left = sum(map(len, body))
    if left > MAX_MESSAGE:
        raise MessageTooLong(f"a message of {left >> 20} MB")
    for piece in packing.split_chunks(body, CHUNK):
        left -= len(piece)
        yield _HEADER.pack(len(piece), left > 0) + piece


def _packed(message: Request | Reply) -> list[bytes]:
    """Return the encoding of a message, with the rows of a long tape as columns."""
    if not isinstance(message, Recorded):
        return packing.pack(message)
    tape = message.tape
    rows = {name: getattr(tape, name) for name in columns.KINDS}
    if sum(map(len, rows.values())) < columns.LEAST_ROWS:
        return packing.pack(message)
    try:
        found = {name: columns.encode_rows(name, row) for name, row in rows.items()}
    except UnicodeEncodeError:
        return packing.pack(message)
    rest = msgspec.structs.replace(tape, **dict.fromkeys(rows, ()))
    head = message.run_id, rest, message.seconds, message.spent, message.outcome
    return packing.pack(_RecordedColumns(*head, message.is_draft, found))


class MessageReader(Generic[T]):
    """Turn bytes, in pieces of any size, into messages of one direction."""

    def __init__(self, kind: type[T]) -> None:
        self._records = Recorded in get_args(kind)
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._bytes = bytearray()
        self._body = FrameBuffer()

    def feed(self, data: bytes) -> Iterator[T]:
        """Yield every message that ``data`` completes.

        Raises:
            Garbage: the bytes are no frames, too long, or no message of this direction.
        """
        yield from (message for message in self.feed_incrementally(data) if message is not None)

    def feed_incrementally(self, data: bytes) -> Iterator[T | None]:
        """Do as `feed` does, but also yield None after each piece of work on a long message.

        Raises:
            Garbage: as in `feed`.
        """
        self._bytes += data
        while len(self._bytes) >= _HEADER.size:
            length, more = _HEADER.unpack_from(self._bytes)
            if length > CHUNK or len(self._body) + length > MAX_MESSAGE:
                raise ProtocolError(f"a frame of {length} bytes")
            if len(self._bytes) < _HEADER.size + length:
                return
            self._body.add(self._bytes[_HEADER.size : _HEADER.size + length], more)
            del self._bytes[: _HEADER.size + length]
            if more:
                yield None
                continue
            body, self._body = self._body, FrameBuffer()
            try:
                if self._records and body.startswith(_RECORDED):
                    yield from self._recorded(body.to_bytes())
                else:
                    message = body.decode(self._decoder)
                    _refuse(next(filter(None, _flaws(message)), ""))
                    yield message
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise ProtocolError(str(error)) from error

    def _recorded(self, body: bytes) -> Iterator[T | None]:
        head = _heads.decode(body)
        for tape in incremental.decode_tape(head.tape, head.columns):
            if tape is None:
                yield None
                continue
            for flaw in check_tape.find_flaws(tape):
                _refuse(flaw)
                yield None
            end = head.seconds, head.spent, head.outcome, head.is_draft
            yield cast("T", Recorded(head.run_id, tape, *end))


def _refuse(flaw: str) -> None:
    if flaw:
        raise ProtocolError(f"a message with {flaw}")


def _flaws(message: object) -> Iterator[str]:
    """Yield the flaws of a message: wrong lengths, dangling references, or excessive sizes."""
    match message:
        case Recorded(_, tape) | StepTape(tape=tape):
            yield from check_tape.find_flaws(tape)
        case Peeked(full=Snapshot() as full):
            if not check_tape.is_consistent_snapshot(full, check_replies.MAX_PEEKED):
                yield "a snapshot of the wrong length"
        case Region():
            if not regions.is_consistent(message):
                yield "a region of the wrong size"
        case CurrentLine():
            yield from check_replies.check_current_line(message)
        case Computed():
            yield from check_replies.check_computed(message)
        case Probed():
            yield from check_replies.check_probed(message)
        case Checked():
            yield from check_replies.check_checked(message)
        case Gradchecked():
            yield from check_replies.check_gradchecked(message)
        case HandChecked():
            yield from check_replies.check_hand_checked(message)
        case MeasuredCosts():
            yield from check_replies.check_measured_costs(message)
        case Importing():
            yield from check_replies.check_importing(message)
        case ModelFile():
            yield from check_replies.check_model_file(message)
        case Ready():
            yield from check_replies.check_ready(message)
        case _ if isinstance(message, language.LanguageReply):
            yield language.find_flaw(message)
        case _ if isinstance(message, TrainReply):
            yield from check_replies.check_training_reply(message)
