"""Outputs of the model over the plane of its two inputs."""

from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData, int_option, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits, maps
from gradscribe.engine.train.views.view import EngineView


def _make(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return the output over the plane: the raw output, for classes their probabilities.

    Options: ``side`` 100, ``around``: a box to cover in addition to the data's. ``grid`` (classes,
    side, side) float32, row 0 at the top; ``box`` (4,): x0, y0, x1, y1.
    """
    if maps.width(run) != 2:
        return None
    side = limits.max_side(run, int_option(options, "side", 100, 4, 400))
    around = maps.view_box(run, options)
    output = maps.model_output(run, maps.grid(run, side, around))
    if output.shape[1] > 1 and run.program.classes:
        output = torch.softmax(output, dim=1)
    values = output.T.reshape(-1, side, side)
    return ViewData({"grid": to_array(values), "box": to_array(torch.tensor(around))})


ENTRY = EngineView("boundary", _make)
