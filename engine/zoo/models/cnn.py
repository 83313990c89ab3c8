"""A small convolutional network for small images."""

import torch
from torch import nn

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Model, Options, Shapes


class CNN(nn.Module):
    """Two convolutions with 2 by 2 max pooling after each, and a linear layer."""

    def __init__(self, side: int, channels: int, outputs: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(channels, 2 * channels, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.head = nn.Linear(2 * channels * (side // 4) ** 2, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (batch, outputs) of images (batch, 1, side, side)."""
        return self.head(self.features(x).flatten(1))  # type: ignore[no-any-return]


def _write(options: Options, shapes: Shapes) -> str:
    side = shapes.shape[-1]
    return f"CNN(side={side}, channels={options['channels']}, outputs={shapes.outputs})"


ENTRY = Model(
    _write,
    "Small CNN",
    "Two convolutions with pooling, then a linear layer",
    ("image",),
    options=(Option("channels", "int", 8, "Channels of the first convolution", low=1, high=64),),
    uses=lambda _: (CNN,),
    group="Pictures",
)
