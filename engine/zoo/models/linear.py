"""One linear layer."""

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NUMBERS, Model, Options, Shapes


def _write(options: Options, shapes: Shapes) -> str:
    bias = "" if options["bias"] else ", bias=False"
    layer = f"nn.Linear({shapes.inputs}, {shapes.outputs}{bias})"
    return layer if len(shapes.shape) == 1 else f"nn.Sequential(nn.Flatten(), {layer})"


ENTRY = Model(
    _write,
    "Linear",
    "Weights and a bias: a line, a plane",
    (*NUMBERS, "image"),
    options=(Option("bias", "bool", True, "With a bias"),),
    group="Layers",
    first=True,
)
