import numpy as np
import pytest
import torch

from gradscribe.playback.explain import explain

CASES = {
    "matmul": ("a @ b", (2, 3), (3, 4)),
    "mm": ("torch.mm(a, b)", (2, 3), (3, 4)),
    "bmm": ("torch.bmm(a, b)", (5, 2, 3), (5, 3, 4)),
    "linear": ("F.linear(a, b)", (5, 3), (4, 3)),
    "mv": ("torch.mv(a, b)", (2, 3), (3,)),
    "vm": ("a @ b", (3,), (3, 4)),
    "dot": ("a @ b", (3,), (3,)),
    "outer": ("torch.outer(a, b)", (3,), (4,)),
}
FORMULAS = {
    # What the texts say, read as numpy: (gradient, a, b) -> shares of a and b.
    "{g} · {b}ᵀ": lambda g, a, b: g @ np.swapaxes(b, -1, -2),
    "{a}ᵀ · {g}": lambda g, a, b: np.swapaxes(a, -1, -2) @ g,
    "{g} · {b}": lambda g, a, b: g @ b,
    "{g}ᵀ · {a}": lambda g, a, b: g.T @ a,
    "{g} ⊗ {b}": lambda g, a, b: np.outer(g, b),
    "{a} ⊗ {g}": lambda g, a, b: np.outer(a, g),
    "{g} × {b}": lambda g, a, b: g * b,
    "{g} × {a}": lambda g, a, b: g * a,
}


@pytest.mark.parametrize("name", CASES)
def test_the_product_that_is_told_is_what_torch_sends(name, recorded):
    from gradscribe.playback.explain.rule import rule_table

    call, left, right = CASES[name]
    torch.manual_seed(1)
    a = torch.randn(left, dtype=torch.float64, requires_grad=True)
    b = torch.randn(right, dtype=torch.float64, requires_grad=True)
    result = eval(call, {"torch": torch, "F": torch.nn.functional, "a": a, "b": b})
    g = torch.randn_like(result)
    result.backward(g)
    for operand, tensor in enumerate((a, b)):
        told = rule_table()[name].shares[operand].text
        made = FORMULAS[told](*(t.detach().numpy() for t in (g, a, b)))
        assert np.allclose(made, tensor.grad.numpy())


@pytest.mark.parametrize("name", CASES)
def test_the_explanation_tells_it_with_shapes(name, recorded):
    call, left, right = CASES[name]
    tape = recorded(
        f"a = torch.ones({left}, requires_grad=True)\n"
        f"b = torch.ones({right}, requires_grad=True)\ny = {call}\ny.sum().backward()"
    )
    found = explain(tape, op=0, position=len(tape.events))
    shares = {row.label: row.text for row in found.rows}
    label = next(iter(shares)).rsplit("∂", 1)[0]
    for letter, shape in (("a", left), ("b", right)):
        assert "∂" in shares[f"{label}∂{letter}"]
        written = "×".join(map(str, shape))
        other = "×".join(map(str, right if letter == "a" else left))
        text = shares[f"{label}∂{letter}"]
        assert written in text or other in text or "[" in text
