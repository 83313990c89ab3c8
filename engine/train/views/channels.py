"""Activation maps of an image model's channels for one sample."""

import math
from collections.abc import Mapping
from weakref import WeakKeyDictionary

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData, int_option, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.program import TrainingProgram
from gradscribe.engine.train.views import maps

MOST_PICTURES = 10
"""Number of samples to choose from."""
MOST_SIDE = 64
"""Maximum rows and columns of one map; larger maps are subsampled."""


def sample_rows(program: TrainingProgram) -> list[int]:
    """Return the rows of the first example of each class, or of the first examples."""
    if program not in _samples:
        rows = list(range(min(MOST_PICTURES, len(program.x))))
        if program.classes:
            labels = program.y.tolist()
            rows = [labels.index(kind) for kind in sorted(set(labels))[:MOST_PICTURES]]
        _samples[program] = rows
    return _samples[program]


_samples: WeakKeyDictionary[TrainingProgram, list[int]] = WeakKeyDictionary()
"""Cache: a run's data does not change."""


def units(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return samples to choose from, and each layer's output for the chosen sample.

    For models that do not take images: the maps of their units.
    """
    if run.program.x.dim() != 4:
        return maps.units(run, options)
    rows = sample_rows(run.program)
    if not rows:
        return None
    chosen = int_option(options, "sample", 0, 0, len(rows) - 1)
    arrays, left = (
        {"samples": to_array(_subsampled(run.program.x[rows].mean(dim=1)))},
        maps.MOST_UNITS,
    )
    labels = run.program.y[rows] if run.program.classes else torch.arange(len(rows))
    arrays["labels"] = to_array(labels, "<i8")
    row = rows[chosen]
    for place, (_, _, output) in enumerate(maps.layers(run, run.program.x[row : row + 1])):
        activations = output[0].float()
        # A unit with a single output is a map of one point.
        activations = (
            activations[:left] if activations.dim() == 3 else activations[:left, None, None]
        )
        left -= len(activations)
        arrays[f"layer{place}"] = to_array(_subsampled(activations))
    return ViewData(arrays, {"chosen": float(chosen)})


def _subsampled(images: torch.Tensor) -> torch.Tensor:
    down, across = (max(1, math.ceil(side / MOST_SIDE)) for side in images.shape[-2:])
    return images[:, ::down, ::across]
