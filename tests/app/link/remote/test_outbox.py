"""Messages on their way to a far engine: whole ones, sent again until they have arrived."""

import threading

import pytest

from gradscribe.app.link.remote.far_streams import RECORD
from gradscribe.app.link.remote.outbox import Messages, Outbox, Watched
from gradscribe.engine.protocol import frames, messages
from gradscribe.engine.protocol.training import ViewRequest, WatchViews


def encoded(message):
    return b"".join(frames.encode_frames(message))


def parts(record):
    kind, offset, length = RECORD.unpack_from(record)
    assert len(record) == RECORD.size + length
    return kind, offset, record[RECORD.size :]


@pytest.mark.parametrize("size", [1, 3, 5, 1000, 1 << 20])
def test_a_stream_is_cut_into_whole_messages_wherever_it_is_read(size):
    sent = [
        encoded(messages.Started(1)),
        encoded(messages.Run(2, "x" * (3 << 20 if size > 5 else 70))),
        encoded(messages.Stop(3)),
    ]
    stream = b"".join(sent) + sent[0][:7]
    cut = Messages()
    pieces = (stream[at : at + size] for at in range(0, len(stream), size))
    assert [message for piece in pieces for message in cut.feed(piece)] == sent
    assert cut.feed(sent[0][7:]) == [sent[0]]


def test_a_message_without_end_is_refused():
    cut, frame = Messages(), encoded(messages.Run(2, "x" * (1 << 20)))[: (1 << 20) + 5]
    for _ in range(512):
        assert cut.feed(frame) == []
    with pytest.raises(frames.ProtocolError):
        cut.feed(frame * 3)


def test_what_has_not_arrived_is_sent_again_on_the_next_line():
    outbox = Outbox()
    outbox.put(b"abcdef")
    assert parts(outbox.next(0)) == (b"i", 0, b"abcdef")
    outbox.drop(2)
    outbox.record(b"s", b"6")
    outbox.new_line()
    assert outbox.next(0) is None
    outbox.resume(3, is_new=False)
    assert parts(outbox.next(1)) == (b"i", 3, b"def")
    outbox.drop(6)
    assert outbox.wait_empty(0)
    outbox.acknowledge(b"o", 5)
    outbox.acknowledge(b"o", 9)
    assert parts(outbox.next(1)) == (b"o", 9, b"")


def test_a_window_that_is_new_continues_behind_what_another_has_sent():
    outbox = Outbox()
    outbox.resume(1000, is_new=True)
    outbox.put(b"abc")
    assert parts(outbox.next(0)) == (b"i", 1000, b"abc")
    assert outbox.end == 1003


def test_a_line_that_ends_lets_its_writer_go():
    outbox, got = Outbox(), []
    waiting = threading.Thread(target=lambda: got.append(outbox.next(0)))
    waiting.start()
    outbox.new_line()
    waiting.join(10)
    assert got == [None]


def test_the_views_that_are_watched_are_known_for_when_the_line_is_lost():
    watched = Watched()
    first = encoded(WatchViews(1, (ViewRequest("curves"),)))
    second = encoded(WatchViews(2, (ViewRequest("weights"),)))
    assert watched.note(first)
    assert watched.note(second)
    assert not watched.note(encoded(messages.Stop(1)))
    assert watched.wishes() == first + second
    reader = frames.MessageReader(messages.Request)
    assert list(reader.feed(watched.farewell())) == [WatchViews(1, ()), WatchViews(2, ())]
    watched.note(encoded(WatchViews(1, ())))
    assert watched.wishes() == second
    assert not watched.has_quit
    watched.note(encoded(messages.Quit()))
    assert watched.has_quit
