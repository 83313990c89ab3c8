"""A linear layer on powers of the inputs."""

import torch
from torch import nn

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NUMBERS, Model, Options, Shapes


class Polynomial(nn.Module):
    """Weights for x, x^2, ... x^degree of every input, and a bias."""

    def __init__(self, inputs: int, outputs: int, degree: int) -> None:
        super().__init__()
        self.degree = degree
        self.linear = nn.Linear(inputs * degree, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (batch, outputs) of (batch, inputs)."""
        powers = [x**power for power in range(1, self.degree + 1)]
        return self.linear(torch.cat(powers, dim=1))  # type: ignore[no-any-return]


def _write(options: Options, shapes: Shapes) -> str:
    return f"Polynomial({shapes.inputs}, {shapes.outputs}, degree={options['degree']})"


ENTRY = Model(
    _write,
    "Polynomial",
    "Powers of the inputs, weighted",
    NUMBERS,
    options=(Option("degree", "int", 3, "Highest power", low=1, high=12),),
    uses=lambda _: (Polynomial,),
    group="Layers",
)
