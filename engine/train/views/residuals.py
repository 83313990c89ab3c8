"""Targets and outputs of a regression with one output."""

from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits, maps
from gradscribe.engine.train.views.view import EngineView

ROWS = 2000
"""Maximum rows of the data."""


def _make(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return ``target``, ``output`` (n,), and ``train`` (n,) bool."""
    program = run.program
    if program.task != "regression" or program.y.shape[1] != 1:
        return None
    rows = torch.arange(limits.max_rows(run, min(ROWS, len(program.x))))
    trained = torch.isin(rows, program.tensor("train_rows"))
    return ViewData(
        {
            "target": to_array(program.y[rows, 0]),
            "output": to_array(maps.model_output(run, program.x[rows])[:, 0]),
            "train": to_array(trained, "|b1"),
        }
    )


ENTRY = EngineView("residuals", _make)
