"""Frames survive any cutting, and garbage is refused."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol import frames as protocol_frames
from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol.position import CurrentLine
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.engine.protocol.training.catalogue import CatalogueEntry, Option
from gradscribe.engine.protocol.training.replies import Catalogue, RawArray, SeriesChunk, ViewReply
from gradscribe.engine.protocol.training.requests import Play, StopCondition, Train

text = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
numbers = st.integers(0, 2**40)
requests = st.one_of(
    st.builds(protocol_messages.Run, numbers, text, text, numbers, text),
    st.builds(protocol_messages.Stop, numbers),
    st.builds(protocol_messages.Peek, numbers, numbers),
    st.builds(protocol_messages.Check, numbers, numbers, numbers),
    st.builds(protocol_messages.Gradcheck, numbers, numbers),
    st.just(protocol_messages.Quit()),
    st.builds(Train, numbers, st.just(Setup(model=Part("mlp", {"layers": [4, 2]})))),
    st.builds(Play, numbers, st.floats(0, 9), st.just((StopCondition("step", 9.0),))),
)
snapshots = st.integers(0, 9).flatmap(
    lambda size: st.builds(
        Snapshot,
        st.just((size,)),
        text,
        data=st.none() | st.binary(min_size=4 * size, max_size=4 * size),
    )
)
tapes = st.builds(Tape, stdout=text, snapshots=st.lists(snapshots, max_size=4).map(tuple))
arrays = st.builds(RawArray, st.just((2,)), st.just("<f4"), st.binary(min_size=8, max_size=8))
columns = st.builds(RawArray, st.just((2, 1)), st.just("<f4"), st.binary(min_size=8, max_size=8))
replies = st.one_of(
    st.builds(SeriesChunk, numbers, arrays, columns),
    st.just(Catalogue(1, (CatalogueEntry("data", "a", "A", options=(Option("n", "int", 3),)),))),
    st.builds(ViewReply, numbers, text, numbers, st.dictionaries(text, arrays, max_size=2)),
    st.builds(protocol_messages.Ready, text, text, st.lists(text, max_size=3).map(tuple), numbers),
    st.builds(protocol_messages.Started, numbers),
    st.builds(CurrentLine, numbers, st.integers(0, check_tape.MAX_LINES), st.booleans()),
    st.builds(protocol_messages.Ended, numbers),
    st.builds(protocol_messages.Printed, numbers, text),
    st.builds(
        protocol_messages.Computed,
        numbers,
        st.just((protocol_messages.ComputedScalar(0, 3, 0, "float32", (0.5, 1e-45), (4, 9)),)),
    ),
    st.builds(protocol_messages.Recorded, numbers, tapes, st.floats(0, 9)),
    st.builds(protocol_messages.Peeked, numbers, numbers, st.none() | snapshots),
    st.builds(
        protocol_messages.Gradchecked,
        numbers,
        numbers,
        text,
        pairs=st.just(
            (protocol_messages.JacobianPair(0, 0, (1,), (), 2.0, 3.0, 4, 1, ((2.0,),), ((3.0,),)),)
        ),
    ),
)


def chunks(data, sizes):
    """Cut ``data`` into pieces of the sizes given, over and over."""
    start = 0
    while start < len(data):
        for size in sizes:
            yield data[start : start + size]
            start += size


def fed(reader, data, sizes):
    return [message for piece in chunks(data, sizes) for message in reader.feed(piece)]


def packed(messages):
    return b"".join(
        frame for message in messages for frame in protocol_frames.encode_frames(message)
    )


cuts = st.lists(st.integers(1, 17), min_size=1, max_size=5)


@given(st.lists(requests, max_size=5), cuts)
def test_requests_arrive_whole_and_in_order_however_they_are_cut(messages, sizes):
    assert (
        fed(protocol_frames.MessageReader(protocol_messages.Request), packed(messages), sizes)
        == messages
    )


@given(st.lists(replies, max_size=5), cuts)
def test_replies_arrive_whole_and_in_order_however_they_are_cut(messages, sizes):
    assert (
        fed(protocol_frames.MessageReader(protocol_messages.Reply), packed(messages), sizes)
        == messages
    )


def test_a_long_message_travels_in_frames_of_a_megabyte():
    message = protocol_messages.Printed(1, "x" * (3 * protocol_frames.CHUNK))
    frames = list(protocol_frames.encode_frames(message))
    assert len(frames) == 4
    assert max(map(len, frames)) <= protocol_frames.CHUNK + 5
    reader = protocol_frames.MessageReader(protocol_messages.Reply)
    assert [m for frame in frames for m in reader.feed(frame)] == [message]


def test_a_message_that_would_be_refused_is_not_sent(monkeypatch):
    monkeypatch.setattr(protocol_frames, "MAX_MESSAGE", 1000)
    with pytest.raises(protocol_frames.MessageTooLong):
        next(protocol_frames.encode_frames(protocol_messages.Printed(1, "x" * 2000)))


def test_a_message_longer_than_the_limit_is_garbage(monkeypatch):
    data = packed([protocol_messages.Printed(1, "x" * 2000)])
    monkeypatch.setattr(protocol_frames, "MAX_MESSAGE", 1000)
    with pytest.raises(protocol_frames.ProtocolError):
        list(protocol_frames.MessageReader(protocol_messages.Reply).feed(data))


@pytest.mark.parametrize(
    "data",
    [
        b"Traceback (most recent call last):\n",
        b"\xff" * 64,
        b"\x00\x00\x00\x03\x00abc",
        b"\x00\x00\x00\x00\x00",
        packed([protocol_messages.Started(1)]),
    ],
)
def test_what_is_no_request_is_garbage(data):
    with pytest.raises(protocol_frames.ProtocolError):
        list(protocol_frames.MessageReader(protocol_messages.Request).feed(data))


@given(st.binary(max_size=200), cuts)
def test_any_bytes_give_messages_or_garbage_and_nothing_else(data, sizes):
    reader = protocol_frames.MessageReader(protocol_messages.Request)
    try:
        found = fed(reader, data, sizes)
    except protocol_frames.ProtocolError:
        return
    assert all(isinstance(message, protocol_messages.Request) for message in found)


def test_a_message_of_a_newer_program_with_more_fields_is_read():
    body = msgspec.msgpack.encode({"type": "Stop", "run_id": 7, "gently": True})
    data = len(body).to_bytes(4, "big") + b"\0" + body
    assert list(protocol_frames.MessageReader(protocol_messages.Request).feed(data)) == [
        protocol_messages.Stop(7)
    ]
