"""Slides from a file have no values that the window could not show."""

import math

import msgspec
import pytest

from gradscribe.engine.protocol import tape_file
from gradscribe.engine.protocol.lecture.slides import MAX_NOTE, MAX_SLIDES, Sight, Slide, plausible
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.protocol.tape_file import RunFile, RunProgram

WHOLE = Slide(
    "Title", "Note", 4, 2, "ab" * 8, Sight("v1", 1.5, -2.0, 300.0, 200.0), ("net",), "v2",
    False, True, False, True, "size", "right", True, ("ways", "v1", 0), True, ((3, 0),), True, 2.0,
)  # fmt: skip


def test_slides_that_are_as_they_should_be_stay_as_they_are():
    assert plausible((WHOLE, Slide(text=1.0))) == (WHOLE, Slide(text=1.0))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (Slide(position=-3), 0),
        (Slide(position=1 << 60), 1 << 40),
        (Slide(text=math.nan), 1.0),
        (Slide(text=90.0), 3.0),
        (Slide(flow="up"), "down"),
        (Slide(sight=Sight("a", math.inf, 0.0, 1.0, 1.0)), Sight()),
        (Slide(sight=Sight("a", 0.0, 0.0, -1.0, 1.0)), Sight()),
        (Slide(open_calls=("a" * 2000,)), None),
        (Slide(selection="a" * 2000), ""),
        (Slide(title="one\ntwo"), "one two"),
        (Slide(note="a" * (MAX_NOTE + 5)), "a" * MAX_NOTE),
        (Slide(asked=("ways", "a" * 2000, 0)), None),
    ],
)
def test_a_value_out_of_range_is_brought_back_into_it(wrong, right):
    (found,) = plausible((wrong,))
    changed = [
        getattr(found, name)
        for name in Slide.__struct_fields__
        if getattr(found, name) != getattr(Slide(), name)
    ]
    assert changed in ([right], []) or right == 1.0
    assert right in msgspec.structs.astuple(found)


def test_there_are_at_most_so_many():
    assert len(plausible((Slide(),) * (MAX_SLIDES + 9))) == MAX_SLIDES


def test_a_run_with_slides_is_read_back():
    run = RunFile(RunProgram("x = 1"), Tape(), slides=(WHOLE, Slide()))
    found = tape_file.decode(b"".join(tape_file.encode(run)))
    assert found.slides == run.slides
    assert found.trouble == ""


def test_a_lecture_that_holds_something_else_is_left_out_and_said(monkeypatch):
    pieces = []
    for name, raw in tape_file._raw_sections(RunFile(RunProgram("x = 1"), Tape())):
        pieces += tape_file._section(name, raw)
    count = len(pieces) // 2
    pieces += tape_file._section("lecture", msgspec.msgpack.encode({"slides": [[1, 2]]}))
    pieces += tape_file._section("end", msgspec.msgpack.encode({"sections": count + 1}))
    head = b"%s%d\n" % (tape_file.MAGIC, tape_file.VERSION)
    found = tape_file.decode(head + b"".join(pieces))
    assert found.slides == ()
    assert found.trouble == "its slides are spoilt"
    assert found.program.source == "x = 1"
