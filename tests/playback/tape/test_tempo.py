"""The frames of a film: by arithmetic on how long each event is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.engine.protocol.tape import Event
from gradscribe.playback.tape.tempo import (
    BEGIN_MS,
    END_MS,
    TOKEN_MS,
    VideoFrame,
    VideoTiming,
    duration,
    step_duration,
)

KINDS = ("leaf", "op", "enter", "backward", "node", "accumulate", "step")
tapes = st.lists(st.sampled_from(KINDS).map(lambda kind: Event(kind, 0, 1)), max_size=60)


def test_a_token_travels_a_quarter_second_and_less_at_higher_speed():
    assert duration("op", 1) == TOKEN_MS == 260
    assert duration("node", 4) == 65
    assert duration("enter", 1) < duration("op", 1)


def test_a_film_begins_and_ends_at_rest():
    tempo = VideoTiming([Event("op", 0, 1)] * 3, fps=20)
    takes = list(tempo.frames())
    assert takes[0] == VideoFrame(0, 0)
    assert takes[-1].position == 3
    assert takes[-1].duration_ms == 0
    assert tempo.length_ms == BEGIN_MS + 3 * TOKEN_MS + END_MS


def test_a_tape_without_events_is_one_still():
    assert {take.position for take in VideoTiming([], fps=20).frames()} == {0}


def test_twice_the_speed_takes_half_the_moving_frames():
    events = [Event("op", 0, 1)] * 40
    still = (BEGIN_MS + END_MS) * 50 // 1000
    slow, fast = (
        len(VideoTiming(events, 50)) - still,
        len(VideoTiming(events, 50, speed=2.0)) - still,
    )
    assert slow == 40 * 13
    assert fast == pytest.approx(slow / 2, abs=1)


def test_a_long_tape_is_filmed_several_events_at_once():
    events = [Event("op", 0, 1)] * 1000
    tempo = VideoTiming(events, fps=20, longest_ms=26_000)
    assert tempo.events_per_move == 10
    assert tempo.length_ms == BEGIN_MS + 26_000 + END_MS
    assert [take.position for take in tempo.frames()][-1] == 1000


@given(tapes, st.sampled_from((10, 20, 30)), st.floats(0.25, 8.0))
def test_positions_never_go_back_and_no_move_lasts_longer_than_it_takes(events, fps, speed):
    tempo = VideoTiming(events, fps, speed)
    takes = list(tempo.frames())
    assert len(takes) == len(tempo)
    positions = [take.position for take in takes]
    assert positions == sorted(positions)
    assert positions[-1] == len(events)
    for take in takes:
        assert take.before <= take.position
        if take.duration_ms:
            assert 0 <= take.elapsed_ms < take.duration_ms


@pytest.mark.parametrize("speed", [0.25, 1, 2, 8])
@pytest.mark.parametrize("count", [1, 3, 300, 2000, 50_000])
def test_a_loop_plays_in_time_and_no_step_flickers_past(count, speed):
    ms, by = step_duration(count, speed)
    assert ms >= 40
    assert by >= 1
    whole = ms * count / by
    assert whole <= max(24_000, 40 * count) / speed * 1.6


def test_a_short_loop_is_shown_step_by_step_at_any_speed():
    assert step_duration(3, 1) == (600, 1)
    assert step_duration(3, 8) == (75, 1)
    assert step_duration(300, 1) == (80, 1)


def test_a_part_of_a_tape_takes_the_time_of_its_events():
    kinds = ("leaf", "op", "step", "enter", "backward", "op")
    events = [Event(kind, 0, 1) for kind in kinds]
    tempo = VideoTiming(events, fps=20, speed=2.0, first=2, stop=5)
    shown = sum(duration(kind, 2.0) for kind in kinds[2:5])
    assert tempo.length_ms == BEGIN_MS + shown + END_MS
    takes = list(tempo.frames())
    assert takes[0] == VideoFrame(2, 2)
    assert takes[-1].position == 5
    assert {take.position for take in takes} == {2, 3, 4, 5}


def test_a_long_part_is_filmed_several_events_at_once_and_ends_where_it_should():
    events = [Event("op", 0, 1)] * 1000
    tempo = VideoTiming(events, fps=20, longest_ms=2_600, first=100, stop=205)
    assert tempo.events_per_move == 11
    assert [take.position for take in tempo.frames()][-1] == 205
