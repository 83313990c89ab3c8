"""A rewind throws no steps away, and input wins over replies that are on their way."""

import numpy as np
import pytest
from msgspec.structs import replace

from gradscribe.app.training.session.state import DEFAULT_SETUP
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part
from tests.app.training.fakes import other
from tests.app.training.test_live import advance, engine, live, qapp_instance, wait_for

__all__ = ["engine", "live", "qapp_instance"]


def with_rate(setup, lr):
    return replace(setup, optimizer=Part("adam", {"lr": lr}))


def go_back(live, qtbot, step):
    live.controller.rewind(step)
    wait_for(qtbot, lambda: live.run.step == step and live.run.curve("loss").last == step)


def test_another_rate_after_a_rewind_leaves_the_old_run_whole(live, qtbot):
    advance(live, qtbot, 120)
    old, curve = live.run, live.run.curve("loss").numbers().copy()
    grads = old.curve("grad:0.weight").numbers().copy()
    go_back(live, qtbot, 40)
    live.controller.change(with_rate(live.setup, 0.4))
    live.controller.play()
    wait_for(qtbot, lambda: live.run.begun is not None and live.run.step > 60)
    live.controller.pause()
    fork = live.run
    assert fork is not old
    assert live.runs == [old, fork]
    wait_for(qtbot, lambda: old.step == 120)
    np.testing.assert_array_equal(old.curve("loss").numbers(), curve)
    np.testing.assert_array_equal(old.curve("grad:0.weight").numbers(), grads)
    assert old.setup.optimizer.options["lr"] == 0.03
    assert fork.name == "lr 0.4 from step 40"
    np.testing.assert_array_equal(fork.curve("loss").numbers(0, 40), curve[:40])
    assert fork.curve("loss").numbers(40, 41) == curve[40]
    assert fork.curve("loss").numbers(41, 42) != curve[41]
    live.controller.select(old.run_id)
    advance(live, qtbot, 5)
    assert old.curve("loss").last == 125


def test_a_weight_set_by_hand_after_a_rewind_leaves_the_old_run_whole(live, qtbot):
    advance(live, qtbot, 60)
    old, curve = live.run, live.run.curve("loss").numbers().copy()
    go_back(live, qtbot, 20)
    live.controller.edit_weight("0.weight", 3, 1.5)
    advance(live, qtbot, 10)
    wait_for(qtbot, lambda: old.step == 60)
    np.testing.assert_array_equal(old.curve("loss").numbers(), curve)
    assert live.run.name == "0.weight[3] 1.5 from step 20"
    assert len(live.runs) == 2


def test_settings_that_begin_anew_after_a_rewind_leave_the_old_run_whole(live, qtbot):
    advance(live, qtbot, 60)
    old, curve = live.run, live.run.curve("loss").numbers().copy()
    go_back(live, qtbot, 3)
    live.controller.change(replace(live.setup, model=Part("linear")))
    wait_for(qtbot, lambda: live.run is not old and live.run.name.startswith("Moons · Linear"))
    wait_for(qtbot, lambda: live.run.step == 0 and old.step == 60)
    np.testing.assert_array_equal(old.curve("loss").numbers(), curve)
    assert old.alive


def test_a_rate_typed_while_a_rewind_is_on_its_way_holds_from_there(live, qtbot):
    advance(live, qtbot, 30)
    live.controller.change(with_rate(live.setup, 0.1))
    wait_for(qtbot, lambda: live.run.setup.optimizer.options.get("lr") == 0.1)
    advance(live, qtbot, 30)
    old, said = live.run, []
    live.said.connect(said.append)
    live.controller.rewind(20)
    live.controller.change(with_rate(live.setup, 0.7))
    live.controller.advance(2)
    wait_for(qtbot, lambda: live.run.step == 22 and old.step == 60)
    assert live.setup.optimizer.options["lr"] == 0.7
    assert live.run.setup == live.setup
    assert live.run.curve("lr").latest == pytest.approx(0.7)
    assert old.setup.optimizer.options["lr"] == 0.1
    assert all(words and not words.endswith(": ") for words in said)
    assert any("lr 0.7" in words for words in said)


def test_another_setting_typed_while_a_rewind_is_on_its_way_joins_those_of_the_step(live, qtbot):
    advance(live, qtbot, 30)
    live.controller.change(with_rate(live.setup, 0.1))
    wait_for(qtbot, lambda: live.run.setup.optimizer.options.get("lr") == 0.1)
    advance(live, qtbot, 30)
    old = live.run
    live.controller.rewind(20)
    live.controller.change(replace(live.setup, batch=8))
    wait_for(qtbot, lambda: live.run.setup.batch == 8 and old.step == 60)
    assert live.setup == live.run.setup
    assert live.setup.optimizer.options["lr"] == 0.03
    live.controller.advance(1)
    wait_for(qtbot, lambda: live.run.step == 21)
    assert live.run.curve("lr").latest == pytest.approx(0.03)


def test_training_again_without_a_change_forks_nothing(live, qtbot):
    advance(live, qtbot, 60)
    curve = live.run.curve("loss").numbers().copy()
    go_back(live, qtbot, 20)
    assert live.run.whole("loss").last == 60
    live.controller.play([messages.StopCondition("step", 80)])
    wait_for(qtbot, lambda: live.run.step == 80 and not live.run.running)
    assert len(live.runs) == 1
    np.testing.assert_array_equal(live.run.curve("loss").numbers(0, 60), curve)
    assert not live.run.ahead


def test_training_past_a_change_that_a_rewind_took_back_forks(live, qtbot):
    advance(live, qtbot, 40)
    live.controller.change(with_rate(live.setup, 0.3))
    wait_for(qtbot, lambda: live.run.setup.optimizer.options.get("lr") == 0.3)
    advance(live, qtbot, 20)
    old, curve = live.run, live.run.curve("loss").numbers().copy()
    go_back(live, qtbot, 30)
    advance(live, qtbot, 10)
    assert len(live.runs) == 1
    live.controller.advance(10)
    wait_for(qtbot, lambda: live.run.step == 50 and old.step == 60)
    np.testing.assert_array_equal(old.curve("loss").numbers(), curve)
    assert live.run.curve("lr").latest == pytest.approx(0.03)
    assert live.run.name == "lr 0.03 from step 40"


def test_every_step_up_to_the_furthest_comes_back_without_training(live, qtbot):
    advance(live, qtbot, 60)
    curves = {name: one.numbers().copy() for name, one in live.run.series.items()}
    go_back(live, qtbot, 20)
    go_back(live, qtbot, 45)
    live.controller.go_to_furthest()
    wait_for(qtbot, lambda: live.run.step == 60 and not live.run.ahead)
    assert live.run.series.keys() == curves.keys()
    for name, numbers in curves.items():
        np.testing.assert_array_equal(live.run.curve(name).numbers(), numbers)


def test_a_change_while_the_same_steps_are_made_again_forks_and_trains_on(live, qtbot):
    advance(live, qtbot, 400)
    old, curve = live.run, live.run.curve("loss").numbers().copy()
    go_back(live, qtbot, 20)
    live.controller.set_rate(30.0)
    live.controller.play()
    wait_for(qtbot, lambda: live.run.step > 25)
    live.controller.change(with_rate(live.setup, 0.3))
    wait_for(qtbot, lambda: live.run is not old and live.run.begun is not None)
    fork, at = live.run, live.run.branch[1]
    assert 25 < at < 400
    wait_for(qtbot, lambda: fork.step > at + 2 and old.step == 400)
    assert live.controller.plays
    live.controller.pause()
    np.testing.assert_array_equal(old.curve("loss").numbers(), curve)


def test_a_step_is_taped_in_its_middle_without_moving_the_run(live, qtbot):
    advance(live, qtbot, 5)
    for count in range(1, 4):
        live.controller.next_event()
        wait_for(qtbot, lambda count=count: len(live.run.happened) == count)
    with qtbot.waitSignal(live.taped, timeout=60_000) as told:
        live.controller.ask_tape()
    message = told.args[0]
    assert (message.step, message.done) == (5, 3)
    assert live.run.step == 5
    assert len(live.run.happened) == 3


def test_looking_around_after_a_fork_leaves_no_empty_forks(live, qtbot):
    advance(live, qtbot, 60)
    old, curve = live.run, live.run.curve("loss").numbers().copy()
    for step, lr in ((40, 0.2), (30, 0.3), (20, 0.4)):
        live.controller.rewind(step)
        live.controller.change(with_rate(live.setup, lr))
        wait_for(qtbot, lambda lr=lr: live.run.setup.optimizer.options.get("lr") == lr)
    wait_for(qtbot, lambda: old.step == 60)
    assert [run.name for run in live.runs[1:]] == ["lr 0.4 from step 20"]
    assert live.run.branch == (old.run_id, 20)
    advance(live, qtbot, 5)
    np.testing.assert_array_equal(live.run.curve("loss").numbers(0, 20), curve[:20])
    np.testing.assert_array_equal(old.curve("loss").numbers(), curve)


def test_a_fork_that_begins_anew_leaves_no_copy_of_its_source(live, qtbot):
    advance(live, qtbot, 60)
    old = live.run
    go_back(live, qtbot, 40)
    live.controller.change(replace(live.setup, model=Part("linear")))
    wait_for(qtbot, lambda: live.run.name.startswith("Moons · Linear") and live.run.step == 0)
    assert live.runs == [old, live.run]


def test_a_run_with_a_mistake_forks_with_its_right_run(live, qtbot):
    live.controller.change(replace(live.setup, mistakes=("no_zero_grad",)))
    live.controller._send_setup()
    live.controller.pause()
    wait_for(qtbot, lambda: live.run.state is not None and live.run.state.status == "paused")
    wait_for(qtbot, lambda: live.store.find(live.store.right_id).begun is not None)
    advance(live, qtbot, 60)
    both = live.run, live.store.find(live.store.right_id)
    go_back(live, qtbot, live.run.step - 40)
    at = live.run.step
    live.controller.change(with_rate(live.setup, 0.2))
    live.controller.advance(10)
    wait_for(qtbot, lambda: live.run not in both and live.run.step == at + 10)
    right = live.store.find(live.store.right_id)
    wait_for(qtbot, lambda: right.curve("loss").last == at + 10)
    assert right not in both
    assert (right.setup.mistakes, right.setup.optimizer.options["lr"]) == ((), 0.2)
    wait_for(qtbot, lambda: all(run.curve("loss").last == at + 40 for run in both))


# With an engine that replies when it is told to


def test_steps_back_are_counted_from_where_a_rewind_leads(begun, train_link):
    train_link.grow(1, 0, 41)
    train_link.state(1, 40)
    for _ in range(3):
        begun.controller.back()
    assert [m.step for m in train_link.sent if isinstance(m, messages.Rewind)] == [39, 38, 37]
    train_link.grow(1, 40, 40, after=39)
    train_link.state(1, 39)
    begun.controller.back()
    assert train_link.last(messages.Rewind).step == 36


def test_a_forgotten_run_comes_back_by_undo_with_all_it_was(begun, train_link):
    train_link.grow(1, 0, 100)
    train_link.state(1, 60)
    begun.controller.fork()
    said = []
    begun.said.connect(said.append)
    first, fork = begun.runs
    begun.controller.drop(first.run_id)
    assert begun.runs == [fork]
    assert train_link.last(messages.DropRun) is None
    assert said == [f"Forgot “{first.name}”; Undo brings it back"]
    begun.controller.undo()
    assert begun.runs == [first, fork]
    assert first.alive
    begun.controller.redo()
    assert begun.runs == [fork]
    begun.controller.undo()
    begun.controller.select(first.run_id)
    assert begun.run is first


def test_only_the_last_runs_that_were_forgotten_are_held_by_the_engine(begun, train_link):
    train_link.state(1, 60)
    for _ in range(6):
        begun.controller.fork()
        train_link.begin(begun.run.run_id, DEFAULT_SETUP, parent=1, parent_step=60)
        train_link.state(begun.run.run_id, 60)
    ids = [run.run_id for run in begun.runs]
    for run_id in ids[:-1]:
        begun.controller.drop(run_id)
    dropped = [m.run_id for m in train_link.sent if isinstance(m, messages.DropRun)]
    assert dropped == ids[:2]
    for _ in range(6):
        begun.controller.undo()
    assert [run.run_id for run in begun.runs] == ids[2:]


def test_what_is_typed_is_sent_before_what_is_asked_for_next(begun, train_link):
    train_link.state(1, 60)
    train_link.sent.clear()
    begun.controller.change(other(begun, 0.5))
    begun.controller.play()
    assert [type(m) for m in train_link.sent[:2]] == [messages.ChangeSetup, messages.Play]
    begun.controller.change(other(begun, 0.6))
    begun.controller.rewind(10)
    assert [type(m) for m in train_link.sent[2:]] == [messages.ChangeSetup, messages.Rewind]


def test_a_change_that_is_taken_back_before_the_reply_is_taken_back_in_the_engine(
    begun, train_link
):
    begun.controller.change(other(begun, 0.5))
    begun.controller._send_setup()
    begun.controller.undo()
    begun.controller._send_setup()
    sent = [m for m in train_link.sent if isinstance(m, messages.ChangeSetup)]
    assert [(m.base, m.setup) for m in sent] == [
        (DEFAULT_SETUP, other(begun, 0.5)),
        (other(begun, 0.5), DEFAULT_SETUP),
    ]


def test_a_refused_setting_is_asked_for_again_with_the_next(begun, train_link):
    from tests.app.training.fakes import problem

    begun.controller.change(other(begun, -1.0))
    begun.controller._send_setup()
    train_link.received.emit(problem(1, "lr must not be negative", "optimizer.lr"))
    begun.controller.change(replace(begun.setup, batch=8))
    begun.controller._send_setup()
    asked = train_link.last(messages.ChangeSetup)
    assert asked.base == DEFAULT_SETUP
    assert asked.setup.optimizer.options["lr"] == -1.0


def test_a_reply_for_a_run_that_was_left_changes_that_run_alone(begun, train_link):
    train_link.state(1, 60)
    begun.controller.fork()
    fork = begun.run
    train_link.begin(fork.run_id, DEFAULT_SETUP, parent=1, parent_step=60)
    begun.controller.change(other(begun, 0.5))
    begun.controller._send_setup()
    asked = train_link.last(messages.ChangeSetup)
    begun.controller.select(1)
    train_link.received.emit(
        messages.SetupChanged(fork.run_id, 60, ("optimizer",), setup=asked.setup, base=asked.base)
    )
    assert fork.setup == other(begun, 0.5)
    assert begun.setup == DEFAULT_SETUP


def test_a_run_that_takes_another_way_by_itself_leaves_its_curve_in_the_list(begun, train_link):
    train_link.grow(1, 0, 41)
    train_link.state(1, 40)
    train_link.grow(1, 21, 21, after=20)
    train_link.state(1, 20)
    strange = messages.SeriesChunk
    from tests.app.training.fakes import array, series

    other_way = series(1, 21, 31)
    values = other_way.values.array() * 2
    train_link.received.emit(strange(1, other_way.steps, array(values, "<f8")))
    kept, run = begun.runs
    assert run is begun.run
    assert (kept.alive, kept.curve("loss").last) == (False, 40)
    np.testing.assert_allclose(kept.curve("loss").numbers(), np.exp(-np.arange(1, 41) / 100))
    assert (run.curve("loss").last, run.furthest) == (30, 30)


def test_a_run_of_few_steps_after_a_rewind_is_no_short_run(begun, train_link):
    train_link.grow(1, 0, 100)
    train_link.state(1, 99)
    train_link.grow(1, 4, 4, after=3)
    train_link.state(1, 3)
    begun.controller.begin()
    assert begun.runs[0].whole("loss").last == 99
