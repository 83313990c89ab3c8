"""A step that was not recorded in full is brought back by running the program again."""

import contextlib
import io

import pytest

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.app.document.step_recall import STEPS_AHEAD
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run import run
from gradscribe.playback.tape.loops.steps import steps_of
from tests.app.fakes import FakeLink

SOURCE = """
import torch
w = torch.ones(2, requires_grad=True)
for i in range(200):
    loss = (w * w).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        w.grad = None
print(loss.item())
"""


@pytest.fixture
def link():
    return FakeLink()


@pytest.fixture(scope="module")
def tape():
    return run.execute(Run(0, SOURCE, full_events=400))


@pytest.fixture
def session(qtbot, link, tape):
    made = Session(link)
    link.greet()
    made.load(Doc(source=SOURCE))
    link.answer(tape)
    made.heard = []
    made.said.connect(made.heard.append)
    yield made
    made.close()


@pytest.fixture
def clock(session):
    made = PlaybackClock(session)
    yield made
    made.pause()


def record_wanted(link):
    """Run what the window asked for."""
    wanted = link.limits[-1]["wanted_steps"]
    with contextlib.redirect_stdout(io.StringIO()):
        link.answer(run.execute(Run(0, link.sources[-1], wanted_steps=wanted)))


def test_going_to_such_a_step_asks_for_it(clock, session, link, tape):
    position = session.view.position
    clock.go_to_step(150)
    assert link.limits[-1]["wanted_steps"] == (4, 150, 150 + STEPS_AHEAD)
    assert session.view.position == position
    record_wanted(link)
    steps = steps_of(session.result.tape)
    assert len(steps) == 200
    assert steps.number_at(session.view.position) == 150
    assert session.heard == []
    assert session.result.stdout == tape.stdout
    assert session.whole_tape is tape


def test_the_steps_after_it_need_no_run(clock, session, link):
    clock.go_to_step(150)
    record_wanted(link)
    runs = len(link.runs)
    clock.turn_step(1)
    assert steps_of(session.result.tape).number_at(session.view.position) == 151
    assert len(link.runs) == runs


def test_steps_further_on_are_brought_while_the_user_steps_through(clock, session, link):
    clock.go_to_step(150)
    record_wanted(link)
    runs, number = len(link.runs), 150
    while len(link.runs) == runs:
        clock.turn_step(1)
        number += 1
        assert steps_of(session.result.tape).number_at(session.view.position) == number
    assert number < 150 + STEPS_AHEAD, "before the last of them"
    line, first, last = link.limits[-1]["wanted_steps"]
    assert (line, last) == (4, number + STEPS_AHEAD)
    # The user goes on, and to the middle of a step.
    clock.turn_step(1)
    clock.back()
    event = session.result.tape.events[session.view.position - 1]
    record_wanted(link)
    steps = steps_of(session.result.tape)
    assert steps.number_at(session.view.position) == number + 1
    now = session.result.tape.events[session.view.position - 1]
    assert (now.kind, now.line) == (event.kind, event.line)
    assert steps.is_full(first)
    assert steps.is_full(last)
    assert session.heard == []


def test_a_step_asked_for_while_others_come_is_brought_next(clock, session, link):
    clock.go_to_step(150)
    clock.go_to_step(120)
    assert link.limits[-1]["wanted_steps"][1] == 150
    record_wanted(link)
    assert link.limits[-1]["wanted_steps"][1] == 120
    record_wanted(link)
    assert steps_of(session.result.tape).number_at(session.view.position) == 120
    assert session.heard == []


def test_a_step_of_the_whole_tape_shows_that_again(clock, session, link, tape):
    clock.go_to_step(150)
    record_wanted(link)
    runs = len(link.runs)
    clock.go_to_step(2)
    assert session.result.tape is tape
    assert steps_of(tape).number_at(session.view.position) == 2
    assert len(link.runs) == runs


def test_the_ends_are_those_of_the_whole_tape(clock, session, link, tape):
    for go, position in ((clock.reset, 0), (clock.to_end, len(tape.events))):
        clock.go_to_step(150)
        record_wanted(link)
        go()
        assert session.result.tape is tape
        assert session.view.position == position


def test_another_run_is_refused_in_words(clock, session, link, tape):
    clock.go_to_step(150)
    source = SOURCE.replace("torch.ones(2", "torch.ones(3")
    link.answer(run.execute(Run(0, source, wanted_steps=(4, 150, 151))))
    (said,) = session.heard
    assert said.startswith("Step 150 cannot be brought back: its number of line")
    assert session.result.tape is tape
    assert session.result.engine == "ready"


def test_a_stopped_run_leaves_the_tape(clock, session, link, tape):
    clock.go_to_step(150)
    stopped = run.execute(Run(0, "raise SystemError('x')"))
    link.answer(stopped)
    assert session.result.tape is tape
    assert session.result.problem is None
    assert "cannot be brought back" in session.heard[0]


def test_text_typed_meanwhile_wins(clock, session, link, qtbot):
    clock.go_to_step(150)
    session.edit("x = param(1.0)\n")
    qtbot.waitUntil(lambda: session._waiting)
    record_wanted(link)
    assert link.sources[-1] == "x = param(1.0)\n"
    assert link.limits[-1]["wanted_steps"] is None
    link.answer(run.execute(Run(0, "x = param(1.0)\n")))
    assert session.result.source == "x = param(1.0)\n"
    assert len(steps_of(session.result.tape)) == 0


def test_a_changed_text_has_no_steps_to_bring(clock, session, link):
    session.edit(SOURCE + "# more\n")
    runs = len(link.runs)
    clock.go_to_step(150)
    assert len(link.runs) == runs
    assert "changed" in session.heard[0]
