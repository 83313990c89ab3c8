"""What each filter of a model for pictures makes of one picture."""

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
"""So many pictures can be chosen from."""
MOST_SIDE = 64
"""Rows and columns of one map; of a greater one every k-th is taken."""


def samples(program: Program) -> list[int]:
    """Return the rows of the first example of each class; of no classes those of the first few."""
    if program not in _samples:
        rows = list(range(min(MOST_PICTURES, len(program.x))))
        if program.classes:
            labels = program.y.tolist()
            rows = [labels.index(kind) for kind in sorted(set(labels))[:MOST_PICTURES]]
        _samples[program] = rows
    return _samples[program]


_samples: WeakKeyDictionary[Program, list[int]] = WeakKeyDictionary()
"""Looked for once: a run's data stay."""


def units(run: Run, options: Mapping[str, Plain]) -> Picture | None:
    """Return pictures to choose from, and what each layer makes of the one that is chosen.

    Of a model that takes no pictures: the maps of its units.
    """
    if run.program.x.dim() != 4:
        return maps.units(run, options)
    rows = samples(run.program)
    if not rows:
        return None
    chosen = whole(options, "sample", 0, 0, len(rows) - 1)
    arrays, left = {"samples": packed(_small(run.program.x[rows].mean(dim=1)))}, maps.MOST_UNITS
    labels = run.program.y[rows] if run.program.classes else torch.arange(len(rows))
    arrays["labels"] = packed(labels, "<i8")
    row = rows[chosen]
    for place, (_, _, output) in enumerate(maps.layers(run, run.program.x[row : row + 1])):
        made = output[0].float()
        # A unit's one number is a picture of one point.
        made = made[:left] if made.dim() == 3 else made[:left, None, None]
        left -= len(made)
        arrays[f"layer{place}"] = packed(_small(made))
    return Picture(arrays, {"chosen": float(chosen)})


def _small(made: torch.Tensor) -> torch.Tensor:
    down, across = (max(1, math.ceil(side / MOST_SIDE)) for side in made.shape[-2:])
    return made[:, ::down, ::across]
