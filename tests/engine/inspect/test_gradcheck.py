"""A custom Function's backward is held against torch's gradcheck, with the run's own inputs."""

import math

import pytest
import torch

from gradscribe.engine.inspect.gradcheck import gradcheck
from gradscribe.engine.protocol.messages import Gradcheck
from gradscribe.engine.run.run import record

CUBE = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return scale * x ** 3
    @staticmethod
    def backward(ctx, g):
        x, scale = ctx.saved_tensors
        return 3 * scale * x ** 2 * g, (x ** 3 * g).sum()
x = param([0.5, -1.0, 2.0])
scale = param(1.5)
out = Cube.apply(x, scale)
out.sum().backward()
"""
ONE = """
class One(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {forward}
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return {backward}
x = {x}
y = One.apply({given})
if y.requires_grad:
    y.abs().sum().backward()
"""


def checked(source: str, name: str):
    tape = record(source)
    op = next(i for i, op in enumerate(tape.ops) if op.op == name)
    return gradcheck(Gradcheck(0, op))


def one(forward: str, backward: str, x: str = "param([0.5, 2.0])", given: str = "x"):
    return checked(ONE.format(forward=forward, backward=backward, x=x, given=given), "One")


def test_a_right_backward_agrees_in_double_precision():
    found = checked(CUBE, "Cube")
    assert (found.agrees, found.problem, found.dtype) == (True, "", "float64")
    by_x, by_scale = found.pairs
    expected = torch.diag(3 * 1.5 * torch.tensor([0.5, -1.0, 2.0]) ** 2)
    assert torch.tensor(by_x.backward_rows).allclose(expected)
    assert torch.tensor(by_x.difference_rows).allclose(expected, atol=1e-4)
    assert [row[0] for row in by_scale.backward_rows] == pytest.approx([0.125, -1, 8])


def test_the_entry_that_is_wrong_is_named_with_its_place():
    found = checked(CUBE.replace("3 * scale *", "2 * scale *"), "Cube")
    assert not found.agrees
    wrong, right = found.pairs
    assert (wrong.of_output, wrong.of_input) == ((2,), (2,))
    assert (wrong.by_backward, wrong.by_differences) == pytest.approx((12, 18))
    assert (wrong.entries, wrong.differ, right.differ) == (9, 3, 0)


def test_a_function_that_insists_on_float32_is_checked_in_it():
    found = one("(x * x).float()", "2 * x * g")
    assert (found.agrees, found.dtype) == (True, "float32")
    assert not one("(x * x).float()", "x * g").agrees


def test_the_inputs_are_those_of_the_run():
    found = one("x * x", "2 * x * g", x="param([[3.0, 4.0]])", given="x * 10")
    (pair,) = found.pairs
    assert [row[i] for i, row in enumerate(pair.backward_rows)] == [60, 80]


def test_what_it_draws_at_random_is_drawn_alike_each_time():
    # Two draws that differ would make differences of about 1 / step.
    assert one("x * 2 + torch.rand(2)", "2 * g").agrees


def test_a_function_that_writes_into_its_input_can_be_checked():
    source = CUBE.replace("return scale * x ** 3", "ctx.mark_dirty(x); return x.mul_(1)")
    source = source.replace("3 * scale * x ** 2 * g, (x ** 3 * g).sum()", "g, None")
    assert checked(source.replace("apply(x,", "apply(x * 1,"), "Cube").agrees


def test_a_big_input_is_sampled():
    found = one(
        "x * x",
        "torch.where(x > 2.9, 0 * g, 2 * x * g)",
        x="torch.linspace(0, 3, 900)",
        given="x.requires_grad_()",
    )
    (pair,) = found.pairs
    assert not found.agrees
    assert (pair.entries, pair.backward_rows) == (64 * 64, ())
    assert pair.of_input == pair.of_output
    assert pair.of_input[0] > 860


def test_a_complex_input_is_left_to_torch():
    x = "torch.tensor([1 + 2j], requires_grad=True)"
    assert one("x * x", "2 * x.conj() * g", x=x, given="x").problem == ""
    wrong = one("x * x", "2 * x * g", x=x)
    assert not wrong.agrees
    assert wrong.problem


@pytest.mark.parametrize(
    ("backward", "word"), [("g.nope", "nope"), ("torch.ones(7)", "shape"), ("1 / 0 * g", "zero")]
)
def test_a_backward_that_raises_is_told(backward, word):
    found = one("x * 2", backward)
    assert not found.agrees
    assert word in found.problem


def test_nan_is_no_agreement():
    found = one("x * 2", "2 * g * float('nan')")
    assert not found.agrees
    assert math.isnan(found.pairs[0].by_backward)


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        (Gradcheck(5, 0), "ran again"),
        (Gradcheck(0, 99), "no such op"),
        (Gradcheck(0, 0), "another"),
    ],
)
def test_what_cannot_be_checked_says_why(request_, word):
    record("x = param(2.0)\ny = x * 2")
    assert word in gradcheck(request_).problem


def test_a_function_of_data_alone_has_nothing_to_check():
    assert "requires a gradient" in one("x * 2", "g", x="tensor([1.0])", given="x").problem
