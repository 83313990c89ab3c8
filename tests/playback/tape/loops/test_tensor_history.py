"""Histories of tensors: every number is the one that plain torch computes in that step."""

import pytest
import torch
from torch import nn

from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops.steps import steps_of
from gradscribe.playback.tape.loops.tensor_history import tensor_history
from tests.programs import uneven

FIT = """\
torch.manual_seed(0)
x = torch.linspace(-1, 1, 8).unsqueeze(1)
net = nn.Linear(1, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(7):
    opt.zero_grad()
    hidden = net(x)
    loss = (hidden * 2 - 1).pow(2).mean()
    loss.backward()
    opt.step()
"""
SCALAR = """\
w = torch.tensor(5.0, requires_grad=True)
pair = torch.tensor([1.0, 2.0], requires_grad=True)
for i in range(6):
    loss = (w - 3) ** 2 + (pair * pair).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        pair -= 0.1 * pair.grad
    w.grad = None
    pair.grad = None
"""
UNROLLED = """\
W = torch.tensor([[0.5, 1.0], [-1.0, 0.25]], requires_grad=True)
h = torch.ones(2)
for t in range(5):
    h = torch.tanh(W @ h)
    energy = (h ** 2).sum()
energy.backward()
"""
UNEVEN = uneven(9)


def history_of(tape, number):
    reading = tensor_history(index_of(tape), number)
    try:
        while True:
            next(reading)
    except StopIteration as end:
        return end.value


def named(tape, name):
    return next(value.id for value in tape.values if value.name == name)


def by_name(history):
    return {one.name: one for one in history.series}


def fit():
    torch.manual_seed(0)
    x = torch.linspace(-1, 1, 8).unsqueeze(1)
    net = nn.Linear(1, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    seen = {"weight": [], "grad": [], "hidden": [], "to hidden": []}
    for _ in range(7):
        opt.zero_grad()
        hidden = net(x)
        hidden.retain_grad()
        (hidden * 2 - 1).pow(2).mean().backward()
        opt.step()
        seen["weight"].append(net.weight.norm().item())
        seen["grad"].append(net.weight.grad.norm().item())
        seen["hidden"].append(hidden.norm().item())
        seen["to hidden"].append(hidden.grad.norm().item())
    return seen


def test_a_parameter_has_its_value_and_gradient_after_each_step(recorded):
    tape = recorded(FIT)
    found = by_name(history_of(tape, named(tape, "net.weight")))
    expected = fit()
    assert found["‖net.weight‖"].numbers == pytest.approx(expected["weight"], rel=1e-6)
    assert found["‖net.weight.grad‖"].numbers == pytest.approx(expected["grad"], rel=1e-6)


def test_a_result_has_the_value_and_gradient_of_each_step(recorded):
    tape = recorded(FIT)
    found = by_name(history_of(tape, named(tape, "hidden")))
    expected = fit()
    assert found["‖hidden‖"].numbers == pytest.approx(expected["hidden"], rel=1e-6)
    assert found["‖∂loss/∂hidden‖"].numbers == pytest.approx(expected["to hidden"], rel=1e-6)


def test_few_elements_have_a_curve_each_with_the_exact_numbers(recorded):
    tape = recorded(SCALAR)
    w = torch.tensor(5.0, requires_grad=True)
    pair = torch.tensor([1.0, 2.0], requires_grad=True)
    values, grads, firsts = [], [], []
    for _ in range(6):
        ((w - 3) ** 2 + (pair * pair).sum()).backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            pair -= 0.1 * pair.grad
        values.append(w.item())
        grads.append(w.grad.item())
        firsts.append(pair[0].item())
        w.grad = pair.grad = None
    found = by_name(history_of(tape, named(tape, "w")))
    assert found["w"].numbers == values
    assert found["w.grad"].numbers == grads
    pairs = by_name(history_of(tape, named(tape, "pair")))
    assert list(pairs) == ["pair[0]", "pair[1]", "pair.grad[0]", "pair.grad[1]"]
    assert pairs["pair[0]"].numbers == firsts


def test_each_number_is_at_its_step(recorded):
    tape = recorded(SCALAR)
    steps = steps_of(tape)
    for name in ("w", "loss"):
        for one in history_of(tape, named(tape, name)).series:
            assert [steps.number_at(position) for position in one.positions] == list(range(1, 7))


def test_the_history_is_the_same_from_every_step(recorded):
    tape = recorded(FIT)
    losses = [value.id for value in tape.values if value.place.line == 8 and value.shape == ()]
    histories = [history_of(tape, number) for number in losses]
    assert len(losses) == 7
    numbers = [tuple(h.series[0].numbers) for h in histories]
    assert set(numbers) == {numbers[0]}
    assert all(histories[0].is_of(index_of(tape), number) for number in losses)
    assert not histories[0].is_of(index_of(tape), named(tape, "x"))


def test_an_unnamed_result_is_followed_as_well(recorded):
    tape = recorded(FIT)
    doubled = next(op.outputs[0] for op in tape.ops if op.op.endswith("mul"))
    found = history_of(tape, doubled)
    assert len(found.series[0].numbers) == 7


def test_the_rounds_of_an_unrolled_loop_are_its_steps(recorded):
    tape = recorded(UNROLLED)
    W = torch.tensor([[0.5, 1.0], [-1.0, 0.25]], requires_grad=True)
    h, kept = torch.ones(2), []
    for _ in range(5):
        h = torch.tanh(W @ h)
        h.retain_grad()
        kept.append(h)
    (h**2).sum().backward()
    tanh = [op.outputs[0] for op in tape.ops if op.op.endswith("tanh")]
    found = by_name(history_of(tape, tanh[2]))
    values = next(one for name, one in found.items() if name.endswith("[0]") and "∂" not in name)
    grads = next(one for name, one in found.items() if name.endswith("[0]") and "∂" in name)
    assert values.numbers == [one[0].item() for one in kept]
    assert grads.numbers == pytest.approx([one.grad[0].item() for one in kept], rel=1e-6)


def test_what_only_some_steps_compute_is_drawn_at_those(recorded):
    tape = recorded(UNEVEN)
    steps = steps_of(tape)
    penalty = next(value.id for value in tape.values if value.place.line == 4 and not value.shape)
    found = history_of(tape, penalty).series[0]
    assert [steps.number_at(position) for position in found.positions] == [1, 4, 7]


def test_what_is_made_once_says_so(recorded):
    tape = recorded(FIT)
    found = history_of(tape, named(tape, "x"))
    assert found.series == ()
    assert "single step" in found.note


def test_a_program_without_a_loop_has_no_history(neuron):
    found = history_of(neuron, neuron.values[0].id)
    assert (found.series, found.note) == ((), "The program has no loop")


@pytest.mark.parametrize("source", [FIT, SCALAR, UNROLLED, UNEVEN])
def test_every_value_has_a_history_or_a_reason(recorded, source):
    tape = recorded(source)
    for value in tape.values:
        found = history_of(tape, value.id)
        assert bool(found.series) != bool(found.note)
        for one in found.series:
            assert len(one.numbers) == len(one.positions)
            assert one.positions == sorted(one.positions)
