"""A long tape decoded bit by bit is the tape that was sent, and garbage stays garbage."""

import msgspec
import pytest

from gradscribe.engine.protocol import frames, messages
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.protocol.wire import incremental
from gradscribe.engine.run.run import execute

PROGRAM = """
net = nn.Sequential(*(nn.Linear(24, 24) for _ in range(8)))
opt = optim.Adam(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    loss = net(torch.ones(5, 24)).square().mean()
    loss.backward()
    opt.step()
print(loss > 0)
"""


@pytest.fixture(scope="module")
def tape():
    return execute(messages.Run(run_id=1, source=PROGRAM))


def bits_of(body):
    *waits, last = incremental.decode_tape(body)
    assert all(one is None for one in waits)
    return len(waits), last


def test_a_recorded_tape_comes_out_as_it_went_in(tape):
    body = msgspec.msgpack.encode(tape)
    assert len(body) > 4 * incremental.BATCH
    waits, last = bits_of(body)
    assert last == tape == msgspec.msgpack.decode(body, type=Tape)
    assert waits > len(body) / incremental.BATCH


def test_an_empty_tape_needs_no_fields_at_all():
    assert bits_of(msgspec.msgpack.encode({}))[1] == Tape()


def test_what_a_newer_program_adds_is_left_out():
    assert bits_of(msgspec.msgpack.encode({"device": "x", "mood": [1, 2]}))[1] == Tape(device="x")


@pytest.mark.parametrize(
    "wrong", [[1], {"status": "odd"}, {"ops": 3}, {"snapshots": [[1]] * 100_000}, {"stdout": None}]
)
def test_what_is_no_tape_is_refused(wrong):
    with pytest.raises(msgspec.DecodeError):
        list(incremental.decode_tape(msgspec.msgpack.encode(wrong)))


def test_a_long_message_gives_its_reader_time_in_between(tape):
    message = messages.Recorded(7, tape, 0.5, True)
    data = b"".join(frames.encode_frames(message)) + b"".join(
        frames.encode_frames(messages.Started(8))
    )
    heard = list(frames.MessageReader(messages.Reply).feed_incrementally(data))
    assert [one for one in heard if one is not None] == [message, messages.Started(8)]
    assert heard.count(None) > 20
    assert list(frames.MessageReader(messages.Reply).feed(data)) == [message, messages.Started(8)]


def test_a_long_message_that_is_spoilt_is_garbage(tape):
    body = msgspec.msgpack.encode(messages.Recorded(7, tape, 0.5))
    spoilt = body.replace(b"\xa7float32", b"\xc1float32")
    header = (len(spoilt)).to_bytes(4, "big") + b"\0"
    assert 4 * incremental.BATCH < len(spoilt) < frames.CHUNK
    with pytest.raises(frames.ProtocolError):
        list(frames.MessageReader(messages.Reply).feed_incrementally(header + spoilt))


def test_a_long_tape_sent_the_wrong_way_is_garbage(tape):
    data = b"".join(frames.encode_frames(messages.Recorded(7, tape, 0.5)))
    with pytest.raises(frames.ProtocolError):
        list(frames.MessageReader(messages.Request).feed_incrementally(data))
