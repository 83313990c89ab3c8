import copy
import gc
import weakref
from contextlib import contextmanager

import pytest

from playback import readying
from playback.graph import build
from playback.index import index_of
from playback.look import look
from playback.recent import EVENTS, Recent
from playback.scenes import scenes

LONG = """\
x = param(1.0)
for i in range(5_000):
    x = x * 1.0001 + 1e-6
x.sum().backward()
"""
"""10,001 ops, each an event forward and its node's backward: half of what is kept at most."""


@contextmanager
def no_collection():
    """Let nothing be freed but what nobody refers to any more."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def show(tape):
    """Ask of a tape what a window asks, and return a reference that keeps none of it alive."""
    readying.ready(tape, len(tape.events))
    scene = scenes(tape)[0]
    look(tape, build(tape, scene), scene, len(tape.events))
    return weakref.ref(index_of(tape))


def test_short_things_are_kept_by_their_number():
    recent = Recent[str](3)
    assert [recent.add(one, 10) for one in "abcde"] == [[], [], [], ["a"], ["b"]]
    assert list(recent) == ["e", "d", "c"]


def test_long_things_are_kept_by_their_length_but_for_the_latest_two():
    recent = Recent[str](6)
    for one in "abcd":
        assert recent.add(one, EVENTS // 4) == []
    assert recent.add("e", EVENTS // 2) == ["b", "a"]
    assert recent.add("f", EVENTS) == ["d", "c"]
    assert recent.add("g", EVENTS) == ["e"]
    assert list(recent) == ["g", "f"]


def test_what_was_made_of_a_tape_is_freed_at_once_when_it_is_dropped(recorded):
    first, *others = [recorded(f"x = param({n}.5)\n(x * x).backward()") for n in range(7)]
    with no_collection():
        seen = show(first)
        assert seen() is not None
        for tape in others:
            show(tape)
        assert seen() is None


@pytest.mark.parametrize("count", [1, 2])
def test_a_long_tape_is_freed_when_two_later_ones_were_shown(recorded, count):
    tape = recorded(LONG)
    assert EVENTS // 2 < len(tape.events) < EVENTS
    with no_collection():
        seen = show(copy.copy(tape))
        for _ in range(count):
            show(copy.copy(tape))
        assert (seen() is None) == (count == 2)


def test_a_tape_that_was_dropped_tells_the_same_when_it_is_shown_again(recorded):
    first, *others = [recorded(f"x = param({n}.5)\n(x * x).backward()") for n in range(7)]
    index, scene = index_of(first), scenes(first)[0]
    picture = build(first, scene)
    before = [look(index, picture, scene, at) for at in range(len(first.events) + 1)]
    for tape in others:
        show(tape)
    assert index_of(first) is not index
    for known in (index, first):
        shown = [look(known, picture, scene, at) for at in range(len(first.events) + 1)]
        assert shown == before
