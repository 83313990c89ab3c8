"""Half the squared error, the loss of TensorFlow Playground."""

import torch

from gradscribe.engine.zoo.entry import Loss


def half(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the mean of (output - target)^2 / 2."""
    return 0.5 * (output - target).square().mean()


ENTRY = Loss(
    lambda _: "half",
    "Half squared error",
    "TensorFlow Playground's loss: the gradient is the difference",
    ("regression", "binary", "classes"),
    "signs",
    uses=(half,),
)
