"""Formulas leave out what a call does without."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.explain import explain


@pytest.mark.parametrize(
    ("source", "formula"),
    [
        (
            "x = torch.ones(1, 1, 4, 4)\nw = param(torch.ones(1, 1, 2, 2))\ny = F.conv2d(x, w)",
            "∗ w",
        ),
        ("x = torch.ones(1, 2)\nw = param(torch.ones(1, 2))\ny = F.linear(x, w)", "y = x wᵀ"),
        ("x = param([1.0])\ny = x**3", "y = x³"),
        ("p = param([0.5])\nt = tensor([0.5])\ny = F.mse_loss(p, t, reduction='sum')", "sum of"),
        (
            "p = param([0.5])\nt = tensor([0.5])\ny = F.kl_div(p, t, reduction='batchmean')",
            "1÷N × sum of t(ln t − p)",
        ),
    ],
)
def test_the_formula_is_that_of_the_call(source, formula):
    tape = record(source)
    number = max(n for n, op in enumerate(tape.ops) if op.outputs)
    assert formula in explain(tape, op=number, position=len(tape.events)).formula
