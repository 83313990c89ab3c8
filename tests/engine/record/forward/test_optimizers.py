"""Steps and resets: one event each, with the parameters' numbers before and after."""

import numpy as np
import pytest
import torch

from gradscribe.engine.run.run import record
from tests.engine.mirror import mirror, numbers, ops


def values(tape):
    return {v.id: v for v in tape.values}


def test_a_step_tells_each_parameter_before_and_after():
    tape = mirror(
        "w = param([1.0, 2.0])\nopt = optim.SGD([w], lr=0.1)\n(w**2).sum().backward()\nopt.step()"
    )
    (step,) = tape.steps
    (change,) = step.changes
    known = values(tape)
    assert (step.optimizer, step.lr, step.line) == ("SGD", 0.1, 4)
    w = torch.tensor([1.0, 2.0])
    np.testing.assert_array_equal(numbers(tape, known[change.before].snapshot), w)
    np.testing.assert_array_equal(numbers(tape, known[change.after].snapshot), w - 0.1 * (2 * w))
    assert ops(tape) == ["pow", "sum"]


def test_a_parameter_without_a_gradient_does_not_change():
    tape = mirror(
        "a, b = param(1.0), param(1.0)\nopt = optim.SGD([a, b], lr=1.0)\n"
        "(a * 2).backward()\nopt.step()"
    )
    assert len(tape.steps[0].changes) == 1


@pytest.mark.parametrize(
    "name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Rprop", "Adadelta", "NAdam", "Adamax"]
)
def test_every_optimizer_steps_as_it_does_unwatched(name):
    tape = mirror(
        f"w = param([1.0, -2.0])\nopt = optim.{name}([w], lr=0.1)\n"
        "for _ in range(3):\n    opt.zero_grad()\n    (w**2).sum().backward()\n    opt.step()"
    )
    assert [len(s.changes) for s in tape.steps] == [1, 1, 1]


def test_a_fused_step_which_counts_no_version_is_seen():
    tape = mirror(
        "w = param([1.0, 2.0])\nopt = optim.Adam([w], lr=0.1, fused=True)\n"
        "(w**2).sum().backward()\nopt.step()"
    )
    assert len(tape.steps[0].changes) == 1


@pytest.mark.parametrize(
    ("reset", "to_none"),
    [
        ("opt.zero_grad()", True),
        ("opt.zero_grad(set_to_none=False)", False),
        ("opt.zero_grad(torch.ones(1))", True),
        ("w.grad = None", True),
        ("w.grad.zero_()", False),
    ],
)
def test_every_way_to_clear_a_gradient_is_a_reset(reset, to_none):
    tape = mirror(f"w = param(1.0)\nopt = optim.SGD([w])\n(w * 2).backward()\n{reset}")
    (cleared,) = tape.resets
    assert cleared.to_none is to_none
    assert values(tape)[cleared.leaves[0]].name == "w"
    assert tape.events[-1].kind == "zero_grad"
    assert tape.events[-1].line == 4


def test_a_modules_own_zero_grad():
    tape = mirror("m = nn.Linear(1, 1)\nm(torch.ones(1, 1)).backward()\nm.zero_grad()")
    assert len(tape.resets[0].leaves) == 2


def test_a_step_tells_all_that_its_optimizer_holds_with_and_without_a_gradient():
    tape = mirror(
        "a, b, c = param(1.0), param(1.0), param(1.0)\n"
        "first, second = optim.SGD([a, b], lr=1.0), optim.SGD([c], lr=1.0)\n"
        "for _ in range(2):\n    (a * c).backward()\n    first.step()\n    second.step()"
    )
    tensor = {v.name: v.tensor for v in tape.values if v.is_leaf}
    held = [tape.held[step.held] for step in tape.steps]
    assert held == [(tensor["a"], tensor["b"]), (tensor["c"],)] * 2
    assert len(tape.held) == 2


MAKES = {
    "Adam": "optim.Adam(net.parameters(), lr=0.1)",
    "momentum": "optim.SGD(net.parameters(), lr=0.1, momentum=0.9)",
    "RMSprop": "optim.RMSprop(net.parameters(), lr=0.01)",
    "plain": "optim.SGD(net.parameters(), lr=0.1)",
}
TRAINED = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
opt = {}
x = torch.linspace(-1, 1, 8).view(4, 2)
for step in range(3):
    opt.zero_grad()
    (net(x) ** 2).mean().backward()
    opt.step()
"""


@pytest.mark.parametrize("name", MAKES)
def test_what_an_optimizer_keeps_is_told_at_each_step(name):
    program = TRAINED.format(MAKES[name])
    tape = mirror(program)
    seen = [[numbers(tape, kept).copy() for _, _, kept in step.memory] for step in tape.steps]
    names = {"torch": torch, "nn": torch.nn, "optim": torch.optim}
    wanted = []
    body = program.replace("    opt.step()\n", "    opt.step()\n    note()\n")

    def note():
        opt = names["opt"]
        states = [opt.state[p] for p in names["net"].parameters()]
        wanted.append(
            [t.clone().numpy() for kept in states for t in kept.values() if t is not None]
        )

    names["note"] = note
    exec(body, names)
    assert [len(one) for one in seen] == [len(one) for one in wanted]
    for got, true in zip(seen, wanted, strict=True):
        for one, other in zip(got, true, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_big_memory_is_left_out():
    tape = record(
        "w = torch.zeros(5000, requires_grad=True)\nopt = optim.Adam([w], lr=0.1)\n"
        "w.sum().backward()\nopt.step()"
    )
    assert [name for _, name, _ in tape.steps[0].memory] == ["step"]


def test_a_model_that_is_an_average_of_others_is_recorded_when_it_is_called():
    tape = mirror(
        "from torch.optim.swa_utils import AveragedModel, update_bn\n"
        "net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))\n"
        "mean = AveragedModel(net)\n"
        "mean.update_parameters(net)\n"
        "update_bn([torch.ones(4, 2)], mean)\n"
        "y = mean(torch.ones(4, 2)).sum()\n"
        "y.backward()\n"
    )
    last = [(op.op, op.scope) for op in tape.ops if op.place.line == 6]
    assert last == [
        ("linear", "mean.module.0"),
        ("add_", "mean.module.1"),
        ("batch_norm", "mean.module.1"),
        ("sum", ""),
    ]
    assert [op.op for op in tape.ops if op.place.line == 5][-3:] == ["linear", "add_", "batch_norm"]
    assert not [op for op in tape.ops if op.place.line == 4]
