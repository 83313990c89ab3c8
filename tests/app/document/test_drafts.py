"""The window shows what a long program has recorded so far, while it runs on."""

import pytest

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem, Tape
from tests.app.fakes import FakeLink, leaves


@pytest.fixture
def link():
    return FakeLink()


@pytest.fixture
def session(qtbot, link):
    made = Session(link)
    link.greet()
    made.load(Doc(source="a"))
    link.answer(leaves(2))
    made.heard = []
    made.said.connect(made.heard.append)
    made.apply_fix("b")
    yield made
    made.close()


def failed(tape, kind, message=""):
    return replace(tape, status="error", error=Problem(kind, message))


def test_a_draft_is_shown_while_the_program_runs_on(session, link):
    link.draft(leaves(3))
    assert session.result.tape == leaves(3)
    assert (session.result.source, session.result.stale) == ("b", False)
    assert session.result.engine == "running"
    assert session.view.position == 3
    assert session.shows_draft
    link.draft(leaves(4))
    link.answer(leaves(5))
    assert session.result.tape == leaves(5)
    assert session.result.engine == "ready"
    assert not session.shows_draft


def test_a_position_stays_when_the_whole_replaces_its_draft(session, link):
    link.draft(leaves(3))
    session.move(1)
    link.answer(leaves(5))
    assert session.view.position == 1


def test_no_number_is_asked_for_by_the_id_of_a_draft(session, link):
    link.draft(leaves(3))
    session.numbers.peek(0)
    assert link.asked[-1][0] == "peek"
    assert link.asked[-1][1] < 0, "the whole tape numbers its snapshots otherwise"


@pytest.mark.parametrize("kind", ["Stopped", "ValueError"])
def test_what_was_recorded_stays_when_the_program_is_stopped_or_fails(session, link, kind):
    link.draft(leaves(3))
    session.stop()
    link.answer(failed(leaves(4), kind))
    assert session.result.tape.events == leaves(4).events
    assert session.result.problem.type == kind
    assert not session.result.stale


def test_a_draft_stays_when_the_engine_dies(session, link):
    link.draft(leaves(3))
    link.answer(failed(Tape(), "EngineDied"))
    assert session.result.tape == leaves(3)


def test_a_program_that_fails_before_its_first_draft_leaves_the_last_graph(session, link):
    link.answer(failed(leaves(1), "ValueError"))
    assert session.result.tape == leaves(2)
    assert session.result.stale


def test_a_draft_of_a_text_that_was_replaced_is_not_shown(session, link):
    session.edit_live("c")
    link.draft(leaves(3))
    assert session.result.tape == leaves(2)
    link.answer(failed(leaves(1), "Stopped"))
    assert link.sources[-1] == "c"
    link.draft(leaves(7), run_id=2)
    assert session.result.tape == leaves(2)


def test_a_step_is_not_brought_back_while_the_program_runs(session, link):
    link.draft(leaves(3))
    asked = len(link.runs)
    session.bring_step(2)
    assert len(link.runs) == asked
    assert session.heard == ["Step 2 can be shown once the program has ended"]


def test_a_draft_can_be_played(session, link):
    clock = PlaybackClock(session)
    link.draft(leaves(3))
    clock.seek(0)
    clock.step()
    assert session.view.position == 1
    clock.pause()
