"""Output maps of the units of each layer; for an image model the activation maps of one sample."""

import math
from collections.abc import Mapping
from weakref import WeakKeyDictionary

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData, int_option, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.program import TrainingProgram
from gradscribe.engine.train.views import limits, maps
from gradscribe.engine.train.views.view import EngineView

MOST_UNITS = 256
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


def _make(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return a small map of each unit, in the order of `RunStarted.units`.

    Option: ``side`` 24. ``grid`` (units, side, side) or, for one input, (units, points); ``box``
    (4,): x0, y0, x1, y1. For images, with the option ``sample``: ``samples`` (n, rows, columns),
    their ``labels`` (n,) int64, and ``layer0``... (units, rows, columns), each layer's output for
    the sample that the fact ``chosen`` names.
    """
    if run.program.x.dim() != 4:
        return _over_inputs(run, options)
    rows = sample_rows(run.program)
    if not rows:
        return None
    chosen = int_option(options, "sample", 0, 0, len(rows) - 1)
    arrays = {"samples": to_array(_subsampled(run.program.x[rows].mean(dim=1)))}
    left = MOST_UNITS
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


def _over_inputs(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return a small map of each unit, layer by layer."""
    inputs = maps.width(run)
    if inputs not in (1, 2):
        return None
    side = limits.max_side(run, int_option(options, "side", 24, 4, 100))
    around = maps.box(run.program.x)
    if inputs == 2:
        x = maps.grid(run, side)
    else:
        x = torch.linspace(around[0], around[2], 4 * side).unsqueeze(1)
    activations = [output.float().T for _, _, output in maps.layers(run, x)]
    if not activations:
        return None
    values = torch.cat(activations)[:MOST_UNITS]
    values = values.reshape(len(values), side, side) if inputs == 2 else values
    return ViewData({"grid": to_array(values), "box": to_array(torch.tensor(around))})


def _subsampled(images: torch.Tensor) -> torch.Tensor:
    down, across = (max(1, math.ceil(side / MOST_SIDE)) for side in images.shape[-2:])
    return images[:, ::down, ::across]


ENTRY = EngineView("units", _make)
