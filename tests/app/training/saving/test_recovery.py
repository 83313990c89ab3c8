"""The training room outlives its window: what is on the disk, who is told of it, and going on."""

import threading

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget

from gradscribe.app.files.unsaved.autosave import GAP_MS
from gradscribe.app.training.saving import recovery, session_file
from gradscribe.app.training.saving.recovery import LONG_RUN, MOST_CLOSED, MOST_NUMBERS
from gradscribe.app.training.session import engine_restart
from gradscribe.app.training.session.state import DEFAULT_SETUP
from gradscribe.engine.protocol import training as messages
from gradscribe.widgets.plots.step_series import StepSeries
from tests.app.training.windows import Window


@pytest.fixture
def where(tmp_path):
    return tmp_path / "sessions"


@pytest.fixture
def ground(qtbot):
    """Stand-in for the panel on which the strip of notices stands."""
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def open_window(ground, where):
    made = []

    def new():
        made.append(Window(where, ground))
        return made[-1]

    yield new
    for one in made:
        one.close()


def files(where):
    return sorted(one.name for one in where.iterdir() if one.suffix == ".training")


def is_kept(window, where, step):
    """Return whether the run on the disk stands at that step and can go on from there."""
    return any(run.step == step and run.data for room in kept_rooms(where) for run in room.runs)


def kept_rooms(where):
    return [session_file.decode(path.read_bytes()) for path in where.glob("*.training")]


def died_at(open_window, where, qtbot, steps=30):
    window = open_window()
    window.train(steps)
    qtbot.waitUntil(lambda: is_kept(window, where, steps))
    window.die()
    return window


def test_the_spread_over_time_comes_back(open_window, where, qtbot):
    window = open_window()
    window.train(0)
    window.session.controller.watch([messages.ViewRequest("spread", 0)])
    window.train(30)
    qtbot.waitUntil(lambda: len(window.session.run.spread) > 1)
    qtbot.waitUntil(lambda: is_kept(window, where, 30))
    lived = window.session.run.spread
    window.die()
    second = open_window()
    second.choose(0)
    again = second.session.run.spread
    assert again.last == lived.last
    pairs = list(zip(lived.arrays(), again.arrays(), strict=True))
    assert all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


def test_a_run_goes_on_bit_for_bit_after_its_window_died(open_window, where, qtbot):
    first = died_at(open_window, where, qtbot)
    second = open_window()
    assert ": Moons · MLP · SGD 0.1 after 30 steps" in second.told[0]
    second.choose(0)
    assert second.entered == [1]
    assert second.session.run.step == 30
    assert second.session.setup == first.session.setup
    for window in (first, second):
        window.session.controller.advance(20)
        window.link.work()
    one, other = (list(w.session.run.curve("loss").numbers()) for w in (first, second))
    assert len(one) == 50
    assert one == other


def test_weights_of_a_new_run_are_on_the_disk_before_its_steps_are_due_there(
    open_window, where, qtbot, monkeypatch
):
    monkeypatch.setattr(recovery, "VIEW_DELAY_MS", 1_000_000)
    # The engine is asked for them after the curves are saved.
    monkeypatch.setattr(engine_restart, "STANDING_MS", 3 * GAP_MS)
    window = open_window()
    window.train(30)
    qtbot.waitUntil(lambda: is_kept(window, where, 30))


def test_one_file_is_left_once_a_room_was_taken_over(open_window, where, qtbot):
    died_at(open_window, where, qtbot)
    second = open_window()
    second.choose(0)
    qtbot.waitUntil(lambda: len(files(where)) == 1)
    assert open_window().told == []


def test_a_room_that_is_taken_over_is_there_until_it_is_safe_elsewhere(
    open_window, where, qtbot, monkeypatch
):
    died_at(open_window, where, qtbot)
    second = open_window()
    tries = []

    def full(_what):
        tries.append(1)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(second.recovery._slot, "save", full)
    second.choose(0)
    qtbot.waitUntil(lambda: bool(tries))
    qtbot.waitUntil(lambda: not second.recovery._saver.is_writing)
    assert len(files(where)) == 1
    second.die()
    third = open_window()
    assert "after 30 steps" in third.told[0]


def test_a_big_room_is_read_beside_and_told_of_when_it_is(open_window, where, qtbot, monkeypatch):
    first = open_window()
    first.train(7)
    first.close()
    died_at(open_window, where, qtbot)
    monkeypatch.setattr(recovery, "MOST_IN_GUI_THREAD", 10)
    second = open_window()
    assert second.told == []
    second.recovery.offer_closed()
    qtbot.waitUntil(lambda: len(second.told) == 2)
    assert "after 30 steps" in second.told[0]
    assert "after 7 steps" in second.told[1]
    second.choose(0)
    assert second.session.run.step == 30


def test_a_window_that_closes_before_a_big_room_is_read_leaves_it(
    open_window, where, qtbot, monkeypatch
):
    died_at(open_window, where, qtbot)
    monkeypatch.setattr(recovery, "MOST_IN_GUI_THREAD", 10)
    open_window().close()
    third = open_window()
    qtbot.waitUntil(lambda: bool(third.told))
    assert "after 30 steps" in third.told[0]


def test_what_is_discarded_is_gone(open_window, where, qtbot):
    died_at(open_window, where, qtbot)
    second = open_window()
    second.choose(1)
    assert second.session.run is None
    second.close()
    assert files(where) == []


def test_what_is_discarded_by_a_slip_can_be_brought_back(open_window, where, qtbot):
    died_at(open_window, where, qtbot)
    second = open_window()
    second.choose(1)
    assert second.told[0].startswith("Discarded")
    second.choose(0)
    second.choose(0)
    assert second.session.run.step == 30


def test_who_does_not_answer_is_asked_again(open_window, where, qtbot):
    died_at(open_window, where, qtbot)
    second = open_window()
    second.die()
    assert len(open_window().told) == 1


def test_a_closed_room_is_told_of_when_the_room_is_entered(open_window, where):
    first = open_window()
    first.train(7)
    first.close()
    second = open_window()
    assert second.told == []
    second.recovery.offer_closed()
    assert "after 7 steps" in second.told[0]
    second.notices.drop(second.notices.notice.key)
    second.recovery.offer_closed()
    assert second.told == []


def test_what_the_room_opens_with_is_not_worth_a_question(open_window, where):
    first = open_window()
    first.train(30, DEFAULT_SETUP)
    first.close()
    assert files(where) == []


def test_a_long_run_is_worth_one(open_window, where):
    first = open_window()
    first.train(3, DEFAULT_SETUP)
    first.session.run.furthest = LONG_RUN
    first.close()
    assert len(files(where)) == 1


def test_what_was_saved_by_the_user_is_not_kept_twice(open_window, where, tmp_path):
    first = open_window()
    first.train()
    first.saving.save(tmp_path / "mine.gradscribe")
    first.close()
    assert files(where) == []
    second = open_window()
    second.train()
    second.saving.save(tmp_path / "mine.gradscribe")
    second.session.controller.advance(1)
    second.link.work()
    second.close()
    assert len(files(where)) == 1


def test_the_runs_that_a_kept_room_takes_the_place_of_are_kept_too(open_window, where, qtbot):
    died_at(open_window, where, qtbot)
    second = open_window()
    second.train(12)
    second.choose(0)
    assert second.session.run.step == 30
    second.close()
    third = open_window()
    third.recovery.offer_closed()
    assert sorted("after 12 steps" in text for text in third.told) == [False, True]


def test_of_closed_rooms_the_latest_few_are_kept(open_window, where):
    for steps in range(1, MOST_CLOSED + 3):
        window = open_window()
        window.train(steps)
        window.close()
    last = open_window()
    last.recovery.offer_closed()
    assert len(last.told) == MOST_CLOSED
    assert f"after {MOST_CLOSED + 2} steps" in last.told[0]


def test_a_file_that_is_spoilt_is_told_of_and_set_aside(open_window, where, qtbot):
    died_at(open_window, where, qtbot)
    for path in where.glob("*.training*"):
        if path.suffix != ".lock":
            path.write_bytes(path.read_bytes()[:-40])
    second = open_window()
    assert "cannot be read" in second.told[0]
    assert list(where.glob("*.bak"))


def test_a_disk_that_takes_nothing_is_told_of_once_and_offers_to_save(open_window, where, qtbot):
    window = open_window()
    where.rename(where.with_name("away"))
    where.write_text("in the way")
    window.train()
    qtbot.waitUntil(lambda: bool(window.told))
    assert window.told[0].startswith("Your training is not being saved: ")
    window.choose(0)
    assert window.asked == [1]
    where.unlink()
    where.with_name("away").rename(where)


def test_a_room_without_a_folder_is_kept_nowhere(ground):
    window = Window(None, ground)
    window.train()
    assert window.told == []
    window.close()


def test_what_was_going_on_since_is_cut_from_what_is_kept(open_window):
    window = open_window()
    window.train(30)
    window.link.send(messages.SaveRun(window.session.run.run_id))
    assert window.restorer.saved_run(window.session.run.run_id).step == 30
    window.session.controller.advance(5)
    window.link.work()
    row = window.recovery.look().runs[0]
    assert row.step == row.furthest == 30
    assert len(row.curves["loss"].numbers) == 30 * 4


def test_a_fork_of_which_nothing_is_known_yet_is_made_again(open_window, where, qtbot):
    first = died_at(open_window, where, qtbot, 30)
    second = open_window()
    second.choose(0)
    source = second.session.run
    qtbot.waitUntil(lambda: len(files(where)) == 1)
    second.session.controller.fork()
    keep = second.link.host.take
    second.link.host.take = lambda message: (
        None if isinstance(message, messages.SaveRun) else keep(message)
    )
    second.session.controller.advance(9)
    second.link.work()
    qtbot.waitUntil(lambda: len(kept_rooms(where)[0].runs) == 2)
    second.die()
    third = open_window()
    assert "from step 30 after 30 steps and 1 other run" in third.told[0]
    third.choose(0)
    fork = third.session.run
    assert (fork.alive, fork.step, third.session.runs[0].step) == (True, 30, source.step)
    assert fork.curve("loss").last == 30
    third.session.controller.advance(20)
    first.session.controller.advance(20)
    for window in (first, third):
        window.link.work()
    assert list(fork.curve("loss").numbers()) == list(first.session.run.curve("loss").numbers())


def test_a_room_that_dies_before_its_engine_is_there_loses_no_run(open_window, where, qtbot):
    first = open_window()
    first.train(30)
    first.session.controller.fork()
    first.session.controller.advance(5)
    first.link.work()
    qtbot.waitUntil(lambda: is_kept(first, where, 30) and is_kept(first, where, 35))
    first.die()
    second = open_window()
    second.link.host.take = lambda _message: None
    second.choose(0)
    qtbot.waitUntil(lambda: len(files(where)) == 1)
    second.die()
    third = open_window()
    third.choose(0)
    assert [(run.alive, run.step) for run in third.session.runs] == [(True, 30), (True, 35)]


def test_a_long_curve_is_thinned_and_its_numbers_stay_at_their_steps():
    curve = StepSeries()
    steps = np.arange(1, 5 * MOST_NUMBERS)
    curve.extend(steps, np.sqrt(steps))
    held = session_file.to_session_curve(curve, MOST_NUMBERS)
    found = np.frombuffer(held.steps, "<i8")
    assert MOST_NUMBERS / 2 <= found.size <= MOST_NUMBERS
    np.testing.assert_array_equal(
        np.frombuffer(held.numbers, "<f4"), np.sqrt(found).astype("float32")
    )


def test_rooms_that_cannot_be_kept_are_not_replaced(open_window, where, qtbot, monkeypatch):
    died_at(open_window, where, qtbot)
    second = open_window()
    second.train(12)

    def full(_what):
        raise OSError(28, "No space left on device")

    before = second.notices.notice.choices
    with monkeypatch.context() as patch:
        patch.setattr(second.recovery._sessions, "leave", full)
        second.choose(0)
    assert second.session.run.step == 12
    assert second.told[0] == "The current runs cannot be saved: the disk is full"
    assert [label for label, _ in second.notices.notice.choices] == [label for label, _ in before]
    second.choose(0)
    assert second.session.run.step == 30


def test_the_window_lives_while_its_room_is_left(open_window, where, qtbot, monkeypatch):
    died_at(open_window, where, qtbot)
    second = open_window()
    second.train(12)
    gate, threads, leave = threading.Event(), [], second.recovery._sessions.leave

    def slow(what):
        threads.append(threading.get_ident())
        gate.wait(20)
        leave(what)

    monkeypatch.setattr(second.recovery._sessions, "leave", slow)
    second.notices.notice.choices[0][1]()
    # It is not written yet, and the room is still this one.
    qtbot.waitUntil(lambda: bool(threads))
    assert threading.get_ident() not in threads
    assert second.session.run.step == 12
    gate.set()
    qtbot.waitUntil(lambda: second.session.run.step == 30)
    second.close()
    third = open_window()
    third.recovery.offer_closed()
    assert sorted("after 12 steps" in text for text in third.told) == [False, True]
