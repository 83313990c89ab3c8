"""Models with two parameters, whose loss can be drawn as a surface."""

import torch
from torch import nn

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Model, Options, Shapes


class TwoParameters(nn.Module):
    """Two parameters a and b with given initial values."""

    def __init__(self, kind: str, a: float, b: float) -> None:
        super().__init__()
        self.kind = kind
        self.a = nn.Parameter(torch.tensor(a))
        self.b = nn.Parameter(torch.tensor(b))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (batch, 1) of (batch, 1)."""
        if self.kind == "line":
            return self.a * x + self.b
        if self.kind == "product":
            return self.a * self.b * x
        return self.a * torch.sin(self.b * x)


def _write(options: Options, shapes: Shapes) -> str:
    if shapes.inputs != 1 or shapes.outputs != 1:
        raise ValueError("two numbers fit data with one input and one output")
    return f'TwoParameters("{options["kind"]}", a={options["a"]}, b={options["b"]})'


ENTRY = Model(
    _write,
    "Two parameters",
    "a and b alone: see the whole loss surface",
    ("1", "n"),
    options=(
        Option(
            "kind",
            "choice",
            "line",
            "a x + b, a b x, or a sin(b x)",
            choices=("line", "product", "wave"),
        ),
        Option("a", "float", -1.0, "Where a begins", low=-10.0, high=10.0),
        Option("b", "float", 2.0, "Where b begins", low=-10.0, high=10.0),
    ),
    uses=lambda _: (TwoParameters,),
    group="Layers",
)
