"""Points with classes, drawn by hand."""

import torch

from engine.training.parts import Option
from engine.zoo.pieces import Data


def points(points: list[list[float]], rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows of [x1, x2, class] as (n, 2) points and (n,) classes."""
    table = torch.tensor(points, dtype=torch.float32)
    return table[:, :-1], table[:, -1].long()


ENTRY = Data(
    points,
    "Drawn points",
    "Points of two or more classes, drawn and moved with the mouse",
    "classes",
    "2",
    options=(
        Option(
            "points",
            "points",
            [[-1.0, -1.0, 0], [-0.6, 0.9, 0], [0.8, -0.7, 1], [1.0, 1.0, 1]],
            "Rows of x1, x2, class",
        ),
    ),
    group="Your own",
    train=1.0,
)
