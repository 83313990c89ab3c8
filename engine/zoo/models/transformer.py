"""A tiny transformer with an output at each position of a sequence."""

import torch
from torch import nn

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Model, Options, Shapes


class Transformer(nn.Module):
    """Embedded tokens and positions, then blocks of attention and of two linear layers."""

    def __init__(self, vocabulary: int, length: int, width: int, heads: int, blocks: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.place = nn.Parameter(0.1 * torch.randn(length, width))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True
            )
            for _ in range(blocks)
        )
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits (batch, length, vocabulary) of tokens (batch, length)."""
        state = self.embedding(x) + self.place[: x.shape[1]]
        for block in self.blocks:
            state = block(state)
        return self.head(state)  # type: ignore[no-any-return]


def _write(options: Options, shapes: Shapes) -> str:
    width, heads = int(str(options["width"])), int(str(options["heads"]))
    if width % heads:
        raise ValueError(f"{heads} heads do not divide a width of {width}")
    return (
        f"Transformer({shapes.outputs}, length={shapes.inputs}, width={width}, heads={heads}, "
        f"blocks={options['blocks']})"
    )


ENTRY = Model(
    _write,
    "Transformer",
    "Attention over all places at once",
    ("tokens",),
    options=(
        Option("width", "int", 32, "Numbers per place", low=2, high=256),
        Option("heads", "int", 2, "Heads of attention", low=1, high=16),
        Option("blocks", "int", 1, "Blocks", low=1, high=8),
    ),
    uses=lambda _: (Transformer,),
    group="Sequences",
)
