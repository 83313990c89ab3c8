"""A message in pieces is the same bytes as in one, and its long fields are not copied."""

import msgspec
import pytest

from engine import packing, wire
from engine.tape import Problem, Snapshot, Tape
from engine.training import answers, asks

BIG = bytes(range(256)) * 5000
ARRAY = answers.Array((5, 64000), "<f4", BIG)
FIVE = answers.Array((5,), "<f4", bytes(20))
SNAPSHOT = Snapshot((320, 1000), "float32", data=BIG, nan=3)
MESSAGES = (
    asks.Resume(3, BIG, (1, 2), "a.csv", 7, policy=True),
    asks.GiveFile(0, "é.csv", BIG, sample=asks.Sample(1, 2, 3, 4, 5)),
    answers.RunKept(9, 30, BIG),
    answers.RunKept(9, 30, problem=Problem("Session", "no")),
    asks.Resume(3, b"short"),
    wire.Run(1, "x = 1"),
    wire.Peeked(4, 7, SNAPSHOT),
    wire.Recorded(1, Tape(snapshots=(Snapshot((), "int64"), SNAPSHOT)), 0.5),
    answers.View(2, "weights", 3, {"flat": ARRAY, "grads": ARRAY}, {"loss": 0.5}),
    answers.DataShown(2, ARRAY, ARRAY, FIVE, ("a",), ("b",)),
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
    assert b"".join(packing.packed(message)) == msgspec.msgpack.encode(message)


@pytest.mark.parametrize("tree", TREES, ids=["both", "many", "rows", "very many"])
def test_what_holds_long_bytes_deep_inside_comes_in_pieces_too(tree):
    pieces = packing.packed(tree)
    assert b"".join(pieces) == msgspec.msgpack.encode(tree)
    assert any(piece is BIG for piece in pieces)


def test_long_bytes_are_not_copied():
    assert any(piece is BIG for piece in packing.packed(MESSAGES[0]))


@pytest.mark.parametrize("size", [1, 7, 1000, len(BIG), len(BIG) + 1, 1 << 24])
def test_pieces_are_cut_evenly_whatever_they_were(size):
    pieces = [b"abc", b"", BIG, b"z"]
    if size < 1000:
        pieces[2] = BIG[:5000]
    whole = b"".join(pieces)
    cut = list(packing.cut(pieces, size))
    assert b"".join(cut) == whole
    assert {len(one) for one in cut[:-1]} <= {size}
    assert 0 < len(cut[-1]) <= size


def test_a_long_message_arrives():
    reader = wire.Reader[wire.Request](wire.Request)  # type: ignore[arg-type]
    found = [one for frame in wire.frames(MESSAGES[0]) for one in reader.feed(frame)]
    assert found == [MESSAGES[0]]


def test_half_a_surrogate_pair_becomes_a_question_mark_wherever_it_stands():
    def tape(half, other):
        return Tape(
            prints=(f"{half}\n",),
            error=Problem(other, "é"),
            stderr=half,
            snapshots=(Snapshot((), "uint8", "|u1", b"\xed"),),
        )

    told = wire.Recorded(1, tape("\ud800", "\udfff"), 0.5)
    (sent,) = wire.Reader(wire.Reply).feed(b"".join(wire.frames(told)))
    assert sent.tape == tape("?", "?")
    assert BIG in packing.packed(asks.GiveFile(0, "\ud800.csv", BIG))
