"""A step in another order is a fork next to the run of the usual order (rows 54, 74, 81)."""

import copy

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from torch import nn

from gradscribe.app.training.session.controller import TrainController
from gradscribe.app.training.session.session import TrainSession
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.step_order import RIGHT_ORDER
from tests.app.training.saving.test_session_store import HostLink

SETUP = Setup(
    data=Part("sine", {"n": 40}),
    model=Part("mlp", {"layers": [5]}),
    optimizer=Part("sgd", {"lr": 0.1}),
    validate_every=0,
    mode="reference",
)
UNTIL = (messages.StopCondition("step", 40),)


@pytest.fixture
def session(qapp):
    link = HostLink()
    made = TrainSession(link)
    made.link = link
    made.store.setup = SETUP
    made.controller.begin()
    advance(made, 30)
    yield made
    made.close()


def advance(session, steps):
    session.controller.advance(steps)
    session.link.work()


def change(session, until=UNTIL, **what):
    """Change the step and train to step 40."""
    session.controller.change(replace(session.setup, **what))
    session.controller._send_setup()
    session.controller.pause()
    session.controller.play(until)
    session.link.work()


def losses(run, first):
    curve = run.curve("loss")
    return curve.numbers(curve.index(first), len(curve))


def plain(session, order, steps):
    """The losses of plain PyTorch from the state of step 30, with gradients of the step before."""
    run = session.link.host._runs[session.runs[0].run_id].run.fork(30)
    model = copy.deepcopy(run.program.model)
    for mine, theirs in zip(model.parameters(), run.program.model.parameters(), strict=True):
        mine.grad = theirs.grad.clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = run.program.tensor("x_train"), run.program.tensor("y_train")
    found = []
    for _ in range(steps):
        for name in order:
            match name:
                case "zero_grad":
                    optimizer.zero_grad()
                case "forward":
                    output = model(x)
                case "loss":
                    loss = nn.functional.mse_loss(output, y)
                case "backward":
                    loss.backward()
                case "step":
                    optimizer.step()
        found.append(loss.item())
    return np.float32(found)


@pytest.mark.parametrize(
    ("order", "name"),
    [
        (RIGHT_ORDER[1:], "no zero_grad from step 30"),
        ((*RIGHT_ORDER, "step"), "step twice from step 30"),
        (("zero_grad", "forward", "loss", "step", "backward"), "step before backward from step 30"),
    ],
)
@pytest.mark.checklist(54)
def test_both_runs_go_on_in_the_same_charts_with_the_losses_of_plain_torch(session, order, name):
    source = session.run
    change(session, order=order)
    fork = session.run
    assert fork is not source
    assert fork.name == name
    assert session.store.right_id == source.run_id
    assert not session.store.look.hidden & {fork.run_id, source.run_id}
    assert fork.step == source.step == 40
    np.testing.assert_array_equal(losses(fork, 31), plain(session, order, 10))
    np.testing.assert_array_equal(losses(source, 31), plain(session, RIGHT_ORDER, 10))


def test_another_change_forks_at_the_same_step_and_the_usual_order_returns_to_its_run(session):
    source = session.run
    change(session, order=RIGHT_ORDER[1:])
    first = session.run
    advance(session, 20)
    change(session, order=(*RIGHT_ORDER, "step"))
    second = session.run
    assert [run.branch for run in (first, second)] == [(source.run_id, 30)] * 2
    assert first in session.runs
    assert source.step == 60
    session.controller.change(replace(session.setup, order=RIGHT_ORDER))
    session.controller._send_setup()
    assert session.run is source
    assert session.setup == SETUP


def test_a_fork_that_hardly_began_goes_when_it_is_left(session):
    source = session.run
    change(session, order=RIGHT_ORDER[1:])
    fork = session.run
    session.controller.change(replace(session.setup, order=RIGHT_ORDER))
    session.controller._send_setup()
    assert session.runs == [source]
    assert fork.run_id not in session.link.host._runs


def test_undo_returns_to_the_run_of_the_usual_order(session):
    source = session.run
    change(session, order=RIGHT_ORDER[1:])
    session.controller.undo()
    session.controller._send_setup()
    assert session.run is source
    session.controller.redo()
    session.controller._send_setup()
    assert session.setup.order == RIGHT_ORDER[1:]
    assert session.run is not source


def test_an_order_that_raises_shows_torchs_error_and_the_right_run_goes_on(session):
    source = session.run
    change(session, order=("zero_grad", "forward", "loss", "backward", "backward", "step"))
    assert session.run.step == 30
    assert "a second time" in session.run.problem
    assert session.run.state.status == "failed"
    assert source.step > 300


def test_a_refused_change_leaves_the_run_where_it_was(session):
    source = session.run
    session.controller.change(replace(session.setup, optimizer=Part("adam")))
    session.controller._send_setup()
    session.controller.change(replace(session.setup, manual_update=True))
    session.controller._send_setup()
    place, why = session.store.error
    assert place == "manual_update"
    assert "sgd" in why
    assert session.run is source
    assert [run for run in session.runs if run.alive] == [source]
    session.controller.change(replace(session.setup, manual_update=False))
    session.controller._send_setup()
    assert session.store.error == ("", "")
    advance(session, 5)
    assert source.step == 35


@pytest.mark.checklist(234)
def test_an_update_by_hand_has_the_losses_of_the_optimizer(session):
    source = session.run
    change(session, manual_update=True)
    assert session.run.name == "update by hand from step 30"
    np.testing.assert_array_equal(losses(session.run, 1), losses(source, 1))


def test_a_change_of_the_step_together_with_others_begins_both_runs_anew(session):
    change(session, order=RIGHT_ORDER[1:], optimizer=Part("adam"))
    right = session.store.find(session.store.right_id)
    assert session.run.branch is None
    assert right.setup == session.setup.corrected()
    assert right.step == session.run.step == 40


def test_a_learning_rate_that_is_changed_in_a_fork_is_changed_in_both(session):
    source = session.run
    change(session, order=RIGHT_ORDER[1:])
    change(
        session, until=(messages.StopCondition("step", 50),), optimizer=Part("sgd", {"lr": 0.02})
    )
    assert session.run.setup.order == RIGHT_ORDER[1:]
    assert source.setup.optimizer.options["lr"] == 0.02
    assert source.setup.order == RIGHT_ORDER


def test_while_it_trains_the_fork_trains_on(session):
    assert isinstance(session.controller, TrainController)
    session.controller.play(())
    for _ in range(3):
        session.link.host.work()
    session.controller.change(replace(session.setup, order=RIGHT_ORDER[1:]))
    session.controller._send_setup()
    assert session.controller.plays
    at = session.run.branch[1]
    session.controller.pause()
    advance(session, 3)
    assert session.run.step > at >= 30


def test_a_frozen_layer_gets_no_gradient_and_does_not_move(session):
    """Row 80."""
    host = session.link.host._runs[session.run.run_id].run.program
    before = {name: p.detach().clone() for name, p in host.model.named_parameters()}
    session.controller.change(replace(session.setup, frozen=("0.",)))
    session.controller._send_setup()
    advance(session, 5)
    moved = {n: not torch.equal(p, before[n]) for n, p in host.model.named_parameters()}
    assert moved == {"0.weight": False, "0.bias": False, "2.weight": True, "2.bias": True}
    assert host.model[0].weight.grad is None
    session.controller.change(replace(session.setup, frozen=()))
    session.controller._send_setup()
    advance(session, 1)
    assert not torch.equal(host.model[0].weight, before["0.weight"])
