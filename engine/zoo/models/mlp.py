"""A multilayer perceptron."""

import torch
from torch import nn

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NUMBERS, Model, Options, Pasted, Shapes

ACTIVATIONS = {
    "relu": "nn.ReLU()",
    "tanh": "nn.Tanh()",
    "sigmoid": "nn.Sigmoid()",
    "linear": "",
    "leaky_relu": "nn.LeakyReLU()",
    "elu": "nn.ELU()",
    "gelu": "nn.GELU()",
    "silu": "nn.SiLU()",
    "softplus": "nn.Softplus()",
}
NORMS = {"none": "", "batch": "nn.BatchNorm1d({})", "layer": "nn.LayerNorm({})"}
INITS = ("torch", "xavier", "kaiming", "playground", "zeros", "normal")
MOST_LAYERS, WIDEST = 32, 4096


@torch.no_grad()
def initialize(model: nn.Module, kind: str) -> None:
    """Reinitialize all linear layers; biases become 0, with ``playground`` 0.1."""
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            if kind == "xavier":
                nn.init.xavier_uniform_(layer.weight)
            elif kind == "kaiming":
                nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")
            elif kind == "playground":
                nn.init.uniform_(layer.weight, -0.5, 0.5)
            elif kind == "zeros":
                nn.init.zeros_(layer.weight)
            else:
                nn.init.normal_(layer.weight)
            nn.init.constant_(layer.bias, 0.1 if kind == "playground" else 0.0)


def _write(options: Options, shapes: Shapes) -> str:
    widths = options["layers"]
    assert isinstance(widths, list)
    if len(widths) > MOST_LAYERS or any(not 1 <= int(str(w)) <= WIDEST for w in widths):
        raise ValueError(f"at most {MOST_LAYERS} layers of 1 to {WIDEST} units")
    named = options["activation"]
    names = named if isinstance(named, list) else [named]
    for name in names:
        if name not in ACTIVATIONS:
            raise ValueError(f"no activation {name!r}; there are {', '.join(ACTIVATIONS)}")
    if len(names) not in (1, len(widths)):
        raise ValueError(f"{len(names)} activations for {len(widths)} layers")
    lines = ["nn.Flatten()"] if len(shapes.shape) > 1 else []
    width = shapes.inputs
    for index, wide in enumerate(widths):
        lines.append(f"nn.Linear({width}, {wide})")
        width = int(str(wide))
        lines.append(NORMS[str(options["norm"])].format(width))
        lines.append(ACTIVATIONS[str(names[index if len(names) > 1 else 0])])
        lines.append(f"nn.Dropout({options['dropout']})" if options["dropout"] else "")
    lines.append(f"nn.Linear({width}, {shapes.outputs})")
    lines.append("nn.Tanh()" if options["output"] == "tanh" else "")
    body = "".join(f"    {line},\n" for line in lines if line)
    return f"nn.Sequential(\n{body})"


def _uses(options: Options) -> Pasted:
    return () if options["init"] == "torch" else (initialize,)


def _after(options: Options) -> str:
    return "" if options["init"] == "torch" else f'initialize(model, "{options["init"]}")'


ENTRY = Model(
    _write,
    "MLP",
    "Layers of units with an activation after each",
    (*NUMBERS, "image"),
    options=(
        Option("layers", "ints", [16, 16], "Units in each hidden layer", low=1, high=WIDEST),
        Option(
            "activation",
            "choice",
            "tanh",
            "One for all hidden layers, or a list with one for each",
            choices=tuple(ACTIVATIONS),
            each="layers",
        ),
        Option("dropout", "float", 0.0, "Share of units left out", low=0.0, high=0.95),
        Option("norm", "choice", "none", "Normalization", choices=tuple(NORMS)),
        Option("init", "choice", "torch", "How weights begin", choices=INITS),
        Option("output", "choice", "linear", "Last activation", choices=("linear", "tanh")),
    ),
    uses=_uses,
    after=_after,
    group="Layers",
    first=True,
)
