"""A module that counts, or keeps something else from step to step, trains as in a plain loop."""

import pytest
import torch
from torch import nn

from gradscribe.engine.protocol import setup
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import replies
from gradscribe.engine.train.user_module import attributes
from gradscribe.engine.train.views import compute
from tests.engine.train.plain import plain_losses

WARMING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)
        self.register_buffer("seen", torch.zeros(()))
        self.calls, self.log = 0, []

    def forward(self, x):
        self.calls += 1
        self.seen += 1
        self.log.append(self.calls % 3)
        return self.line(x) * (1 + (self.calls > 12) + self.seen / 50 + sum(self.log[-2:]) / 9)
"""


def begun(mode="reference", **given):
    model = {"name": "own", "source": WARMING}
    data = {"name": "moons", "n": 50}
    whole = {"data": data, "model": model, "batch": 8, "mode": mode, "validate_every": 0}
    run = TrainingRun(setup.parse({**whole, **given}))
    run.enter()
    replies.run_started(1, run, None)
    return run


@pytest.mark.parametrize("mode", ["reference", "captured"])
def test_a_module_that_counts_trains_as_in_a_plain_loop_whatever_is_looked_at(mode):
    run = begun(mode)
    for _ in range(5):
        run.advance(8)
        assert compute(run, "boundary", {}) is not None
        assert compute(run, "units", {}) is not None
    assert run.history.recent == plain_losses(WARMING, begun().batches, 40)
    assert run.mode == "reference"
    assert ("forward changes self." in run.why) == (mode == "captured")


def test_going_back_brings_what_a_module_keeps(monkeypatch):
    monkeypatch.setattr(checkpoints, "FIRST_STRIDE", 16)
    run = begun()
    run.advance(40)
    expected = run.history.recent
    for step in (21, 5, 0):
        run.rewind(step)
        assert run.program.model.calls == step
        assert len(run.program.model.log) == step
        run.advance(40 - step)
        assert run.history.recent == expected


def test_layers_in_a_list_and_tensors_of_a_graph_are_left_alone():
    net = nn.Linear(1, 1)
    net.layers, net.output = [nn.Linear(1, 1)], net(torch.ones(1, 1))
    net.long, net.count = [0] * (attributes.MOST_ITEMS + 1), 3
    kept = attributes.of_model(net)
    before = net.layers, net.output, net.long
    assert kept.modules == [{"in_features": 1, "out_features": 1, "count": 3}]
    net.count, net.new = 4, {"a": [1]}
    assert attributes.first_difference(kept, attributes.of_model(net)) == "count"
    kept.restore(net)
    assert net.count == 3
    assert not hasattr(net, "new")
    assert all(
        one is other for one, other in zip(before, (net.layers, net.output, net.long), strict=True)
    )


def test_an_output_that_is_kept_to_look_at_does_not_hinder_capture():
    source = WARMING.replace("self.calls += 1", "").replace("self.log.append(self.calls % 3)", "")
    source = source.replace("self.seen += 1", "self.last = self.line(x).detach()")
    run = begun("captured", model={"name": "own", "source": source})
    run.advance(20)
    assert (run.mode, run.why) == ("captured", "")


def test_going_back_to_the_first_step_keeps_that_it_was_validated():
    run = begun(validate_every=10)
    run.advance(30)
    expected = run.history.recent
    run.rewind(0)
    assert run.program.model.calls == 1
    run.advance(30)
    assert run.history.recent == expected


AVERAGING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)
        self.average, self.parts = torch.zeros(2), [torch.zeros(1), {"n": torch.zeros(())}]

    def forward(self, x):
        self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)
        self.parts[0] += 1
        self.parts[1]["n"] += 2
        scale = 1 + self.parts[0] / 50 + self.parts[1]["n"] / 90
        return self.line(x + self.average) * scale
"""


def test_tensors_that_are_changed_in_place_are_put_back_too(monkeypatch):
    monkeypatch.setattr(checkpoints, "FIRST_STRIDE", 16)
    run = begun(model={"name": "own", "source": AVERAGING})
    run.advance(40)
    expected = run.history.recent
    for step in (21, 5, 0):
        assert compute(run, "boundary", {}) is not None
        run.rewind(step)
        assert run.program.model.parts[1]["n"] == 2 * step
        run.advance(40 - step)
        assert run.history.recent == expected


def test_looking_leaves_what_somebody_else_holds_the_very_same_object():
    run = begun(model={"name": "own", "source": AVERAGING})
    parts = run.program.model.parts
    compute(run, "boundary", {})
    run.advance(1)
    assert run.program.model.parts is parts
    assert parts[0] == 1


def test_a_fork_has_its_own_of_what_a_module_keeps():
    run = begun(model={"name": "own", "source": AVERAGING})
    run.advance(10)
    run.leave()
    fork = run.fork(10, run.setup)
    fork.enter()
    fork.advance(5)
    fork.leave()
    assert run.program.model.parts[0] == 10
    assert fork.program.model.parts[0] == 15


def test_a_list_that_holds_itself_is_left_alone():
    net = nn.Linear(1, 1)
    net.knot = []
    net.knot.append(net.knot)
    net.deep = []
    for _ in range(5000):
        net.deep = [net.deep]
    kept = attributes.of_model(net)
    net.knot.append(1)
    kept.restore(net)
    assert net.knot == [net.knot]
    assert "deep" not in kept.modules[0]


def test_much_that_a_module_keeps_counts_among_what_checkpoints_may_hold(monkeypatch):
    monkeypatch.setattr(checkpoints, "FIRST_STRIDE", 2)
    monkeypatch.setattr(checkpoints, "BUDGET", 4 << 20)
    source = AVERAGING.replace("scale =", "self.last = torch.zeros(2 ** 18); scale =")
    run = begun(model={"name": "own", "source": source})
    run.advance(64)
    assert sum(one.kept.size for one in run.checkpoints.all) <= 4 << 20
