"""Sizes of parameters at a position equal those of plain torch."""

import math

import pytest
import torch

from gradscribe.playback.tape.parameters import parameter_rows

SOURCE = """
import torch
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
{before}for step in range(4):
    opt.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    {note}
    opt.step()
"""
NOTE = "seen.append([(p.detach().clone(), p.grad.clone()) for p in net.parameters()])"


@pytest.fixture(scope="module")
def plain():
    scope = {}
    exec(SOURCE.format(before="seen = []\n", note=NOTE), scope)
    last = [p.detach().clone() for p in scope["net"].parameters()]
    return scope["seen"], last


@pytest.fixture(scope="module")
def tape(recorded):
    return recorded(SOURCE.format(before="", note="pass"))


def test_norms_and_updates_are_those_of_plain_torch(tape, plain):
    seen, last = plain
    rows = parameter_rows(tape, len(tape.events))
    assert [row.name for row in rows] == [
        "net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias"
    ]  # fmt: skip
    for at, row in enumerate(rows):
        assert row.shape == tuple(last[at].shape)
        assert row.value == pytest.approx(last[at].double().norm().item(), rel=1e-12)
        assert row.gradient == pytest.approx(seen[-1][at][1].double().norm().item(), rel=1e-12)
        before = seen[-1][at][0].double()
        moved = (last[at].double() - before).norm() / before.norm()
        assert row.update == pytest.approx(moved.item(), rel=1e-12)
        course = [step[at][1].double().norm().item() for step in seen]
        assert row.course == pytest.approx(course, rel=1e-12)
        assert row.not_finite == 0


def test_before_backward_there_is_no_gradient_and_no_update(tape):
    first = next(at for at, event in enumerate(tape.events) if event.kind == "backward")
    rows = parameter_rows(tape, first)
    assert len(rows) == 4
    assert all(row.gradient is None and row.update is None for row in rows)
    assert parameter_rows(tape, 0) == ()


def test_numbers_that_are_not_finite_are_counted(recorded):
    tape = recorded(
        "import torch\n"
        "w = torch.nn.Parameter(torch.tensor([1.0, float('inf'), float('nan')]))\n"
        "(w * 2).sum().backward()\n"
    )
    (row,) = parameter_rows(tape, len(tape.events))
    assert row.not_finite == 2
    assert math.isnan(row.value)
    assert row.gradient == pytest.approx(math.sqrt(12))


def test_a_parameter_of_zeros_that_moved_has_an_infinite_update(recorded):
    tape = recorded(
        "import torch\n"
        "w = torch.nn.Parameter(torch.zeros(2))\n"
        "opt = torch.optim.SGD([w], lr=1.0)\n"
        "(w * 2).sum().backward()\nopt.step()\n"
    )
    (row,) = parameter_rows(tape, len(tape.events))
    assert row.update == math.inf


@pytest.mark.parametrize(
    "update",
    [
        "w.data.sub_(0.1 * w.grad)",
        "w.data -= 0.1 * w.grad",
        "w.data.copy_(w.data - 0.1 * w.grad)",
        "w.data = w.data - 0.1 * w.grad",
        "w.detach().sub_(0.1 * w.grad)",
        "torch.no_grad().__enter__()\nw.sub_(0.1 * w.grad)",
    ],
)
def test_an_update_through_data_is_the_parameters_own(recorded, update):
    tape = recorded(
        "import torch\n"
        "w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))\n"
        f"(w * w).sum().backward()\n{update}\n"
    )
    (row,) = parameter_rows(tape, len(tape.events))
    moved = (
        0.1 * torch.tensor([2.0, 4.0]).double().norm() / torch.tensor([1.0, 2.0]).double().norm()
    )
    assert row.update == pytest.approx(moved.item(), rel=1e-6)
    assert row.value == pytest.approx(0.8 * math.sqrt(5), rel=1e-6)
