"""A recurrent network with an output at each position of a sequence."""

import torch
from torch import nn

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Model, Options, Shapes


class Recurrent(nn.Module):
    """Embedding, a recurrent cell over the sequence, and a linear layer at each position."""

    def __init__(self, vocabulary: int, width: int, cell: str) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.cell = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[cell](
            width, width, batch_first=True
        )
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits (batch, length, vocabulary) of tokens (batch, length)."""
        states, _ = self.cell(self.embedding(x))
        return self.head(states)  # type: ignore[no-any-return]


def _write(options: Options, shapes: Shapes) -> str:
    return f'Recurrent({shapes.outputs}, width={options["width"]}, cell="{options["cell"]}")'


ENTRY = Model(
    _write,
    "RNN, LSTM or GRU",
    "Reads tokens one after the other and keeps a state",
    ("tokens",),
    options=(
        Option("cell", "choice", "lstm", "What keeps the state", choices=("rnn", "lstm", "gru")),
        Option("width", "int", 32, "Numbers in the state", low=1, high=512, log=True),
    ),
    uses=lambda _: (Recurrent,),
    group="Sequences",
)
