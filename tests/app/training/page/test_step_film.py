"""A step is played from its first event to its last in the time there is."""

import pytest

from gradscribe.app.training.page import step_film
from gradscribe.app.training.page.step_film import StepFilm, moves
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train.runs import record_step
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.playback.tape.tempo import duration

SETUP = Setup(data=Part("moons", {"n": 40}), model=Part("mlp", {"layers": [3]}), batch=8)


@pytest.fixture(scope="module")
def tape():
    return record_step.record_step(TrainingRun(SETUP))[0]


@pytest.mark.parametrize("ms", [1, 100, 800, 2400])
def test_a_film_has_its_length_and_reaches_the_end(tape, ms):
    found = moves(tape, ms)
    positions = [position for position, _ in found]
    assert positions == sorted(set(positions))
    assert positions[-1] == len(tape.events)
    assert sum(time for _, time in found) == pytest.approx(ms, abs=len(found))
    assert all(time >= step_film.LEAST_MS - 1 for _, time in found[:-1])


def test_a_film_is_not_slower_than_playback(tape):
    usual = sum(duration(event.kind, 1.0) for event in tape.events)
    assert sum(time for _, time in moves(tape, 10 * usual)) == pytest.approx(usual, abs=40)


def test_the_position_goes_to_the_end(qtbot, qapp, tape):
    film, seen = StepFilm(qapp), []
    film.moved.connect(lambda position, _: seen.append(position))
    with qtbot.waitSignal(film.ended):
        film.play(tape, 300)
    assert seen == [position for position, _ in moves(tape, 300)]
    assert not film.plays


def test_a_film_that_is_slow_to_show_jumps_to_its_end(qtbot, qapp, tape, monkeypatch):
    monkeypatch.setattr(step_film, "SLOW_TURN_MS", -1)
    film, seen = StepFilm(qapp), []
    film.moved.connect(lambda position, _: seen.append(position))
    with qtbot.waitSignal(film.ended):
        film.play(tape, 800)
    assert seen == [moves(tape, 800)[0][0], len(tape.events)]


def test_a_film_stops_where_it_is(qapp, tape):
    film = StepFilm(qapp)
    film.play(tape, 5000)
    film.stop()
    assert not film.plays
    assert 0 < film.position < len(tape.events)
