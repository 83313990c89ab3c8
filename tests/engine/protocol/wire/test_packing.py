"""A message in pieces is the same bytes as in one, and its long fields are not copied."""

import msgspec
import pytest

from gradscribe.engine.protocol import frames, messages
from gradscribe.engine.protocol.tape import Problem, Snapshot, Tape
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.protocol.wire import packing

BIG = bytes(range(256)) * 5000
ARRAY = replies.RawArray((5, 64000), "<f4", BIG)
FIVE = replies.RawArray((5,), "<f4", bytes(20))
SNAPSHOT = Snapshot((320, 1000), "float32", data=BIG, nan=3)
MESSAGES = (
    requests.ResumeRun(3, BIG, (1, 2), "a.csv", 7, policy=True),
    requests.ProvideFile(0, "é.csv", BIG, sample=requests.LineSample(1, 2, 3, 4, 5)),
    replies.RunSaved(9, 30, BIG),
    replies.RunSaved(9, 30, problem=Problem("Session", "no")),
    requests.ResumeRun(3, b"short"),
    messages.Run(1, "x = 1"),
    messages.Peeked(4, 7, SNAPSHOT),
    messages.Recorded(1, Tape(snapshots=(Snapshot((), "int64"), SNAPSHOT)), 0.5),
    replies.ViewReply(2, "weights", 3, {"flat": ARRAY, "grads": ARRAY}, {"loss": 0.5}),
    replies.DataSample(2, ARRAY, ARRAY, FIVE, ("a",), ("b",)),
)


class Leaf(msgspec.Struct, tag="leaf"):
    name: str
    data: bytes = b""


class Row(msgspec.Struct, tag="row", array_like=True):
    name: str
    data: bytes = b""
    left: Leaf | None = None


class Tree(msgspec.Struct):
    leaves: tuple[Leaf | Row, ...]
    named: dict[str, Leaf]
    numbers: tuple[int, ...] = ()


TREES = [
    Tree((Leaf("a", BIG), Leaf("b")), {"ä": Leaf("c", BIG), "d": Leaf("e", b"x")}, (1, 2)),
    Tree((*map(Leaf, "abcdefghijklmnopqrst"), Leaf("z", BIG)), {}),
    Tree((Row("a"), Row("b", b"x", Leaf("c", BIG)), Row("d", BIG)), {}),
    Tree((), {str(n): Leaf("x", BIG if n == 7 else b"") for n in range(70_000)}),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_the_pieces_are_the_encoding(message):
    assert b"".join(packing.pack(message)) == msgspec.msgpack.encode(message)


@pytest.mark.parametrize("tree", TREES, ids=["both", "many", "rows", "very many"])
def test_what_holds_long_bytes_deep_inside_comes_in_pieces_too(tree):
    pieces = packing.pack(tree)
    assert b"".join(pieces) == msgspec.msgpack.encode(tree)
    assert any(piece is BIG for piece in pieces)


def test_long_bytes_are_not_copied():
    assert any(piece is BIG for piece in packing.pack(MESSAGES[0]))


@pytest.mark.parametrize("size", [1, 7, 1000, len(BIG), len(BIG) + 1, 1 << 24])
def test_pieces_are_cut_evenly_whatever_they_were(size):
    pieces = [b"abc", b"", BIG, b"z"]
    if size < 1000:
        pieces[2] = BIG[:5000]
    whole = b"".join(pieces)
    cut = list(packing.split_chunks(pieces, size))
    assert b"".join(cut) == whole
    assert {len(one) for one in cut[:-1]} <= {size}
    assert 0 < len(cut[-1]) <= size


def test_a_long_message_arrives():
    reader = frames.MessageReader[messages.Request](messages.Request)  # type: ignore[arg-type]
    found = [one for frame in frames.encode_frames(MESSAGES[0]) for one in reader.feed(frame)]
    assert found == [MESSAGES[0]]


def test_half_a_surrogate_pair_becomes_a_question_mark_wherever_it_stands():
    def tape(half, other):
        return Tape(
            prints=(f"{half}\n",),
            error=Problem(other, "é"),
            stderr=half,
            snapshots=(Snapshot((), "uint8", "|u1", b"\xed"),),
        )

    told = messages.Recorded(1, tape("\ud800", "\udfff"), 0.5)
    (sent,) = frames.MessageReader(messages.Reply).feed(b"".join(frames.encode_frames(told)))
    assert sent.tape == tape("?", "?")
    assert BIG in packing.pack(requests.ProvideFile(0, "\ud800.csv", BIG))
