"""The hinge loss."""

import torch

from gradscribe.engine.zoo.entry import Loss


def hinge(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the mean of max(0, 1 - output target) for targets of -1 and +1."""
    return (1 - output * target).clamp(min=0).mean()


ENTRY = Loss(
    lambda _: "hinge",
    "Hinge",
    "max(0, 1 - output target): content once the margin is 1",
    ("binary", "classes"),
    "signs",
    uses=(hinge,),
)
