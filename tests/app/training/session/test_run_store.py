"""The runs there are, their colours, and the setups one can take back."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from gradscribe.app.training.session.run_store import KEPT_RUNS
from gradscribe.app.training.session.state import DEFAULT_SETUP, RunState
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from tests.app.training.fakes import LINES, array


def setup(lr):
    return Setup(optimizer=Part("adam", {"lr": lr}))


def test_each_run_has_a_color_of_its_own(begun, train_link):
    for _ in range(4):
        train_link.grow(1, 0, 30)
        train_link.begin(1)
    colors = [run.color for run in begun.runs]
    assert len(colors) == len(set(colors)) == 5


def test_a_run_that_hardly_began_is_not_kept(begun, train_link):
    train_link.grow(1, 0, 5)
    train_link.begin(1)
    assert len(begun.runs) == 1
    begun.controller.begin()
    assert len(begun.runs) == 1
    assert train_link.last(messages.DropRun).run_id == 1


def test_beginning_again_lays_the_run_before_aside(begun, train_link):
    train_link.grow(1, 0, 100)
    begun.controller.begin(play=True)
    assert [run.alive for run in begun.runs] == [False, True]
    assert begun.controller.plays


def test_old_runs_make_room(begun, train_link):
    for _ in range(KEPT_RUNS + 3):
        train_link.grow(begun.store.look.run_id, 0, 40)
        begun.controller.begin()
        train_link.begin(begun.store.look.run_id)
    assert len(begun.runs) <= KEPT_RUNS + 1
    assert begun.run in begun.runs


def test_picking_a_run_that_is_over_gives_its_setup(begun, train_link):
    train_link.grow(1, 0, 100)
    begun.controller.change(setup(0.5))
    train_link.begin(1, setup(0.5))
    over = begun.runs[0]
    assert over.setup == DEFAULT_SETUP
    begun.controller.select(over.run_id)
    assert begun.setup == DEFAULT_SETUP
    assert begun.run.run_id == 1
    begun.controller.undo()
    assert begun.setup == setup(0.5)


def test_a_new_change_forgets_what_was_taken_back(begun):
    begun.controller.change(setup(0.1))
    begun.controller.undo()
    begun.controller.change(setup(0.2))
    assert begun.store.history.redo(begun.setup) is None


def test_a_change_to_the_same_is_none(begun):
    begun.controller.change(DEFAULT_SETUP)
    assert begun.store.history.undo(begun.setup) is None


def test_points_that_are_drawn_make_no_runs_to_compare(begun, train_link):
    begun.controller.change(Setup(data=Part("points", {"points": [[0, 0, 1]]})))
    train_link.restart(1, begun.setup)
    for count in range(2, 6):
        train_link.grow(1, 0, 100)
        begun.controller.change(Setup(data=Part("points", {"points": [[0, 0, 1]] * count})))
        train_link.restart(1, begun.setup)
    assert len(begun.runs) == 1


def test_curves_on_other_data_are_hidden_and_those_on_more_of_the_same_are_not(begun, train_link):
    def go_on_with(**options):
        train_link.grow(1, 0, 100)
        begun.controller.change(Setup(data=Part("formula", options)))
        train_link.restart(1, Setup(data=Part("formula", options)))
        return begun.runs[-2]

    on_circle = go_on_with(formula="x")
    assert begun.store.look.hidden == {on_circle.run_id}
    on_line = go_on_with(formula="x", noise=0.5)
    begun.store.hide(on_circle.run_id, hidden=False)
    on_noisy_line = go_on_with(formula="x", noise=0.1)
    assert begun.store.look.hidden == frozenset()
    also_on_line = go_on_with(formula="sin(x)")
    every = (on_circle, on_line, on_noisy_line, also_on_line)
    assert begun.store.look.hidden == {one.run_id for one in every}


def test_hiding_twice_and_showing(begun):
    begun.store.hide(1, True)
    begun.store.hide(1, True)
    begun.store.hide(1, False)
    assert begun.store.look.hidden == frozenset()


def test_a_fresh_run_stands_at_step_0():
    run = RunState(1, Setup(), "run")
    assert (run.step, run.running, len(run.curve("loss"))) == (0, False, 0)
    assert run.curve("loss") is run.curve("loss")


@pytest.mark.parametrize("run_id", [0, 99, -3])
def test_what_is_not_there_cannot_be_found_dropped_or_driven(begun, run_id):
    assert begun.store.find(run_id) is None
    begun.controller.drop(run_id)
    begun.controller.select(run_id)
    assert begun.run.run_id == 1


def weigh(begun, train_link, value, index=3, value_before=0.25):
    """Show weights that are all the same, then set one of them by hand."""
    count = max(one.start + math.prod(one.shape) for one in begun.run.begun.parameters)
    flat = array(np.full(count, value_before), np.float64)
    train_link.received.emit(messages.ViewReply(begun.run.run_id, "weights", 0, {"flat": flat}))
    begun.controller.edit_weight(begun.run.begun.parameters[0].name, index, value)


def edits(train_link):
    return [
        (one.index, one.value) for one in train_link.sent if isinstance(one, messages.EditWeight)
    ]


def test_a_weight_set_by_hand_is_taken_back_and_made_again(begun, train_link):
    begun.controller.change(setup(0.1))
    weigh(begun, train_link, 2.5)
    begun.controller.undo()
    assert edits(train_link) == [(3, 2.5), (3, 0.25)]
    assert begun.setup == setup(0.1)
    begun.controller.redo()
    assert edits(train_link)[-1] == (3, 2.5)
    begun.controller.undo()
    begun.controller.undo()
    assert begun.setup == DEFAULT_SETUP


def test_a_weight_in_double_precision_is_put_back_to_the_last_bit(begun, train_link):
    weigh(begun, train_link, 2.5, value_before=0.1)
    begun.controller.undo()
    assert edits(train_link) == [(3, 2.5), (3, 0.1)]


def test_a_weight_of_a_step_that_was_left_is_not_put_back(begun, train_link):
    train_link.state(1, 100)
    begun.controller.change(setup(0.1))
    weigh(begun, train_link, 2.5)
    train_link.state(1, 40)
    begun.controller.undo()
    assert begun.setup == DEFAULT_SETUP
    assert len(edits(train_link)) == 1
    weigh(begun, train_link, 2.5)
    train_link.begin(1)
    assert begun.store.history.undo(begun.setup) is None


def test_a_weight_that_was_never_shown_leaves_nothing_to_take_back(begun):
    begun.controller.edit_weight("nobody", 0, 1.0)
    assert begun.store.history.undo(begun.setup) is None


def filled(lr, clip=0.0):
    """A setup as the engine has it: every option written out."""
    options = {"lr": lr, "betas": [0.9, 0.999], "eps": 1e-8}
    return replace(DEFAULT_SETUP, optimizer=Part("adam", options), clip_norm=clip)


def test_a_run_that_went_back_past_a_change_shows_what_holds_then(begun, train_link):
    changed = replace(DEFAULT_SETUP, optimizer=Part("adam", {"lr": 0.5}), clip_norm=1.0)
    begun.controller.change(changed)
    train_link.received.emit(messages.SetupChanged(1, 50, applied=("optimizer", "clip_norm")))
    said = []
    begun.said.connect(said.append)
    train_link.received.emit(messages.SetupRestored(1, 40, filled(0.5, 1.0), filled(0.03), LINES))
    assert begun.setup == begun.run.setup == DEFAULT_SETUP
    assert begun.run.name == "Two moons · Layers · Adam 0.03"
    assert said == ["As it was at step 40: lr 0.03, clip norm 0"]
    begun.controller.undo()
    assert begun.setup == changed


def test_another_optimizer_comes_back_with_all_its_options(begun, train_link):
    begun.controller.change(replace(DEFAULT_SETUP, optimizer=Part("sgd", {"lr": 0.5})))
    train_link.received.emit(messages.SetupChanged(1, 50, applied=("optimizer",)))
    was = replace(DEFAULT_SETUP, optimizer=Part("sgd", {"lr": 0.5, "momentum": 0.0}))
    train_link.received.emit(messages.SetupRestored(1, 40, was, filled(0.03), LINES))
    assert begun.setup.optimizer == filled(0.03).optimizer


def test_the_right_run_keeps_its_name_when_both_are_changed(begun, train_link):
    begun.controller.change(replace(DEFAULT_SETUP, mistakes=("no_zero_grad",)))
    begun.controller._send_setup()
    right = begun.store.find(begun.store.right_id)
    for run in (begun.run, right):
        train_link.begin(run.run_id, run.setup)
    begun.controller.change(replace(begun.setup, optimizer=Part("adam", {"lr": 0.5})))
    for run in (begun.run, right):
        now = replace(begun.setup, mistakes=run.setup.mistakes)
        changed = messages.SetupChanged(run.run_id, 50, ("optimizer",), setup=now)
        train_link.received.emit(changed)
    assert right.setup.mistakes == ()
    assert right.name == "Two moons · Layers · Adam 0.5"
    assert begun.run.name == "Two moons · Layers · Adam 0.5 · no zero grad"
