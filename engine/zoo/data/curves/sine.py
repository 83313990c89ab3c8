"""One wave of the sine with noise."""

import math

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NOISE, SIZE, Data


def sine(
    n: int, noise: float, waves: float, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return x in [-pi, pi] and sin(waves x) with noise, both (n, 1)."""
    x = (torch.rand(n, 1, generator=rng) * 2 - 1) * math.pi
    y = torch.sin(waves * x) + noise * torch.randn(n, 1, generator=rng)
    return x, y


ENTRY = Data(
    sine,
    "Sine",
    "A wave that a line cannot follow",
    "regression",
    "1",
    options=(
        SIZE,
        NOISE,
        Option("waves", "float", 1.0, "Waves in the picture", low=0.1, high=10.0),
    ),
    group="Curves",
    noiseless={"noise": 0.0},
)
