"""The four corners of exclusive or."""

import torch

from gradscribe.engine.zoo.entry import Data


def xor_corners(*, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the corners (4, 2) of a square and whether exactly one coordinate is 1 (4,)."""
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return x, torch.tensor([0, 1, 1, 0])


ENTRY = Data(
    xor_corners,
    "Exclusive or, four points",
    "The truth table itself; train on all of it",
    "binary",
    "2",
    group="Points",
    train=1.0,
)
