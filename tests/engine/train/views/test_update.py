"""The update of the next step: the formula gives torch's own weights to the bit (row 117)."""

import copy

import numpy as np
import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.playback.explain.update import number, update_lines

BASE = {
    "data": {"name": "sine", "n": 40},
    "model": {"name": "mlp", "layers": [9, 5], "dropout": 0.2},
    "batch": 8,
}
SGD = {"name": "sgd", "lr": 0.07}
ADAM = {"name": "adam", "lr": 0.02}
OPTIMIZERS = [
    SGD,
    {**SGD, "weight_decay": 0.1},
    {**SGD, "momentum": 0.9},
    {**SGD, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01},
    {**SGD, "momentum": 0.8, "nesterov": True},
    {**SGD, "maximize": True},
    ADAM,
    {**ADAM, "betas": [0.7, 0.9], "eps": 1e-4},
    {**ADAM, "weight_decay": 0.1},
    {**ADAM, "weight_decay": 0.1, "decoupled_weight_decay": True},
    {**ADAM, "amsgrad": True},
    {**ADAM, "maximize": True},
    "adamw",
]


def made(given, steps):
    run = TrainingRun(setup.parse({**BASE, **given}))
    run.advance(steps)
    view = views.compute(run, "update", {})
    return run, {n: a.array() for n, a in view.arrays.items()}, view.facts


def flat(run):
    return np.concatenate(
        [p.detach().double().numpy().ravel() for p in run.program.model.parameters()]
    )


@pytest.mark.parametrize("steps", [0, 7])
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_formula_and_arithmetic_give_the_weights_that_the_step_makes(optimizer, steps):
    run, arrays, facts = made({"optimizer": optimizer}, steps)
    before = flat(run)
    np.testing.assert_array_equal(arrays["before"], before)
    run.advance(1)
    np.testing.assert_array_equal(arrays["after"], flat(run))
    np.testing.assert_array_equal(arrays["formula"], arrays["after"])
    assert facts["equal"] == facts["weights"] == len(before)
    if facts["kind"] == 2.0:
        assert facts["t"] == steps + 1
    for at in range(0, len(before), 7):
        numbers = {name: float(array[at]) for name, array in arrays.items()}
        lines = update_lines(numbers, facts)
        written = float(lines[-1].result.replace("−", "-"))
        assert written == pytest.approx(numbers["after"], rel=3e-6, abs=2e-7)


def test_looking_at_the_update_changes_nothing_of_the_run():
    looked, other = (TrainingRun(setup.parse({**BASE, "optimizer": ADAM})) for _ in range(2))
    looked.enter()
    for _ in range(5):
        looked.advance(1)
        views.compute(looked, "update", {})
    looked.leave()
    with other.entered():
        other.advance(5)
    np.testing.assert_array_equal(flat(looked), flat(other))
    assert looked.step == 5
    state, right = looked.program.optimizer.state_dict(), other.program.optimizer.state_dict()
    assert str(state) == str(right)
    for run in (looked, other):
        with run.entered():
            run.advance(3)
    np.testing.assert_array_equal(flat(looked), flat(other))


def test_an_update_by_hand_is_checked_too():
    run, arrays, facts = made({"optimizer": SGD, "manual_update": True}, 3)
    assert facts["equal"] == facts["weights"] == len(flat(run))
    run.advance(1)
    np.testing.assert_array_equal(arrays["formula"], flat(run))


@pytest.mark.parametrize(
    "order", [["zero_grad", "forward", "loss", "step"], ["forward", "loss", "backward"]]
)
def test_without_gradients_or_without_a_step_no_weight_is_updated(order):
    _, arrays, facts = made({"optimizer": SGD, "order": order}, 2)
    assert facts["weights"] == 0
    assert np.isnan(arrays["grad"]).all()
    numbers = {name: float(array[0]) for name, array in arrays.items()}
    assert update_lines(numbers, facts) == []


def test_an_optimizer_without_a_formula_shows_its_numbers_alone():
    _, arrays, facts = made({"optimizer": "rmsprop"}, 2)
    assert facts["kind"] == 0
    assert np.isnan(arrays["formula"]).all()
    assert (arrays["after"] != arrays["before"]).any()
    assert update_lines({"grad": 1.0, "before": 2.0}, facts) == []


def test_the_mistake_that_retains_graphs_retains_none_for_a_look():
    run, _, _ = made({"optimizer": SGD, "mistakes": ["keep_graphs"]}, 3)
    assert len(run.program.names["kept"]) == 3


def test_the_update_is_sent_while_the_run_is_paused_and_not_while_it_plays():
    sent = []
    host = TrainingHost(sent.append)
    host.take(requests.Train(1, setup.parse({**BASE, "optimizer": SGD})))
    host.take(requests.WatchViews(1, (requests.ViewRequest("update", 1),)))
    host.take(requests.Play(1, until=(requests.StopCondition("step", 300),)))
    while host.work() is not None:
        pass
    steps = [m.step for m in sent if getattr(m, "kind", "") == "update"]
    assert steps == [0, 300]


def test_plain_arithmetic_is_written_with_the_digits_of_float32():
    w, grad = torch.tensor(0.3), torch.tensor(-0.123456789)
    optimizer = torch.optim.SGD([w.requires_grad_()], lr=0.1)
    w.grad = copy.deepcopy(grad)
    before = w.item()
    optimizer.step()
    (line,) = update_lines({"before": before, "grad": grad.item()}, {"kind": 1.0, "lr": 0.1})
    assert line.formula == "w = w − lr · grad"
    assert line.numbers == "0.3 − 0.1 · (−0.1234568)"
    assert line.result == number(w.item()) == "0.3123457"
