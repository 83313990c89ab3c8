import pytest
import torch

from gradscribe.playback.explain import explain, naming
from gradscribe.playback.explain.broadcast import broadcast_dims, broadcast_table, is_broadcast
from gradscribe.playback.tape.index import Index, index_of


def test_the_stretched_dimensions_are_those_that_were_one_or_missing():
    assert broadcast_dims((3,), (2, 3)) == [0]
    assert broadcast_dims((2, 1), (2, 3)) == [1]
    assert broadcast_dims((), (2, 3)) == [0, 1]
    assert broadcast_dims((2, 3), (2, 3)) == []
    assert broadcast_dims((1, 1), (1, 1)) == []


def test_a_stretched_bias_is_said_to_be_summed(recorded):
    tape = recorded(
        "x = torch.ones(16, 3)\nb = torch.zeros(3, requires_grad=True)\ny = x + b\n"
        "y.sum().backward()"
    )
    found = explain(tape, op=0, position=len(tape.events))
    assert "The share of b is summed over dimension 0 (16) because b was stretched" in found.words
    assert is_broadcast(Index(tape), tape.ops[0], 1)
    assert not is_broadcast(Index(tape), tape.ops[0], 0)


def test_what_fits_is_not_said_to_be_stretched(recorded):
    tape = recorded("a = torch.ones(3, requires_grad=True)\n(a + a).sum().backward()")
    assert "stretched" not in explain(tape, op=0, position=len(tape.events)).words


def axes_of(recorded, source):
    tape = recorded(source)
    index = index_of(tape)
    op = next(op for op in tape.ops if op.op in ("mul", "add", "matmul"))
    return broadcast_table(index, op, naming.rule_of(index, op), "L")


def test_stretched_axes_are_drawn_both_ways(recorded):
    axes = axes_of(
        recorded, "a = param(torch.ones(4, 1))\nb = param(torch.ones(3))\nL = (a * b).sum()"
    )
    rows = {row.name: [(chip.text, chip.kind) for chip in row.chips] for row in axes.rows}
    assert rows["a"] == [("4", ""), ("1 → 3", "stretched")]
    assert rows["b"] == [("→ 4", "missing"), ("3", "")]
    assert rows["∂L/∂a"] == [("4", ""), ("Σ 3 → 1", "summed")]
    assert rows["∂L/∂b"] == [("Σ 4", "summed"), ("3", "")]


def test_what_is_not_stretched_is_not_drawn(recorded):
    assert axes_of(recorded, "a = param(torch.ones(3))\nL = (a * a).sum()") is None
    assert axes_of(recorded, "a = param(torch.ones(2, 3))\nL = (a @ a.T).sum()") is None


@pytest.mark.parametrize(
    "shapes", [((4, 1), (3,)), ((1,), (5,)), ((2, 1, 3), (4, 1)), ((), (2, 2))]
)
def test_the_summed_axes_are_those_torch_sums_over(recorded, shapes):
    a, b = shapes
    axes = axes_of(recorded, f"a = param(torch.ones({a}))\nb = torch.ones({b})\nL = a + b")
    (row,) = [row for row in axes.rows if row.name == "∂L/∂a"]
    target = torch.broadcast_shapes(a, b)
    summed = [i for i, chip in enumerate(row.chips) if chip.kind == "summed"]
    grad = torch.rand(target)
    left = grad.sum(summed, keepdim=True) if summed else grad
    assert torch.equal(left.reshape(a), grad.sum_to_size(a))
