"""Long bytes in a message are put together as they come, and are the bytes that were sent."""

import tracemalloc

import msgspec
import pytest

from gradscribe.engine.protocol import frames, messages
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training.replies import Exported, RunSaved

LONG = bytes(range(256)) * 50_000
MESSAGES = (
    RunSaved(9, 30, LONG),
    RunSaved(9, 2**40, LONG, Problem("Session", "no")),
    RunSaved(9, 30, b"short"),
    Exported(3, "csv", LONG),
    Exported(3, "\u4000data", LONG),
    Exported(3, "csv", problem=Problem("No", "x" * 100_000)),
)


def reader():
    return frames.MessageReader(messages.Reply)


def fed(data, size):
    """Return what comes of bytes that arrive ``size`` at a time."""
    one = reader()
    return [m for at in range(0, len(data), size) for m in one.feed(data[at : at + size])]


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
@pytest.mark.parametrize("size", [70_001, frames.CHUNK + 5, 1 << 30])
def test_a_message_arrives_as_it_was_sent_however_it_is_cut(message, size):
    data = b"".join(frames.encode_frames(message))
    assert fed(data * 2, size) == [message] * 2


def framed(body):
    parts = [body[at : at + frames.CHUNK] for at in range(0, len(body), frames.CHUNK)]
    flags = [True] * (len(parts) - 1) + [False]
    heads = [frames._HEADER.pack(len(part), more) for part, more in zip(parts, flags, strict=True)]
    return b"".join(head + part for head, part in zip(heads, parts, strict=True))


def test_bytes_that_are_fewer_than_was_said_are_garbage():
    body = bytearray(msgspec.msgpack.encode(RunSaved(9, 30, LONG)))
    at = body.find(b"\xa4data\xc6") + 6
    for count in (len(LONG) + 500, 2**32 - 1, len(LONG) - 7):
        body[at : at + 4] = count.to_bytes(4, "big")
        with pytest.raises(frames.ProtocolError):
            fed(framed(bytes(body)), 1 << 30)


def test_a_message_of_another_kind_that_begins_like_one_is_garbage():
    body = msgspec.msgpack.encode(
        {"type": "RunKept", "run_id": 1, "type ": 2, "data": LONG, "step": "no"}
    )
    with pytest.raises(frames.ProtocolError):
        fed(framed(body), 1 << 30)


def test_no_turn_takes_memory_for_all_of_them():
    data = b"".join(frames.encode_frames(RunSaved(9, 30, LONG)))
    one, most, found = reader(), 0, []
    tracemalloc.start()
    try:
        for at in range(0, len(data), frames.CHUNK):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            found += one.feed(data[at : at + frames.CHUNK])
            most = max(most, tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    assert found[0].data == LONG
    assert most < len(LONG) / 2
