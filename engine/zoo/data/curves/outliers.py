"""A line with outliers."""

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NOISE, SIZE, Data


def outliers(
    n: int, noise: float, share: float, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return x in [-2, 2] and 2 x + 1 with noise, both (n, 1); a ``share`` is moved up by 8."""
    x = torch.rand(n, 1, generator=rng) * 4 - 2
    y = 2 * x + 1 + noise * torch.randn(n, 1, generator=rng)
    far = torch.rand(n, 1, generator=rng) < share
    return x, torch.where(far, y + 8, y)


ENTRY = Data(
    outliers,
    "Outliers",
    "A line with points far off: compare MSE with L1 and Huber",
    "regression",
    "1",
    options=(SIZE, NOISE, Option("share", "float", 0.1, "Share of outliers", low=0.0, high=0.5)),
    group="Curves",
    noiseless={"noise": 0.0, "share": 0.0},
)
