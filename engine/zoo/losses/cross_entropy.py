"""Cross-entropy on logits."""

import torch
import torch.nn.functional as F

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Loss, Options


def token_cross_entropy(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the mean over all positions of (batch, length, vocabulary) against (batch, length)."""
    return F.cross_entropy(output.transpose(1, 2), target)


def _write(options: Options) -> str:
    smoothing = options["label_smoothing"]
    return (
        f"nn.CrossEntropyLoss(label_smoothing={smoothing})"
        if smoothing
        else "nn.CrossEntropyLoss()"
    )


ENTRY = Loss(
    _write,
    "Cross-entropy",
    "Softmax and logarithm in one: give it logits",
    ("binary", "classes", "tokens"),
    "classes",
    options=(
        Option(
            "label_smoothing",
            "float",
            0.0,
            "Share of the target given to all classes",
            low=0.0,
            high=1.0,
            live=True,
        ),
    ),
    uses=(token_cross_entropy,),
    first=True,
)
