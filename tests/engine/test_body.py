"""Long bytes in a message are put together as they come, and are the bytes that were sent."""

import tracemalloc

import msgspec
import pytest

from engine import wire
from engine.tape import Problem
from engine.training.answers import Exported, RunKept

LONG = bytes(range(256)) * 50_000
MESSAGES = (
    RunKept(9, 30, LONG),
    RunKept(9, 2**40, LONG, Problem("Session", "no")),
    RunKept(9, 30, b"short"),
    Exported(3, "csv", LONG),
    Exported(3, "\u4000data", LONG),
    Exported(3, "csv", problem=Problem("No", "x" * 100_000)),
)


def reader():
    return wire.Reader(wire.Reply)


def fed(data, size):
    """Return what comes of bytes that arrive ``size`` at a time."""
    one = reader()
    return [m for at in range(0, len(data), size) for m in one.feed(data[at : at + size])]


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
@pytest.mark.parametrize("size", [70_001, wire.CHUNK + 5, 1 << 30])
def test_a_message_arrives_as_it_was_sent_however_it_is_cut(message, size):
    data = b"".join(wire.frames(message))
    assert fed(data * 2, size) == [message] * 2


def framed(body):
    parts = [body[at : at + wire.CHUNK] for at in range(0, len(body), wire.CHUNK)]
    flags = [True] * (len(parts) - 1) + [False]
    heads = [wire._HEADER.pack(len(part), more) for part, more in zip(parts, flags, strict=True)]
    return b"".join(head + part for head, part in zip(heads, parts, strict=True))


def test_bytes_that_are_fewer_than_was_said_are_garbage():
    body = bytearray(msgspec.msgpack.encode(RunKept(9, 30, LONG)))
    at = body.find(b"\xa4data\xc6") + 6
    for count in (len(LONG) + 500, 2**32 - 1, len(LONG) - 7):
        body[at : at + 4] = count.to_bytes(4, "big")
        with pytest.raises(wire.Garbage):
            fed(framed(bytes(body)), 1 << 30)


def test_a_message_of_another_kind_that_begins_like_one_is_garbage():
    body = msgspec.msgpack.encode(
        {"type": "RunKept", "run_id": 1, "type ": 2, "data": LONG, "step": "no"}
    )
    with pytest.raises(wire.Garbage):
        fed(framed(body), 1 << 30)


def test_no_turn_takes_memory_for_all_of_them():
    data = b"".join(wire.frames(RunKept(9, 30, LONG)))
    one, most, found = reader(), 0, []
    tracemalloc.start()
    try:
        for at in range(0, len(data), wire.CHUNK):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            found += one.feed(data[at : at + wire.CHUNK])
            most = max(most, tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    assert found[0].data == LONG
    assert most < len(LONG) / 2
