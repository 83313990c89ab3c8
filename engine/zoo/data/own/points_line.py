"""Points on a curve, drawn by the user."""

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Data


def points_line(
    points: list[list[float]], rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows of [x, y] as (n, 1) inputs and (n, 1) targets."""
    table = torch.tensor(points, dtype=torch.float32)
    return table[:, :-1], table[:, -1:]


ENTRY = Data(
    points_line,
    "Drawn curve",
    "Points that a curve should follow, drawn and moved with the mouse",
    "regression",
    "1",
    options=(
        Option(
            "points", "points", [[-1.0, -0.8], [-0.3, 0.1], [0.4, 0.2], [1.0, 1.1]], "Rows of x, y"
        ),
    ),
    group="Your own",
    train=1.0,
)
