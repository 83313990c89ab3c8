"""Activation maps of an image model's channels for one sample."""

import math
from collections.abc import Mapping
from weakref import WeakKeyDictionary

import torch

from engine.setup import Plain
from engine.train.program import Program
from engine.train.run import Run
from engine.train.views import maps
from engine.train.views.arrays import Picture, packed, whole

MOST_PICTURES = 10
"""Number of samples to choose from."""
MOST_SIDE = 64
"""Maximum rows and columns of one map; larger maps are subsampled."""


def samples(program: Program) -> list[int]:
    """Return the rows of the first example of each class, or of the first examples."""
    if program not in _samples:
        rows = list(range(min(MOST_PICTURES, len(program.x))))
        if program.classes:
            labels = program.y.tolist()
            rows = [labels.index(kind) for kind in sorted(set(labels))[:MOST_PICTURES]]
        _samples[program] = rows
    return _samples[program]


_samples: WeakKeyDictionary[Program, list[int]] = WeakKeyDictionary()
"""Cache: a run's data does not change."""


def units(run: Run, options: Mapping[str, Plain]) -> Picture | None:
    """Return samples to choose from, and each layer's output for the chosen sample.

    For models that do not take images: the maps of their units.
    """
    if run.program.x.dim() != 4:
        return maps.units(run, options)
    rows = samples(run.program)
    if not rows:
        return None
    chosen = whole(options, "sample", 0, 0, len(rows) - 1)
    arrays, left = (
        {"samples": packed(_subsampled(run.program.x[rows].mean(dim=1)))},
        maps.MOST_UNITS,
    )
    labels = run.program.y[rows] if run.program.classes else torch.arange(len(rows))
    arrays["labels"] = packed(labels, "<i8")
    row = rows[chosen]
    for place, (_, _, output) in enumerate(maps.layers(run, run.program.x[row : row + 1])):
        activations = output[0].float()
        # A unit with a single output is a map of one point.
        activations = (
            activations[:left] if activations.dim() == 3 else activations[:left, None, None]
        )
        left -= len(activations)
        arrays[f"layer{place}"] = packed(_subsampled(activations))
    return Picture(arrays, {"chosen": float(chosen)})


def _subsampled(images: torch.Tensor) -> torch.Tensor:
    down, across = (max(1, math.ceil(side / MOST_SIDE)) for side in images.shape[-2:])
    return images[:, ::down, ::across]
