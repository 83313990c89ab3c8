"""Finite differences agree with a right gradient and disagree with a wrong one."""

import pytest
import torch

from gradscribe.engine.inspect.check import check
from gradscribe.engine.protocol.messages import Check
from gradscribe.engine.run.run import record

WRONG = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]
x = param(3.0)
Square.apply(x).backward()
"""


def checked(source: str, name: str, index: int = 0):
    tape = record(source)
    value = next(v.id for v in tape.values if v.name == name)
    return check(Check(0, value, index))


def test_a_right_gradient_agrees():
    result = checked("x = param(2.0)\ny = param(3.0)\n((x * y + x) ** 2).backward()", "x")
    assert result.agrees
    assert result.autograd == 64
    assert result.numeric == pytest.approx(64, rel=1e-3)
    assert result.run_id == 0


def test_a_wrong_gradient_does_not():
    result = checked(WRONG, "x")
    assert not result.agrees
    assert result.autograd == 3
    assert result.numeric == pytest.approx(6, rel=1e-3)


@pytest.mark.parametrize("index", range(4))
def test_any_element_of_a_vector_with_its_own_seed(index):
    source = (
        "x = param([1.0, -2.0, 0.5, 3.0])\nx.sin().backward(gradient=tensor([1.0, 0.1, -2.0, 5.0]))"
    )
    assert checked(source, "x", index).agrees


def test_a_module_parameter():
    source = (
        "net = nn.Linear(2, 1)\nF.mse_loss(net(torch.ones(3, 2)), torch.zeros(3, 1)).backward()"
    )
    assert checked(source, "net.weight", 1).agrees


def test_double_precision_takes_a_smaller_step():
    result = checked("x = param(2.0, dtype=torch.float64)\n(x**3).backward()", "x")
    assert result.agrees
    assert result.eps < 1e-4
    assert result.numeric == pytest.approx(12, rel=1e-8)


def test_only_the_pass_that_reached_the_leaf_is_compared():
    source = "x = param(2.0)\n(x**2).backward()\nwith torch.no_grad():\n    x -= x.grad\n1 / 0"
    assert checked(source, "x").agrees


@pytest.mark.parametrize(
    ("source", "name", "word"),
    [
        ("x = tensor(1.0)\ny = x * 2", "x", "no gradient"),
        ("x = param(1.0)\ny = x * 2\ny.backward()", "y", "leaf"),
        ("x = param(1.0, dtype=torch.float8_e5m2)\nx.float().backward()", "x", "coarse"),
    ],
)
def test_what_cannot_be_checked_says_why(source, name, word):
    result = checked(source, name)
    assert not result.agrees
    assert word in result.problem


def test_an_element_that_is_not_there():
    assert "element 5" in checked("x = param(1.0)\n(x * 2).backward()", "x", 5).problem


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_step_and_what_it_is_good_for_follow_the_dtype(dtype):
    source = f"x = param([1.5, -2.0], dtype=torch.{dtype})\n(x * x * x).sum().backward()"
    result = checked(source, "x", 1)
    assert result.agrees
    assert abs(result.numeric - 12) <= result.tolerance
    assert result.eps == pytest.approx(torch.finfo(getattr(torch, dtype)).eps ** (1 / 3) * 2)
    wrong = checked(WRONG.replace("param(3.0)", f"param(3.0, dtype=torch.{dtype})"), "x")
    assert not wrong.agrees


@pytest.mark.parametrize("index", [0, 1])
def test_a_complex_element_is_nudged_along_both_axes(index):
    source = (
        "x = torch.tensor([1.0 + 2.0j, 0.5j], requires_grad=True)\n"
        "(x * x).backward(gradient=torch.tensor([1 + 1j, 2.0]))"
    )
    result = checked(source, "x", index)
    # The gradient of z² is conj(2z) times the seed: (2 - 4i)(1 + i) and -i times 2.
    expected = (6 - 2j, -2j)[index]
    assert result.agrees
    assert complex(result.autograd, result.imaginary[0]) == expected
    assert complex(result.numeric, result.imaginary[1]) == pytest.approx(expected, abs=1e-2)


def test_another_run_than_the_last_is_not_checked():
    tape = record("x = param(2.0)\n(x * x).backward()")
    assert "ran again" in check(Check(3, tape.leaves[0].value)).problem
