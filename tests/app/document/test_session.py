"""The session: typing becomes runs, replies become results, late ones are dropped."""

import pytest

from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.tape import Tape
from tests.app.fakes import FakeLink, broken, leaves


@pytest.fixture
def link():
    return FakeLink()


@pytest.fixture
def session(qtbot, link):
    made = Session(link)
    yield made
    made.close()


@pytest.fixture
def running(session, link):
    """A session whose first program is on its way."""
    link.greet()
    session.load(Doc(source="a", saved="a"))
    return session


@pytest.fixture
def settled(running, link):
    """A session whose first program ran: three events."""
    link.answer(leaves(3))
    return running


def test_a_program_waits_for_the_engine(session, link):
    session.load(Doc(source="a"))
    session.edit_live("ab")
    assert session.result.engine == "starting"
    link.greet()
    assert link.sources == ["a", "ab"], "the link keeps the newest for its engine"
    assert session.result.engine == "running"
    link.answer(leaves(2))
    assert session.result.engine == "ready"


def test_nothing_runs_before_there_is_a_document(session, link):
    link.greet()
    assert link.runs == []
    assert session.result.engine == "ready"


def test_a_good_tape_is_shown_at_its_end(settled):
    assert len(settled.result.tape.events) == 3
    assert settled.view.position == 3
    assert not settled.result.stale
    assert settled.result.engine == "ready"
    assert settled.result.source == "a"


def test_typing_runs_once_it_rests(settled, link, qtbot):
    for text in ("ab", "abc", "abcd"):
        settled.edit(text)
    assert link.sources == ["a"]
    qtbot.waitUntil(lambda: len(link.runs) == 2)
    assert link.sources == ["a", "abcd"]


def test_the_same_text_does_not_run_again(settled, link, qtbot):
    settled.edit("a")
    settled.edit("ab")
    qtbot.waitUntil(lambda: len(link.runs) == 2)
    assert link.sources == ["a", "ab"]


def test_dragging_a_number_runs_at_once_and_only_the_newest_waits(settled, link):
    for text in ("x=1", "x=2", "x=3", "x=4"):
        settled.edit_live(text)
    assert link.sources == ["a", "x=1"]
    link.answer(leaves(3))
    assert link.sources == ["a", "x=1", "x=4"]
    link.answer(leaves(3))
    assert len(link.runs) == 3


def test_a_quick_run_is_not_stopped_when_a_newer_text_waits(settled, link):
    settled.edit_live("x=1")
    settled.edit_live("x=2")
    assert link.stops == 0


def test_a_long_run_is_stopped_for_a_newer_text(settled, link, qtbot):
    settled.edit_live("while True: pass")
    settled.edit_live("x=2")
    qtbot.waitUntil(lambda: link.stops == 1)
    assert settled.result.engine == "stopping"
    link.answer(broken("error", "KeyboardInterrupt"))
    assert link.sources[-1] == "x=2"


def test_a_run_that_made_room_for_a_newer_text_is_no_problem(settled, link, qtbot):
    settled.edit_live("while True: pass")
    settled.edit_live("x=2")
    qtbot.waitUntil(lambda: link.stops == 1)
    link.answer(broken("error", "Stopped"))
    assert settled.result.problem is None
    assert link.sources[-1] == "x=2"


def test_a_long_run_without_a_newer_text_goes_on_and_is_marked_stale(settled, link, qtbot):
    settled.edit_live("slow")
    qtbot.waitUntil(lambda: settled.result.stale)
    assert link.stops == 0


def test_what_was_wrong_with_another_text_is_not_told_of_one_that_runs_long(settled, link, qtbot):
    settled.edit_live("wrong")
    link.answer(broken("NameError"))
    assert settled.result.problem is not None
    settled.edit_live("while True: pass")
    assert settled.result.problem is not None, "a quick run replaces it without a flicker"
    qtbot.waitUntil(lambda: settled.result.problem is None)
    assert settled.result.engine == "running"


def test_the_same_text_run_again_keeps_what_was_wrong_with_it(settled, link, qtbot):
    settled.edit_live("wrong")
    link.answer(broken("NameError"))
    settled.set_seed(7)
    assert settled.result.engine == "running"
    with qtbot.waitSignal(settled._patience.timeout):
        pass
    assert settled.result.problem is not None


def test_a_failure_keeps_the_last_good_tape_and_marks_it_stale(settled, link):
    good = settled.result.tape
    settled.edit_live("a(")
    link.answer(broken())
    assert settled.result.tape is good
    assert settled.result.stale
    assert settled.result.problem.type == "SyntaxError"
    assert settled.result.stdout == "before it broke\n"


def test_a_program_that_begins_from_nothing_shows_how_far_it_came(running, link):
    link.answer(leaves(0))
    running.edit_live("a = tensr(1)")
    link.answer(broken("error", "AttributeError"))
    assert not running.result.stale, "there is no good graph that could be the last"
    running.edit_live("a = tensor(1)\nlos")
    link.answer(broken("error", "NameError", events=2))
    assert len(running.result.tape.events) == 2
    assert not running.result.stale
    assert running.result.problem.type == "NameError"


def test_a_failure_at_run_time_keeps_the_last_good_tape_too(settled, link):
    good = settled.result.tape
    settled.edit_live("a.backward()")
    link.answer(broken("error", "RuntimeError", events=2))
    assert settled.result.tape is good


def test_mending_clears_problem_and_staleness(settled, link):
    settled.edit_live("a(")
    link.answer(broken())
    settled.edit_live("a()")
    link.answer(leaves(2))
    assert settled.result.problem is None
    assert not settled.result.stale
    assert len(settled.result.tape.events) == 2


def test_the_first_tape_of_a_document_is_shown_even_if_it_failed(settled, link):
    settled.load(Doc(source="b"))
    link.answer(broken("error", "RuntimeError", events=2))
    assert len(settled.result.tape.events) == 2
    assert settled.result.problem is not None
    settled.edit_live("bb")
    link.answer(broken(events=1))
    assert len(settled.result.tape.events) == 1, "nothing good has been shown yet"


def test_late_messages_are_dropped(running, link):
    link.answer(leaves(7), run_id=99)
    link.print("late", run_id=99)
    assert running.result.tape.events == ()
    assert running.result.stdout == ""
    link.answer(leaves(3))
    link.answer(leaves(9), run_id=1)
    assert len(running.result.tape.events) == 3, "a run answers once"


def test_output_arrives_while_the_program_runs(running, link):
    link.print("one\n")
    link.print("two\n")
    assert running.result.stdout == "one\ntwo\n"


def test_output_of_the_next_run_begins_anew(settled, link):
    settled.edit_live("b")
    link.print("new\n")
    assert settled.result.stdout == "new\n"


def test_whoever_stands_in_the_middle_stays_there(settled, link):
    settled.move(1)
    settled.edit_live("b")
    link.answer(leaves(8))
    assert settled.view.position == 1


def test_whoever_stands_at_the_end_stays_at_the_end(settled, link):
    settled.edit_live("b")
    link.answer(leaves(8))
    assert settled.view.position == 8


def test_a_place_past_the_end_of_a_shorter_tape_is_its_end(settled, link):
    settled.edit_live("b")
    link.answer(leaves(8))
    settled.move(6)
    settled.edit_live("c")
    link.answer(leaves(2))
    assert settled.view.position == 2


def test_a_position_stays_within_the_tape(settled):
    settled.move(-5)
    assert settled.view.position == 0
    settled.move(99)
    assert settled.view.position == 3


def test_stop_interrupts_and_forgets_what_waits(settled, link):
    settled.edit_live("slow")
    settled.edit_live("slower")
    settled.stop()
    assert link.stops == 1
    link.answer(broken("error", "KeyboardInterrupt"))
    assert link.sources == ["a", "slow"]


def test_stop_with_nothing_running_does_nothing(settled, link):
    settled.stop()
    assert link.stops == 0


def test_a_dead_engine_is_a_problem_and_the_text_is_not_run_again(settled, link):
    settled.edit_live("crash")
    link.die("killed by signal 11")
    assert "signal 11" in settled.result.problem.message
    link.answer(broken("died", "EngineDied"))
    assert settled.result.stale
    assert settled.result.engine == "starting"
    link.greet()
    assert link.sources == ["a", "crash"]
    settled.edit_live("mended")
    assert link.sources[-1] == "mended"


def test_a_text_typed_while_the_engine_comes_back_runs_when_it_is_there(settled, link):
    settled.edit_live("crash")
    link.die()
    link.answer(broken("died", "EngineDied"))
    settled.edit_live("mended")
    link.greet()
    link.answer(leaves(4))
    assert link.sources[-1] == "mended"
    assert len(settled.result.tape.events) == 4
    assert settled.result.problem is None


def test_an_idle_engine_that_died_is_forgotten_when_a_fresh_one_is_ready(settled, link):
    link.die()
    assert settled.result.problem is not None
    link.greet()
    assert settled.result.problem is None
    assert settled.result.engine == "ready"
    assert not settled.result.stale


def test_restart_closes_the_engine_and_runs_again(settled, link):
    settled.restart()
    assert link.closed
    assert link.started == 1
    link.greet()
    assert link.sources == ["a", "a"]


def test_seed_and_device_go_with_the_run(settled, link):
    settled.set_seed(7)
    link.answer(leaves(3))
    settled.set_device("cuda:0")
    assert link.runs[-2:] == [("a", 7, "cpu"), ("a", 7, "cuda:0")]


def test_a_device_that_is_gone_is_not_asked_for(session, link):
    link.greet(("cpu", "cuda:0"))
    session.set_device("cuda:0")
    link.greet(("cpu",))
    assert session.doc.device == "cpu"


def test_checks_and_peeks_ask_about_the_shown_tape(settled, link):
    settled.edit_live("a(")
    link.answer(broken())
    settled.check(4, 0)
    settled.numbers.peek(2)
    assert link.asked == [("check", 1, 4, 0), ("peek", 1, 2)]


def test_only_answers_about_the_shown_tape_are_told(settled, link):
    told = []
    settled.checked.connect(told.append)
    settled.numbers.peeked.connect(told.append)
    checked = messages.Checked(1, 4, 0, 1.0, 1.0, 1e-3, agrees=True)
    link.received.emit(checked)
    link.received.emit(messages.Checked(9, 4, 0, 1.0, 1.0, 1e-3, agrees=True))
    link.received.emit(messages.Peeked(9, 0, None))
    assert told == [checked]


def test_a_document_knows_whether_it_is_saved(settled):
    assert not settled.doc.modified
    settled.edit("b")
    assert settled.doc.modified
    settled.mark_saved("x.py", "x.py", settled.doc.source)
    assert not settled.doc.modified
    assert settled.doc.path == "x.py"


def test_a_new_document_keeps_seed_and_device_and_drops_the_selection(settled):
    settled.set_seed(3)
    settled.select("op:mul:L")
    settled.load(Doc(source="b"))
    assert settled.doc.seed == 3
    assert settled.view.selection == ""


def test_a_run_gets_the_name_of_its_file_and_the_limits(running, link):
    usual = {"policy": False, "is_open": False, "brief": False, "wanted_steps": None}
    usual |= {"drafts": True, "watched_module": "", "interpreter": None}
    first = {"filename": "<gradscribe>", "timeout": 10.0, "memory": 256 << 20}
    assert link.limits[0] == first | usual
    link.answer(leaves(1))
    running.load(Doc(source="b", path="net.py"))
    assert link.limits[-1]["filename"] == "net.py"
    link.answer(leaves(1))
    running.set_limits(60.0, 64 << 20)
    wanted = {"filename": "net.py", "timeout": 60.0, "memory": 64 << 20}
    assert link.limits[-1] == wanted | usual
    link.answer(leaves(1))
    count = len(link.runs)
    running.set_limits(60.0, 64 << 20)
    assert len(link.runs) == count, "nothing changed"
    running.set_limits(60.0, 64 << 20, is_open=True)
    assert link.limits[-1] == wanted | usual | {"is_open": True}


def test_limits_set_before_the_first_run_hold_for_it(session, link):
    session.set_limits(3.0, 1 << 20)
    assert link.runs == []
    link.greet()
    session.load(Doc(source="a"))
    assert link.limits[0]["timeout"] == 3.0


def test_warnings_come_with_the_tape(running, link):
    link.answer(Tape(stderr="line 1: UserWarning: broadcast\n"))
    assert running.result.stderr == "line 1: UserWarning: broadcast\n"
    running.run_now()
    link.answer(Tape())
    assert running.result.stderr == ""


def test_what_is_told_of_no_run_is_dropped(settled, link):
    link.received.emit(messages.Printed(0, "out of nowhere"))
    link.received.emit(messages.Recorded(0, Tape(), 1.0))
    assert len(settled.result.tape.events) == 3
    assert settled.result.stdout == ""
