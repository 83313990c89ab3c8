"""The Huber loss."""

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Loss

ENTRY = Loss(
    lambda o: f"nn.HuberLoss(delta={o['delta']})",
    "Huber",
    "A square near 0, a straight line beyond delta",
    ("regression", "binary", "classes"),
    "signs",
    options=(
        Option("delta", "float", 1.0, "Where the square ends", low=1e-6, high=10.0, live=True),
    ),
)
