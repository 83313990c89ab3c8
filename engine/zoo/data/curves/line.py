"""A straight line with noise."""

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NOISE, SIZE, Data


def line(
    n: int, noise: float, slope: float, intercept: float, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return x in [-2, 2] and slope x + intercept with noise, both (n, 1)."""
    x = torch.rand(n, 1, generator=rng) * 4 - 2
    y = slope * x + intercept + noise * torch.randn(n, 1, generator=rng)
    return x, y


ENTRY = Data(
    line,
    "Line",
    "A slope and an intercept to find again",
    "regression",
    "1",
    options=(
        SIZE,
        NOISE,
        Option("slope", "float", 2.0, "Slope", low=-10.0, high=10.0),
        Option("intercept", "float", 1.0, "Intercept", low=-10.0, high=10.0),
    ),
    group="Curves",
    noiseless={"noise": 0.0},
)
