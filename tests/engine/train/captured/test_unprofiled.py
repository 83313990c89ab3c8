"""Hooks that a run leaves out of an optimizer's calls have no listener, and no number changes."""

import pytest
import torch
from torch import nn
from torch.optim import optimizer as optim

from gradscribe.engine.protocol import setup
from gradscribe.engine.train.captured.unprofiled import unprofiled
from gradscribe.engine.train.runs.run import TrainingRun

KINDS = [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop]
STEPS = 30


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 1))


def trained(optimizer, net):
    x = torch.linspace(-1, 1, 40).view(20, 2)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
    return [p.detach().clone() for p in net.parameters()]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_those_of_the_plain_loop(kind):
    ours, theirs = model(), model()
    optimizer = kind(ours.parameters(), lr=0.01)
    with unprofiled(optimizer):
        found = trained(optimizer, ours)
    wanted = trained(kind(theirs.parameters(), lr=0.01), theirs)
    assert all(map(torch.equal, found, wanted))


def test_afterwards_the_optimizer_is_as_before():
    optimizer = torch.optim.SGD(model().parameters(), lr=0.1)
    before = dict(vars(optimizer))
    with unprofiled(optimizer):
        assert {"step", "zero_grad"} <= vars(optimizer).keys()
    assert vars(optimizer) == before


@pytest.mark.parametrize("where", ["own", "global"])
def test_hooks_are_called(where):
    net = model()
    optimizer, heard = torch.optim.SGD(net.parameters(), lr=0.1), []
    with unprofiled(optimizer):
        handles = [
            optimizer.register_step_pre_hook(lambda *_: heard.append("before"))
            if where == "own"
            else optim.register_optimizer_step_pre_hook(lambda *_: heard.append("before")),
            optimizer.register_step_post_hook(lambda *_: heard.append("after"))
            if where == "own"
            else optim.register_optimizer_step_post_hook(lambda *_: heard.append("after")),
        ]
        trained(optimizer, net)
    for handle in handles:
        handle.remove()
    assert heard == ["before", "after"] * STEPS


def test_a_profiler_sees_the_labels():
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with unprofiled(optimizer), torch.profiler.profile() as profile:
        trained(optimizer, net)
    labels = {event.key: event.count for event in profile.key_averages()}
    assert labels["Optimizer.step#SGD.step"] == STEPS
    assert labels["Optimizer.zero_grad#SGD.zero_grad"] == STEPS


def test_a_schedule_counts_the_steps(recwarn):
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    with unprofiled(optimizer):
        trained(optimizer, net)
    schedule.step()
    assert not recwarn.list
    assert optimizer.param_groups[0]["lr"] == 0.05


def test_gradients_set_to_zero_are_tensors():
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with unprofiled(optimizer):
        trained(optimizer, net)
        optimizer.zero_grad(set_to_none=False)
    assert all(torch.equal(p.grad, torch.zeros_like(p)) for p in net.parameters())


@pytest.mark.parametrize("name", ["sgd", "adam", "lbfgs"])
def test_a_run_hears_a_global_hook_at_each_step(name):
    run = TrainingRun(setup.parse({"data": "line", "model": "linear", "optimizer": name}))
    heard = []
    handle = optim.register_optimizer_step_post_hook(lambda *_: heard.append(1))
    try:
        run.advance(3)
    finally:
        handle.remove()
    assert len(heard) == 3
