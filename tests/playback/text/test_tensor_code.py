"""A tensor as a line of PyTorch: run, the line makes the same tensor, to the bit."""

import math

import pytest
import torch

from gradscribe.engine.run.run import record
from gradscribe.playback.text.tensor_code import numbers_text, tensor_code


def rebuilt(source, name="x"):
    """Return the tensor of a program, and the one that its code makes."""
    tape = record(source)
    value = next(value for value in reversed(tape.values) if value.name == name)
    snapshot = tape.snapshots[value.snapshot]
    code = tensor_code(name, snapshot.array(), snapshot.dtype, learns=value.requires_grad)
    scope = {"torch": torch}
    exec(code, scope)
    plain = {"torch": torch}
    exec(source, plain)
    return plain[name], scope[name], code


@pytest.mark.parametrize(
    "made",
    [
        "torch.randn(3, 4)",
        "torch.randn(2, 3, 2, dtype=torch.float64)",
        "torch.randn(5, dtype=torch.float16)",
        "torch.randn(5, dtype=torch.bfloat16)",
        "torch.randn(2, 2, dtype=torch.complex64)",
        "torch.tensor([1e-45, 1e38, -0.0, 1 / 3])",
        "torch.tensor([float('nan'), float('inf'), -float('inf'), 1.0])",
        "torch.tensor(2.5)",
        "torch.arange(6).reshape(2, 3)",
        "torch.tensor([1, 2], dtype=torch.int8)",
        "torch.tensor([True, False])",
        "torch.empty(0, 3)",
        "torch.randn(2, requires_grad=True)",
    ],
)
def test_the_code_makes_the_same_tensor_to_the_bit(made):
    want, got, _ = rebuilt(f"torch.manual_seed(3)\nx = {made}")
    assert (got.dtype, got.shape, got.requires_grad) == (want.dtype, want.shape, want.requires_grad)
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
    if want.numel() and want.dtype == torch.float32:
        assert torch.equal(got.detach().view(torch.int32), want.detach().view(torch.int32))


def test_what_torch_would_choose_is_not_written():
    assert rebuilt("x = torch.tensor([1.0, 2.5])")[2] == "x = torch.tensor([1.0, 2.5])"
    assert rebuilt("x = torch.tensor([1, 2])")[2] == "x = torch.tensor([1, 2])"
    code = rebuilt("x = torch.tensor([1.0], dtype=torch.float64)")[2]
    assert code == "x = torch.tensor([1.0], dtype=torch.float64)"


@pytest.mark.parametrize(
    ("name", "made"), [("net.0.weight", "net_0_weight"), ("", "x"), ("class", "_class")]
)
def test_names_become_variables(name, made):
    assert tensor_code(name, torch.ones(1).numpy(), "float32").startswith(f"{made} = ")


def test_numbers_are_a_row_per_line():
    assert numbers_text(torch.tensor([[1.0, 2.5], [0.1, -3.0]]).numpy()) == "1.0\t2.5\n0.1\t-3.0"
    assert numbers_text(torch.tensor(7).numpy()) == "7"
    assert numbers_text(torch.tensor([0.1, math.nan]).numpy()) == "0.1\tnan"
