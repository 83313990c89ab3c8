"""Sample points of the data sets with one or two inputs, for thumbnails."""

import contextlib
import functools

import torch

from gradscribe.engine.protocol.setup import Part
from gradscribe.engine.protocol.training.replies import RawArray
from gradscribe.engine.train.arrays import to_array
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.zoo.entry import Data

MOST = 240
"""Maximum number of points of a data set."""
SEED = 0


@functools.cache
def data_samples() -> dict[str, RawArray]:
    """Return (m, 3) points for each data set with one or two inputs, by name.

    Columns: x, y, and class or target; for one input y is the target and the third is 0. They are
    drawn like training data, with every option at its default.
    """
    points = {}
    for name, piece in catalogue.zoo_entries("data").items():
        if isinstance(piece, Data) and piece.inputs in ("1", "2"):
            # The data set of a plug-in is shown without its points if these cannot be drawn.
            with contextlib.suppress(Exception):
                points[name] = to_array(_points(name, piece))
    return points


def _points(name: str, piece: Data) -> torch.Tensor:
    _, options = catalogue.find("data", Part(name), Data)
    if isinstance(options.get("n"), int):
        options["n"] = min(int(str(options["n"])), MOST)
    x, y, *_ = piece.make(**options, rng=torch.Generator().manual_seed(SEED))
    assert isinstance(x, torch.Tensor)
    assert isinstance(y, torch.Tensor)
    y = y.reshape(len(x), -1)[:, :1].float()
    return torch.cat([x, y, torch.zeros_like(y)] if x.shape[1] == 1 else [x, y], dim=1)[:MOST]
