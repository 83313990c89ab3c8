"""Output on its way: in pieces, in order, bounded."""

import threading

import pytest

from gradscribe.engine.run import output
from gradscribe.engine.run.output import OutputSender


class Sink:
    def __init__(self):
        self.sent = []
        self.arrived = threading.Event()

    def __call__(self, run_id, text):
        self.sent.append((run_id, text))
        self.arrived.set()

    def text(self, run_id):
        return "".join(text for number, text in self.sent if number == run_id)


@pytest.fixture(scope="module")
def sink_and_stream():
    """One stream for the module: its thread lasts as long as the process."""
    sink = Sink()
    stream = OutputSender(sink)
    stream.begin(0)
    stream.write("warm")
    stream.end()
    return sink, stream


@pytest.fixture
def sink(sink_and_stream):
    sink, _ = sink_and_stream
    sink.sent.clear()
    sink.arrived.clear()
    return sink


@pytest.fixture
def stream(sink, sink_and_stream):
    return sink_and_stream[1]


def test_text_is_sent_without_anybody_asking(sink, stream):
    stream.begin(1)
    stream.write("hello")
    assert sink.arrived.wait(10)
    assert sink.text(1) == "hello"
    stream.end()


def test_all_is_sent_in_order_by_the_end(sink, stream):
    stream.begin(2)
    for i in range(2000):
        stream.write(f"{i}\n")
    stream.end()
    assert sink.text(2) == "".join(f"{i}\n" for i in range(2000))
    assert len(sink.sent) < 500


def test_no_piece_is_longer_than_the_bound(sink, stream):
    stream.begin(3)
    stream.write("x" * 100_000)
    stream.end()
    assert max(len(text) for _, text in sink.sent) <= output.PIECE
    assert sink.text(3) == "x" * 100_000


def test_past_the_limit_nothing_more_is_sent(sink, stream):
    stream.begin(4)
    for _ in range(30):
        stream.write("x" * 100_000)
    stream.end()
    assert len(sink.text(4)) == output.LIMIT


def test_the_next_run_has_its_own_limit_and_number(sink, stream):
    stream.begin(5)
    stream.write("x" * (output.LIMIT + 1))
    stream.end()
    stream.begin(6)
    stream.write("y")
    stream.end()
    assert sink.text(6) == "y"


def test_half_a_surrogate_pair_can_be_sent(sink, stream):
    stream.begin(7)
    stream.write("\ud800")
    stream.end()
    sink.text(7).encode()
