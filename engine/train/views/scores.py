"""Loss and number of correct predictions."""

from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits
from gradscribe.engine.train.views.view import EngineView

ROWS = 2000
"""Maximum rows of the data in each part."""


def rows_of(run: TrainingRun, part: str) -> torch.Tensor:
    """Return the rows of a part of the data, ``train`` or ``val``, as many as may be evaluated."""
    return run.program.tensor(f"{part}_rows")[: limits.max_rows(run, ROWS)]


def output_of(run: TrainingRun, rows: torch.Tensor) -> torch.Tensor:
    """Return the model's output for rows of the data."""
    output: torch.Tensor = run.program.model(run.program.tensor("inputs")[rows])
    return output


def predicted(run: TrainingRun, output: torch.Tensor) -> torch.Tensor:
    """Return the predicted class of each row, or of each position of tokens."""
    program = run.program
    if program.task == "tokens":
        return output.argmax(dim=2).cpu()
    if output.shape[1] > 1:
        return output.argmax(dim=1).cpu()
    return (output[:, 0] > 0).long().cpu()


def _make(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData:
    """Return ``train_loss``, for classes ``train_right`` and ``train_count``; and of ``val``."""
    program, facts = run.program, {}
    for part in ("train", "val"):
        rows = rows_of(run, part)
        if not len(rows):
            continue
        output = output_of(run, rows)
        loss = program.criterion(output, program.tensor("targets")[rows])
        facts[f"{part}_loss"] = loss.item()
        if program.task == "tokens" or program.classes:
            right = predicted(run, output) == program.y[rows]
            facts[f"{part}_right"], facts[f"{part}_count"] = right.sum().item(), right.numel()
    return ViewData({}, facts)


ENTRY = EngineView("scores", _make)
