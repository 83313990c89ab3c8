"""The model's output as a curve over its only input."""

from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData, int_option, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits, maps
from gradscribe.engine.train.views.view import EngineView


def _make(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return ``x`` (n,) and ``y`` (n, outputs). Option: ``points`` 200."""
    if maps.width(run) != 1:
        return None
    x0, _, x1, _ = maps.box(run.program.x)
    points = limits.max_rows(run, int_option(options, "points", 200, 2, 2000))
    x = torch.linspace(x0, x1, points).unsqueeze(1)
    return ViewData({"x": to_array(x[:, 0]), "y": to_array(maps.model_output(run, x))})


ENTRY = EngineView("fit", _make)
