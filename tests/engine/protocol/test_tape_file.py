"""Runs as files come back equal to the bit, and spoilt ones as far as they are whole."""

import random
import tracemalloc
import zlib
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from gradscribe.engine.protocol import tape as tapes
from gradscribe.engine.protocol import tape_file
from gradscribe.engine.protocol.tape_file import RunFile, RunProgram, RunView, UnreadableTape
from gradscribe.engine.protocol.wire import columns
from gradscribe.engine.run import run
from tests.programs import net_with_error

PROGRAM = net_with_error(3)
ABOUT = RunProgram(
    PROGRAM, "steps.py", 1.7e9, str(torch.__version__), "3.12.1", "Linux", "cpu", 7, "0.2"
)
VIEW = RunView(9, ("model", "model.0"), "t3")
FIXTURE = Path(__file__).with_name("format_1.tape")


@pytest.fixture(scope="module")
def recorded():
    return RunFile(ABOUT, run.record(PROGRAM), VIEW)


@pytest.fixture(scope="module")
def data(recorded):
    return b"".join(tape_file.encode(recorded))


def encoded(item):
    """Return the encoding: two tapes may differ in the sign of a zero, or have a NaN."""
    return msgspec.msgpack.encode(item)


def sections(data):
    """Return (name, begin, end) of each section, from the sizes in its header."""
    at, found = data.index(b"\n") + 1, []
    while at < len(data):
        end = at + 56 + int.from_bytes(data[at + 16 : at + 20], "big")
        found.append((data[at : at + 16].rstrip(b"\0").decode(), at, end))
        at = end
    return found


def with_section(data, name, raw, size=None):
    """Return a file in which a section is replaced by another one, with a right checksum."""
    begin, end = next((b, e) for n, b, e in sections(data) if n == name)
    stored = zlib.compress(raw)
    head = tape_file._SIGNED.pack(name.encode(), len(stored), size or len(raw))
    digest = tape_file.hashlib.sha256(head + stored).digest()
    return data[:begin] + head + digest + stored + data[end:]


def test_a_run_comes_back_equal_to_the_bit(recorded, data):
    again = tape_file.decode(data)
    assert encoded(again) == encoded(recorded)
    assert again.tape.error.type == "ZeroDivisionError"
    assert len(again.tape.steps) == 3


def test_more_rows_than_a_chunk_come_back():
    tape = run.record("x = torch.ones(1)\nfor _ in range(5000):\n    x = x + 1\n", full_events=0)
    assert len(tape.ops) > columns.ROWS
    again = tape_file.decode(b"".join(tape_file.encode(RunFile(RunProgram("x"), tape))))
    assert encoded(again.tape) == encoded(tape)


def test_the_file_is_smaller_than_the_message(recorded, data):
    assert len(data) < len(encoded(recorded))


def test_a_file_of_format_1_opens_with_its_numbers():
    """Recorded from ``w = [2, 3]``, ``loss = (w ** 2).sum()``: the gradient is ``2 w``."""
    found = tape_file.decode(FIXTURE.read_bytes())
    assert found.trouble == ""
    assert found.program.title == "square.py"
    assert found.program.seed == 3
    assert found.view == RunView(2, None, "")
    leaf = next(leaf for leaf in found.tape.leaves if leaf.name == "w")
    gradient = found.tape.snapshots[leaf.grad]
    assert np.frombuffer(gradient.data, "<f4").tolist() == [4.0, 6.0]


def test_rows_written_with_more_fields_lose_them(recorded):
    events = recorded.tape.events
    chunk = columns.encode_rows("events", events)[0]
    names = tapes.Event.__struct_fields__
    decoded = msgspec.msgpack.decode(chunk, type=columns.Chunk)
    more = columns.Chunk(decoded.count, (decoded.columns[0], *decoded.columns))
    longer = columns.decode_rows("events", [msgspec.msgpack.encode(more)], ("later", *names))
    assert tuple(next(longer)) == events


def test_a_missing_field_without_a_default_is_refused(recorded):
    chunk = columns.encode_rows("events", recorded.tape.events)[0]
    names = ("another", *tapes.Event.__struct_fields__[1:])
    with pytest.raises(msgspec.DecodeError, match="rows without"):
        next(columns.decode_rows("events", [chunk], names))


def test_a_missing_field_with_a_default_has_that(recorded):
    chunk = columns.encode_rows("snapshots", recorded.tape.snapshots)[0]
    field = next(f for f in msgspec.structs.fields(tapes.Snapshot) if f.name == "thumb")
    names = ["other" if n == "thumb" else n for n in tapes.Snapshot.__struct_fields__]
    rows = next(columns.decode_rows("snapshots", [chunk], names))
    assert {row.thumb for row in rows} == {field.default}
    assert [row.data for row in rows] == [row.data for row in recorded.tape.snapshots]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"", "not a recorded run"),
        (b"print(1)\n" * 9, "not a recorded run"),
        (b"gradscribe-tape one\n", "not a recorded run"),
        (b"gradscribe-tape 0\n", "not a recorded run"),
        (b"gradscribe-tape 1", "not a recorded run"),
        (b"gradscribe-tape 2\nwhatever", "later version"),
        (b"gradscribe-tape 1\n", "its program is lost"),
    ],
)
def test_other_bytes_are_refused_in_a_line(bad, why):
    with pytest.raises(UnreadableTape, match=why) as refusal:
        tape_file.decode(bad)
    assert "\n" not in str(refusal.value)


def test_a_file_cut_anywhere_opens_as_far_as_it_is_whole_and_says_so(recorded, data):
    parts = {name: end for name, _, end in reversed(sections(data))}
    for end in (*range(0, len(data), 97), *(e for _, _, e in sections(data)[:-1]), len(data) - 1):
        if end < parts["program"]:
            with pytest.raises(UnreadableTape):
                tape_file.decode(data[:end])
            continue
        found = tape_file.decode(data[:end])
        assert found.program == ABOUT
        assert found.trouble.startswith("it is cut")
        if end >= sections(data)[-1][1]:
            assert encoded(found.tape) == encoded(recorded.tape)
        else:
            assert found.tape.ops == ()
        if end >= parts["tape"]:
            assert found.tape.stdout == recorded.tape.stdout


def test_a_change_of_any_byte_is_noticed(data):
    for at in range(0, len(data), 211):
        spoilt = bytearray(data)
        spoilt[at] ^= 0x10
        try:
            found = tape_file.decode(bytes(spoilt))
        except UnreadableTape:
            continue
        assert found.trouble, at


def test_a_spoilt_view_costs_nothing_but_the_view(recorded, data):
    _, _, end = next(part for part in sections(data) if part[0] == "view")
    spoilt = bytearray(data)
    spoilt[end - 1] ^= 1
    found = tape_file.decode(bytes(spoilt))
    assert encoded(found.tape) == encoded(recorded.tape)
    assert found.view == RunView()
    assert found.trouble


def test_a_missing_and_an_added_section_are_noticed(data):
    _, begin, end = next(part for part in sections(data) if part[0] == "view")
    assert tape_file.decode(data[:begin] + data[end:]).trouble
    assert "added" in tape_file.decode(data + b"more").trouble
    assert tape_file.decode(data + b"more").tape.ops


def test_a_section_that_unpacks_to_more_than_it_says_is_not_unpacked(data):
    bomb = with_section(data, "view", bytes(50 << 20), size=100)
    tracemalloc.start()
    found = tape_file.decode(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.trouble
    assert peak < 20 << 20


def test_more_than_the_limit_is_refused_before_it_is_unpacked(data, monkeypatch):
    monkeypatch.setattr(tape_file, "MAX_SECTION", 1000)
    assert "MB" in tape_file.decode(with_section(data, "view", bytes(5000))).trouble


def test_a_run_that_could_not_be_read_back_is_not_written(recorded, monkeypatch):
    monkeypatch.setattr(tape_file, "MAX_UNPACKED", 1000)
    with pytest.raises(UnreadableTape, match="longer"):
        tape_file.encode(recorded)


def test_references_to_nothing_are_refused_though_the_checksums_are_right(recorded):
    event = tapes.Event("op", 10**6, 1)
    tape = msgspec.structs.replace(recorded.tape, events=(event,))
    data = b"".join(tape_file.encode(RunFile(ABOUT, tape)))
    found = tape_file.decode(data)
    assert found.trouble
    assert found.tape.events == ()


def test_a_hostile_view_and_program_are_cut_to_what_fits(recorded):
    about = RunProgram("x", "a\nb" * 5000, float("inf"), seed=1 << 63)
    view = RunView(10**9, ("m" * 5000,), "s" * 5000)
    found = tape_file.decode(b"".join(tape_file.encode(RunFile(about, recorded.tape, view))))
    assert found.view == RunView(len(recorded.tape.events), None, "")
    assert "\n" not in found.program.title
    assert len(found.program.title) <= 1000
    assert (found.program.recorded, found.program.seed) == (0.0, 0)


def test_lone_surrogates_become_question_marks():
    tape = tapes.Tape(stdout="a\udc80b")
    found = tape_file.decode(b"".join(tape_file.encode(RunFile(RunProgram("\udc80"), tape))))
    assert (found.tape.stdout, found.program.source) == ("a?b", "?")


def mutate(data, dice):
    """Return the file with a part changed: plain bytes, or a section with its checksum right."""
    if dice.random() < 0.5:
        spoilt = bytearray(data)
        for _ in range(dice.choice((1, 2, 8))):
            at = dice.randrange(len(spoilt))
            how = dice.randrange(3)
            if how == 0:
                spoilt[at] ^= 1 << dice.randrange(8)
            elif how == 1:
                del spoilt[at : at + dice.choice((1, 4, 400))]
            else:
                spoilt[at:at] = dice.randbytes(dice.choice((1, 4, 60)))
        return bytes(spoilt)
    name, begin, end = dice.choice(sections(data))
    raw = bytearray(zlib.decompress(data[begin + 56 : end]))
    for _ in range(dice.choice((1, 1, 3))):
        at = dice.randrange(len(raw))
        vast = dice.choice((b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xff", b"\x00"))
        raw[at : at + len(vast)] = dice.choice((vast, dice.randbytes(len(vast)), b""))
    return with_section(data, name, bytes(raw))


def open_mutations(data, count, seed):
    dice = random.Random(seed)
    opened = 0
    tracemalloc.start()
    for _ in range(count):
        spoilt = mutate(data, dice)
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        try:
            found = tape_file.decode(spoilt)
        except UnreadableTape:
            continue
        finally:
            _, peak = tracemalloc.get_traced_memory()
            assert peak - before < 40 << 20
        opened += isinstance(found, RunFile)
    tracemalloc.stop()
    return opened


def test_hundreds_of_mutations_open_or_are_refused_in_bounded_memory(data):
    assert open_mutations(data, 300, 1) > 0


@pytest.mark.slow
def test_ten_thousand_mutations_open_or_are_refused_in_bounded_memory(data):
    assert open_mutations(data, 10_000, 2) > 0
