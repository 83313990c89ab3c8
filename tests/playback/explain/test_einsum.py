"""The gradient of an einsum, written as the einsum it is."""

import pytest

from gradscribe.engine.run.run import record
from tests.playback.explain.test_truth import row_of


@pytest.mark.parametrize(
    ("call", "operand", "text"),
    [
        ("torch.einsum('ij,j->i', M, v)", "M", "= einsum('i,j->ij', ∂L/∂y, v)"),
        ("torch.einsum('ij,j->i', M, v)", "v", "= einsum('i,ij->j', ∂L/∂y, M)"),
        ("torch.einsum('ij,kj', M, W)", "M", "= einsum('ik,kj->ij', ∂L/∂y, W)"),
        ("torch.einsum('ij->j', M)", "M", "= einsum('j->j', ∂L/∂y), repeated over i"),
    ],
)
def test_the_gradient_of_an_einsum_is_an_einsum(call, operand, text):
    assert row_of(call, "einsum", f"∂L/∂{operand}") == text


def test_a_gradient_as_that_einsum_is_torchs_own():
    source = (
        "M = torch.randn(3, 4, requires_grad=True)\nW = torch.randn(5, 4, requires_grad=True)\n"
        "y = torch.einsum('ij,kj', M, W)\ng = torch.randn(3, 5)\ny.backward(g)\n"
        "ok = torch.equal(M.grad, torch.einsum('ik,kj->ij', g, W))\nassert ok"
    )
    assert record(source).status == "ok"


@pytest.mark.parametrize("call", ["torch.einsum('...j->j', M)", "torch.einsum('ii->i', B[0])"])
def test_letters_that_do_not_say_are_left_to_the_steps(call):
    assert "einsum" not in row_of(call, "einsum", row_label(call))


def row_label(call: str) -> str:
    return "∂L/∂M" if "M" in call else "∂L/∂B[0]"
