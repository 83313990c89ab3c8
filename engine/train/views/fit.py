"""The model's output as a curve over its only input."""

from collections.abc import Callable, Mapping
from typing import cast

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import RawArray
from gradscribe.engine.train.arrays import ViewData, int_option, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.views import limits, maps
from gradscribe.engine.train.views.view import EngineView
from gradscribe.engine.zoo.entry import Data

TRUE_POINTS = 800
"""Places at which the true function is computed."""
Made = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def _make(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return ``x`` (n,) and ``y`` (n, outputs). Option: ``points`` 200.

    ``true_x``, ``true_y`` (n,), by ascending x: the function of which the data are noisy values, if
    they are made from one.
    """
    if maps.width(run) != 1:
        return None
    x0, _, x1, _ = maps.box(run.program.x)
    points = limits.max_rows(run, int_option(options, "points", 200, 2, 2000))
    x = torch.linspace(x0, x1, points).unsqueeze(1)
    arrays = {"x": to_array(x[:, 0]), "y": to_array(maps.model_output(run, x))}
    return ViewData(arrays | _true_function(run))


def _true_function(run: TrainingRun) -> dict[str, RawArray]:
    piece, options = catalogue.find("data", run.setup.data, Data)
    if piece.noiseless is None:
        return {}
    given = {**options, **piece.noiseless, "n": TRUE_POINTS}
    x, y = cast("Made", piece.make)(rng=torch.Generator().manual_seed(0), **given)
    order = x[:, 0].argsort()
    return {"true_x": to_array(x[order, 0]), "true_y": to_array(y[order, 0])}


ENTRY = EngineView("fit", _make)
