"""A call's own settings stand in its formula."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.explain import explain
from gradscribe.playback.explain.settings import settings


def first(call: str):
    tape = record(f"x, w = param([0.5, -2.0]), param([1.5, 3.0])\ny = {call}\ny.sum().backward()")
    assert tape.status == "ok", tape.error
    return explain(tape, op=0, position=len(tape.events)), tape.ops[0]


@pytest.mark.parametrize(
    ("call", "formula"),
    [
        ("F.leaky_relu(x)", "y = x if x > 0, else 0.01·x"),
        ("F.leaky_relu(x, 0.2)", "y = x if x > 0, else 0.2·x"),
        ("nn.LeakyReLU(0.3)(x)", "y = x if x > 0, else 0.3·x"),
        ("F.elu(x, alpha=0.5)", "y = x if x > 0, else α(e^x − 1), with α = 0.5"),
        ("x.clamp(-1, 2)", "y = x, held between −1 and 2"),
        ("x.clamp(min=0)", "y = x, held at 0 or above"),
        ("x.clamp(max=1.5)", "y = x, held at 1.5 or below"),
        ("F.hardtanh(x)", "y = x, held between −1 and 1"),
        ("x.addcmul(w, w)", "y = x + w × w"),
        ("x.addcmul(w, w, value=2)", "y = x + 2·w × w"),
        ("F.huber_loss(x, w, delta=0.5)", "δ = 0.5"),
        ("F.smooth_l1_loss(x, w, beta=2.0, reduction='sum')", "y = sum of d²÷2β"),
    ],
)
def test_settings_are_written_into_the_formula(call, formula):
    assert formula in first(call)[0].formula


def test_a_bound_that_is_a_tensor_is_not_called_a_number():
    tape = record("x = param([1.0])\ny = x.clamp(torch.tensor([0.0]), torch.tensor([2.0]))")
    assert settings(tape.ops[-1])["bounds"] == "between bounds"
