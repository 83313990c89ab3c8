import copy
import gc
import weakref
from contextlib import contextmanager

import pytest

from gradscribe.playback import precompute
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.recent_cache import MAX_EVENTS, RecentCache
from gradscribe.playback.tape.scenes import scenes

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
    precompute.precompute(tape, len(tape.events))
    scene = scenes(tape)[0]
    look_at(tape, build_picture(tape, scene), scene, len(tape.events))
    return weakref.ref(index_of(tape))


def test_short_things_are_kept_by_their_number():
    recent = RecentCache[str](3)
    assert [recent.add(one, 10) for one in "abcde"] == [[], [], [], ["a"], ["b"]]
    assert list(recent) == ["e", "d", "c"]


def test_long_things_are_kept_by_their_length_but_for_the_latest_two():
    recent = RecentCache[str](6)
    for one in "abcd":
        assert recent.add(one, MAX_EVENTS // 4) == []
    assert recent.add("e", MAX_EVENTS // 2) == ["b", "a"]
    assert recent.add("f", MAX_EVENTS) == ["d", "c"]
    assert recent.add("g", MAX_EVENTS) == ["e"]
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
    assert MAX_EVENTS // 2 < len(tape.events) < MAX_EVENTS
    with no_collection():
        seen = show(copy.copy(tape))
        for _ in range(count):
            show(copy.copy(tape))
        assert (seen() is None) == (count == 2)


def test_a_tape_that_was_dropped_tells_the_same_when_it_is_shown_again(recorded):
    first, *others = [recorded(f"x = param({n}.5)\n(x * x).backward()") for n in range(7)]
    index, scene = index_of(first), scenes(first)[0]
    picture = build_picture(first, scene)
    before = [look_at(index, picture, scene, at) for at in range(len(first.events) + 1)]
    for tape in others:
        show(tape)
    assert index_of(first) is not index
    for known in (index, first):
        shown = [look_at(known, picture, scene, at) for at in range(len(first.events) + 1)]
        assert shown == before
