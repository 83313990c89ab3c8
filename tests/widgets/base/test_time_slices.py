"""Long work in small steps."""

import pytest
from PySide6.QtCore import QTimer

from gradscribe.widgets.base.time_slices import END_TURN, TimeSlices


def noted(steps, notes):
    for step in range(steps):
        notes.append(step)
        yield


def test_each_turn_makes_a_step_at_least_and_the_last_one_tells(qtbot):
    slices, notes, ended = TimeSlices(turn_ms=0), [], []
    slices.ended.connect(lambda: ended.append(len(notes)))
    slices.begin(noted(5, notes))
    assert not notes
    slices.go_on()
    assert notes == [0]
    qtbot.waitUntil(lambda: bool(ended))
    assert (notes, ended, slices.busy) == ([0, 1, 2, 3, 4], [5], False)


def test_the_event_loop_turns_between_the_steps(qtbot):
    slices, notes, seen = TimeSlices(turn_ms=0), [], []
    ticks = QTimer()
    ticks.timeout.connect(lambda: seen.append(len(notes)))
    ticks.start(0)
    slices.begin(noted(9, notes))
    slices.go_on()
    qtbot.waitUntil(lambda: not slices.busy)
    ticks.stop()
    assert len(set(seen)) > 5


def test_who_cannot_wait_has_it_whole_at_once():
    slices, notes = TimeSlices(turn_ms=0), []
    slices.begin(noted(5, notes))
    slices.finish()
    assert notes == [0, 1, 2, 3, 4]
    slices.finish()


def test_other_steps_take_the_place_of_those_that_are_left(qtbot):
    slices, first, second = TimeSlices(turn_ms=0), [], []
    slices.begin(noted(5, first))
    slices.go_on()
    slices.begin(noted(2, second))
    slices.go_on()
    qtbot.waitUntil(lambda: not slices.busy)
    assert (first, second) == ([0], [0, 1])


def test_what_is_stopped_makes_no_step_more(qtbot):
    slices, notes = TimeSlices(turn_ms=0), []
    slices.begin(noted(5, notes))
    slices.go_on()
    slices.stop()
    qtbot.wait(5)
    assert notes == [0]


def test_a_step_that_fails_is_the_last():
    def broken():
        yield
        raise ValueError("no")

    slices = TimeSlices(turn_ms=10_000)
    slices.begin(broken())
    with pytest.raises(ValueError, match="no"):
        slices.go_on()
    assert not slices.busy


def test_a_step_can_be_the_last_of_its_turn(qtbot):
    def steps():
        for number in range(4):
            notes.append(number)
            yield END_TURN if number == 1 else None

    slices, notes = TimeSlices(turn_ms=10_000), []
    slices.begin(steps())
    slices.go_on()
    assert notes == [0, 1]
    qtbot.waitUntil(lambda: not slices.busy)
    assert notes == [0, 1, 2, 3]


def test_what_is_to_be_done_now_is_begun_at_once(qtbot):
    slices, notes = TimeSlices(turn_ms=0), []
    slices.run(noted(3, notes))
    assert notes == [0]
    qtbot.waitUntil(lambda: not slices.busy)
    assert notes == [0, 1, 2]
