"""Streams of a real engine, damaged anywhere, give messages or a refusal at a bounded cost."""

import random
import tracemalloc

import pytest

from gradscribe.engine.protocol import frames, setup
from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.protocol.wire import columns
from gradscribe.engine.run import run
from gradscribe.engine.train.serve.host import TrainingHost
from tests.programs import net_with_error

PROGRAM = net_with_error(2)
HOSTILE = (b"\xff" * 5, b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff")
"""Headers of MessagePack for four thousand million of something."""
MOST_MB = 200


@pytest.fixture(scope="module", params=[0, columns.LEAST_ROWS], ids=["columns", "rows"])
def streams(request):
    """Bytes as an engine has really sent them: one stream of runs, one of training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "LEAST_ROWS", request.param)
        yield made_streams()


def made_streams():
    told = [protocol_messages.Started(1), protocol_messages.Printed(1, "a line\n")]
    told += [protocol_messages.Recorded(1, run.record(PROGRAM), 0.1), protocol_messages.Ended(1)]
    trained = []
    host = TrainingHost(trained.append)
    wishes = tuple(requests.ViewRequest(kind) for kind in ("boundary", "weights", "scores"))
    host.take(requests.Train(2, setup.parse({"data": "circle"})))
    host.take(requests.WatchViews(2, wishes))
    host.take(requests.Advance(2, 3))
    host.work()
    host.take(requests.RecordStep(2, 1))
    host.take(requests.SaveRun(2))
    return [packed(told), packed(trained), *(packed([one]) for one in (*told, *trained))]


def packed(messages):
    return b"".join(frame for one in messages for frame in frames.encode_frames(one))


def damaged(data, dice):
    """Return bytes with a few places changed, left out, doubled or filled with something vast."""
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 5))):
        at, size = dice.randrange(len(data) or 1), dice.choice((1, 1, 2, 4, 40))
        piece = data[at : at + size]
        how = dice.randrange(5)
        if how == 0:
            data[at : at + 1] = bytes(byte ^ 1 << dice.randrange(8) for byte in piece[:1])
        elif how == 1:
            data[at : at + size] = dice.randbytes(len(piece))
        elif how == 2:
            del data[at : at + size]
        elif how == 3:
            data[at:at] = piece * dice.choice((1, 3))
        else:
            vast = dice.choice(HOSTILE)
            data[at : at + len(vast)] = vast
    return bytes(data)


def read(data, dice):
    """Read like the window does; returns how many messages came, and whether it was refused."""
    reader, count, start = frames.MessageReader(protocol_messages.Reply), 0, 0
    try:
        while start < len(data):
            size = dice.choice((1 << 16, 1000, 1 << 20))
            count += sum(
                one is not None for one in reader.feed_incrementally(data[start : start + size])
            )
            start += size
    except frames.ProtocolError:
        return count, True
    return count, False


def attack(streams, times, seed):
    dice, refused, came = random.Random(seed), 0, 0
    for _ in range(times):
        count, was_refused = read(damaged(dice.choice(streams), dice), dice)
        refused += was_refused
        came += count
    return refused, came


def test_what_is_whole_arrives_whole(streams):
    for data in streams:
        count, refused = read(data, random.Random(0))
        assert not refused
        assert count >= 1
    assert read(streams[0], random.Random(0))[0] == 4


def test_a_damaged_stream_takes_no_more_memory_than_a_whole_one_might(streams):
    tracemalloc.start()
    try:
        attack(streams, 40, 2)
        assert tracemalloc.get_traced_memory()[1] < MOST_MB << 20
    finally:
        tracemalloc.stop()


def test_thousands_of_damaged_streams(streams):
    refused, came = attack(streams, 2500, 3)
    assert refused > 500
    assert came > 500
