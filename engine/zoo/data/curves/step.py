"""A step from -1 to 1 with noise."""

import torch

from gradscribe.engine.zoo.entry import NOISE, SIZE, Data


def step(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return x in [-2, 2] and its sign with noise, both (n, 1)."""
    x = torch.rand(n, 1, generator=rng) * 4 - 2
    y = torch.where(x < 0, -1.0, 1.0) + noise * torch.randn(n, 1, generator=rng)
    return x, y


ENTRY = Data(
    step,
    "Step",
    "A jump: smooth models overshoot beside it",
    "regression",
    "1",
    options=(SIZE, NOISE),
    group="Curves",
    noiseless={"noise": 0.0},
    first=True,
)
