"""What the data sets look like: a few points of each that lies on a plane, or on a curve."""

import functools

import torch

from engine.setup import Part
from engine.train import catalogue
from engine.train.views.arrays import packed
from engine.training.answers import Array
from engine.zoo.pieces import Data

MOST = 240
"""Points of a data set at most."""
SEED = 0


@functools.cache
def samples() -> dict[str, Array]:
    """Return (m, 3) points for each data set with one input or two, by its name.

    Across, up, and class or target; of one input the target is up, and 0 the third. They are data
    as one trains on them, with every option at its default.
    """
    found = {}
    for name, piece in catalogue.pieces("data").items():
        if isinstance(piece, Data) and piece.inputs in ("1", "2"):
            found[name] = packed(_points(name, piece))
    return found


def _points(name: str, piece: Data) -> torch.Tensor:
    _, options = catalogue.find("data", Part(name), Data)
    if isinstance(options.get("n"), int):
        options["n"] = min(int(str(options["n"])), MOST)
    x, y, *_ = piece.make(**options, rng=torch.Generator().manual_seed(SEED))
    assert isinstance(x, torch.Tensor)
    assert isinstance(y, torch.Tensor)
    y = y.reshape(len(x), -1)[:, :1].float()
    return torch.cat([x, y, torch.zeros_like(y)] if x.shape[1] == 1 else [x, y], dim=1)[:MOST]
