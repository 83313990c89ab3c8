"""Rows as columns come out as they went in, and columns that lie are refused."""

import math
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.engine.protocol import frames, messages, tape
from gradscribe.engine.protocol.wire import columns
from gradscribe.engine.run import run

PROGRAM = """
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 1))
opt = optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(6, 3)
big = torch.randn(80, 80) / 0
for step in range(60):
    opt.zero_grad()
    loss = (net(x) * -0.0 + 1.0 + big.sum() * 0).pow(2).mean()
    loss.backward()
    opt.step()
"""


@pytest.fixture(scope="module")
def recorded():
    found = run.record(PROGRAM)
    assert len(found.events) > columns.LEAST_ROWS
    return messages.Recorded(7, found, 0.5, True)


def sent(message):
    return b"".join(frames.encode_frames(message))


def received(data):
    (found,) = frames.MessageReader(messages.Reply).feed(data)
    return found


def exactly(message):
    """Return an encoding in which 0.0 and -0.0, 1 and True, and all NaN differ."""
    return msgspec.msgpack.encode(message)


def test_a_tape_comes_out_as_it_went_in(recorded):
    found = received(sent(recorded))
    assert exactly(found) == exactly(recorded)
    assert type(found.tape.values[0].shape) is tuple


def test_columns_are_shorter_than_rows(recorded):
    assert len(sent(recorded)) < 0.7 * len(exactly(recorded))


def test_rows_share_their_names_and_places(recorded):
    values = received(sent(recorded)).tape.values
    assert len({id(value.dtype) for value in values}) < len(values) / 100
    assert len({id(value.place) for value in values}) < len(values) / 20


def test_half_a_surrogate_pair_becomes_a_question_mark(recorded):
    name = msgspec.structs.replace(recorded.tape.values[-1], name="\ud800")
    changed = msgspec.structs.replace(recorded.tape, values=(*recorded.tape.values[:-1], name))
    found = received(sent(msgspec.structs.replace(recorded, tape=changed)))
    assert found.tape.values[-1].name == "?"
    assert found.tape.events == recorded.tape.events


def test_an_outcome_arrives_too(recorded):
    outcome = messages.Outcome("ok", None, passes=3)
    message = msgspec.structs.replace(recorded, outcome=outcome)
    assert received(sent(message)).outcome == outcome


numbers = st.integers(0, 2**63 - 1)
maybe = st.none() | numbers
floats = st.none() | st.floats()


@given(
    st.lists(
        st.builds(
            tape.Step,
            st.text(max_size=3),
            numbers,
            st.lists(st.builds(tape.Change, numbers, numbers), max_size=2).map(tuple),
            floats,
            st.integers(-(2**63), 2**63 - 1),
        ),
        min_size=1,
        max_size=9,
    )
)
def test_any_steps_come_out_as_they_went_in(rows):
    (found,) = columns.decode_rows("steps", columns.encode_rows("steps", rows))
    assert exactly(found) == exactly(rows)


@given(st.lists(st.builds(tape.Edge, maybe, numbers, numbers, numbers, maybe, numbers), min_size=1))
def test_any_edges_come_out_as_they_went_in(rows):
    (found,) = columns.decode_rows("edges", columns.encode_rows("edges", rows))
    assert found == rows


def test_numbers_past_64_bits_and_under_zero_are_kept():
    rows = [tape.Edge(-5, 2**64 - 1, 1, 2, None, 3), tape.Edge(None, 0, -(2**63), 2, -1, 3)]
    (found,) = columns.decode_rows("edges", columns.encode_rows("edges", rows))
    assert found == rows


def test_zeros_keep_their_signs_in_a_column():
    rows = [tape.Step("SGD", 1, (), rate) for rate in (0.0, -0.0, math.inf, None) * 50]
    (found,) = columns.decode_rows("steps", columns.encode_rows("steps", rows))
    assert [str(row.lr) for row in found[:4]] == ["0.0", "-0.0", "inf", "None"]


def chunk(count=2, **changed):
    """Return a chunk of two events of which a column is changed."""
    rows = [tape.Event("op", 0, 3), tape.Event("end", 1, 4)]
    (encoded,) = columns.encode_rows("events", rows)
    whole = msgspec.msgpack.decode(encoded, type=columns.Chunk)
    found = dict(zip(("kind", "ref", "line"), whole.columns, strict=True))
    found |= changed
    return msgspec.msgpack.encode(columns.Chunk(count, tuple(found.values())))


Column = columns.WireColumn
RAW = msgspec.Raw(msgspec.msgpack.encode(["op", "end"]))
LIES = {
    "a kind that is none": Column("list", b"", msgspec.Raw(msgspec.msgpack.encode(["op", "oops"]))),
    "too few": Column("list", b"", msgspec.Raw(msgspec.msgpack.encode(["op"]))),
    "no list": Column("list", b"", msgspec.Raw(msgspec.msgpack.encode(3))),
    "an index past the table": Column("table", b"\0\2", RAW),
    "an index before the table": Column("table", b"\0\xff", RAW),
    "a table without rows": Column("table", b"", RAW),
    "an array of three bytes": Column("table", b"\0\0\0", RAW),
    "numbers instead of a kind": Column("numbers", b"\0\1"),
    "bools instead of a kind": Column("bools", b"\0\1"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_column_that_lies_is_refused(lie):
    with pytest.raises(msgspec.DecodeError):
        list(columns.decode_rows("events", [chunk(kind=LIES[lie])]))


@pytest.mark.parametrize("count", [0, -1, 1, 3, columns.ROWS + 1, 1 << 62])
def test_a_chunk_of_another_length_is_refused(count):
    with pytest.raises(msgspec.DecodeError):
        list(columns.decode_rows("events", [chunk(count)]))


def test_a_chunk_with_more_columns_is_refused():
    with pytest.raises(msgspec.DecodeError):
        list(columns.decode_rows("events", [chunk(more=Column("numbers", b"\0\1"))]))


def test_a_dangling_event_in_columns_is_refused(recorded):
    events = (*recorded.tape.events, tape.Event("op", len(recorded.tape.ops), 3))
    lying = msgspec.structs.replace(recorded.tape, events=events)
    with pytest.raises(frames.ProtocolError, match="refers to nothing"):
        received(sent(msgspec.structs.replace(recorded, tape=lying)))


def test_damaged_columns_give_a_tape_or_a_refusal(recorded):
    data, dice, refused = bytearray(sent(recorded)), random.Random(1), 0
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(3):
            damaged[dice.randrange(5, len(data))] ^= 1 << dice.randrange(8)
        try:
            list(frames.MessageReader(messages.Reply).feed(bytes(damaged)))
        except frames.ProtocolError:
            refused += 1
    assert refused > 30
