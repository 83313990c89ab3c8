"""The clock: what play, step, back and scrub do to the position."""

import pytest

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.playback.code import line_states
from gradscribe.playback.tape.loops.steps import steps_of
from gradscribe.playback.tape.tempo import duration
from tests.app.fakes import FakeLink, leaves


@pytest.fixture
def link():
    return FakeLink()


@pytest.fixture
def session(qtbot, link):
    made = Session(link)
    link.greet()
    made.load(Doc(source="a"))
    link.answer(leaves(6))
    yield made
    made.close()


@pytest.fixture
def clock(session):
    made = PlaybackClock(session)
    made.set_speed(8)
    yield made
    made.pause()


@pytest.fixture
def steps(session):
    seen = []
    session.moved.connect(lambda position, ms: seen.append((position, ms)))
    return seen


def test_play_at_the_end_starts_over_and_stops_at_the_end(clock, session, steps, qtbot):
    clock.play()
    assert clock.playing
    qtbot.waitUntil(lambda: not clock.playing)
    assert session.view.position == 6
    assert steps[0][0] == 0
    assert steps[-1][0] == 6


def test_play_goes_on_from_where_it_stands(clock, session, steps, qtbot):
    session.move(4)
    steps.clear()
    clock.play()
    qtbot.waitUntil(lambda: not clock.playing)
    assert steps[0][0] > 4


def test_pause_stands_still(clock, session, qtbot):
    clock.set_speed(0.25)
    session.move(0)
    clock.play()
    clock.pause()
    assert session.view.position == 1
    assert not clock.playing


def test_step_shows_one_event_as_it_moves(clock, session, steps):
    session.move(2)
    steps.clear()
    clock.set_speed(1)
    clock.step()
    assert steps == [(3, duration("leaf", 1))]


def test_step_at_the_end_and_back_at_the_start_do_nothing(clock, session, steps):
    clock.step()
    assert session.view.position == 6
    session.move(0)
    clock.back()
    assert session.view.position == 0


def test_back_takes_one_event_back_at_once(clock, steps):
    clock.back()
    assert steps == [(5, 0)]


def test_reset_and_end(clock, session):
    clock.reset()
    assert session.view.position == 0
    clock.to_end()
    assert session.view.position == 6


@pytest.mark.parametrize("stop", ["step", "back", "reset", "to_end"])
def test_every_move_by_hand_pauses(clock, session, stop):
    session.move(1)
    clock.play()
    getattr(clock, stop)()
    assert not clock.playing


def test_scrubbing_goes_on_playing_from_there(clock, session, qtbot):
    clock.set_speed(0.25)
    session.move(0)
    clock.play()
    clock.seek(5)
    assert clock.playing
    assert session.view.position == 5


@pytest.mark.parametrize(("asked", "held"), [(0.01, 0.25), (100, 8), (2, 2)])
def test_speed_is_held_within_its_bounds(clock, asked, held):
    clock.set_speed(1)
    clock.set_speed(asked)
    assert clock.speed == held


def test_above_four_times_several_events_are_shown_at_once(clock, session, steps):
    session.move(0)
    steps.clear()
    clock.play()
    clock.pause()
    assert steps[0][0] == 2


def test_an_empty_tape_cannot_be_played(qtbot):
    session = Session(FakeLink())
    clock = PlaybackClock(session)
    clock.play()
    clock.step()
    assert not clock.playing
    session.close()


def test_a_shorter_tape_stops_the_clock(clock, session, link):
    clock.set_speed(0.25)
    session.move(4)
    clock.play()
    session.edit_live("b")
    link.answer(leaves(1))
    assert not clock.playing
    assert session.view.position == 1


LOOP = """\
w = param(1.0)
opt = optim.SGD([w], lr=0.1)
for i in range(30):
    loss = (w - 3) ** 2
    loss.backward()
    opt.step()
    opt.zero_grad()
"""


@pytest.fixture
def looped(session, link, clock, record):
    """A clock on a tape of 30 steps, with the position at its start."""
    session.edit_live(LOOP)
    link.answer(record(LOOP))
    assert clock.step_count == 30
    session.move(0)
    return clock


def numbers(clock, steps, session):
    found = steps_of(session.result.tape)
    return [found.number_at(position) for position, _ in steps]


def test_playing_by_step_shows_every_step_at_the_same_event(looped, session, steps, qtbot):
    found = steps_of(session.result.tape)
    looped.set_speed(2)
    looped.set_pace("step")
    session.move(found.span(1)[1] - 3)
    steps.clear()
    looped.play()
    qtbot.waitUntil(lambda: not looped.playing, timeout=20_000)
    shown = [position for position, _ in steps]
    assert numbers(looped, steps, session)[:29] == list(range(2, 31))
    assert [position - found.span(n)[0] for n, position in enumerate(shown[:29], 2)] == [
        shown[0] - found.span(2)[0]
    ] * 29
    assert session.view.position == looped.length


def test_playing_by_step_from_the_start_shows_whole_steps(looped, session, steps, qtbot):
    looped.set_pace("step")
    looped.play()
    qtbot.waitUntil(lambda: not looped.playing, timeout=20_000)
    ends = {steps_of(session.result.tape).span(n)[1] for n in range(1, 31)}
    assert {position for position, _ in steps if position} <= ends


def test_playing_by_line_stops_at_the_end_of_every_line(looped, session, steps, qtbot):
    looped.set_pace("line")
    looped.play()
    qtbot.waitUntil(lambda: len(steps) > 12)
    looped.pause()
    expected, at = [], 0
    while len(expected) < len(steps):
        at = line_states.end_of_next_line(session.result.tape, at)
        expected.append(at)
    assert [position for position, _ in steps] == expected


def test_a_tape_without_steps_plays_by_step_to_its_end(clock, session, qtbot):
    clock.set_pace("step")
    session.move(0)
    clock.play()
    qtbot.waitUntil(lambda: not clock.playing)
    assert session.view.position == 6


def test_turning_steps_stays_at_the_event_and_inside_the_loop(looped, session):
    found = steps_of(session.result.tape)
    session.move(found.span(4)[0] + 5)
    looped.turn_step(1)
    assert session.view.position == found.span(5)[0] + 5
    looped.turn_step(-1)
    assert session.view.position == found.span(4)[0] + 5
    looped.go_to_step(30)
    at = session.view.position
    looped.turn_step(1)
    assert session.view.position == at
    looped.go_to_step(1)
    at = session.view.position
    looped.turn_step(-1)
    assert session.view.position == at


def test_an_unknown_pace_is_none(clock, qtbot):
    with qtbot.assertNotEmitted(clock.pace_changed):
        clock.set_pace("hour")
        clock.set_pace("event")
    with qtbot.waitSignal(clock.pace_changed):
        clock.set_pace("line")


def test_turning_goes_by_what_is_played_at_a_time(clock, session, link, record):
    source = "w = param(0.0)\nfor k in range(3):\n    loss = (w - 1.0) ** 2\n    loss.backward()\n"
    session.load(Doc(source=source))
    link.answer(record(source))
    tape = session.result.tape
    found = steps_of(tape)
    session.move(0)
    clock.turn(1)
    assert session.view.position == 1
    clock.turn(-1)
    assert session.view.position == 0
    clock.set_pace("line")
    session.move(len(tape.events))
    clock.turn(-1)
    assert session.view.position == line_states.start_of_line(tape, len(tape.events))
    clock.set_pace("step")
    clock.go_to_step(1)
    seen = []
    for by in (1, 1, -1):
        clock.turn(by)
        seen.append(found.number_at(session.view.position))
    assert seen == [2, 3, 2]
    clock.turn(1)
    clock.turn(1)
    assert session.view.position == len(tape.events)
    clock.go_to_step(1)
    clock.turn(-1)
    assert found.number_at(session.view.position) == 1


def test_turning_without_a_loop_goes_by_events_whatever_the_pace(clock, session):
    clock.set_pace("step")
    session.move(2)
    clock.turn(1)
    assert session.view.position == 3
    clock.turn(-1)
    assert session.view.position == 2
