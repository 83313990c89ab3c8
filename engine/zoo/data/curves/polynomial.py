"""A polynomial with noise."""

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NOISE, SIZE, Data


def polynomial(
    n: int, noise: float, coefficients: list[float], rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return x in [-1.5, 1.5] and c0 + c1 x + c2 x^2 + ... with noise, both (n, 1)."""
    x = torch.rand(n, 1, generator=rng) * 3 - 1.5
    y = sum(c * x**power for power, c in enumerate(coefficients))
    return x, y + noise * torch.randn(n, 1, generator=rng)


ENTRY = Data(
    polynomial,
    "Polynomial",
    "c0 + c1 x + c2 x^2 and so on",
    "regression",
    "1",
    options=(
        SIZE,
        NOISE,
        Option("coefficients", "floats", [0.5, -1.0, 0.0, 1.0], "c0, c1, c2, ..."),
    ),
    group="Curves",
    noiseless={"noise": 0.0},
)
