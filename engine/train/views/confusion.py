"""Confusion matrices of the training and the validation data."""

from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import scores
from gradscribe.engine.train.views.view import EngineView


def _make(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return ``train`` and ``val`` (classes, classes) int64: rows are the truth; per token."""
    program = run.program
    classes = program.shapes.outputs if program.task == "tokens" else program.classes
    if not classes:
        return None
    matrices = {}
    for part in ("train", "val"):
        rows = scores.rows_of(run, part)
        counts = torch.zeros(classes * classes, dtype=torch.long)
        if len(rows):
            pairs = program.y[rows] * classes + scores.predicted(run, scores.output_of(run, rows))
            counts = torch.bincount(pairs.reshape(-1), minlength=classes * classes)
        matrices[part] = to_array(counts.reshape(classes, classes), "<i8")
    return ViewData(matrices)


ENTRY = EngineView("confusion", _make)
