"""What can be seen of a run: pictures of its present step, made only when they are wanted."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch

from engine.setup import Plain
from engine.train import checkpoints
from engine.train.program import quiet
from engine.train.run import Run
from engine.train.views import maps, numbers, surface
from engine.train.views.arrays import Picture


class Kind(NamedTuple):
    """How a view is made, and the share of the trainer's time that it may take."""

    show: Callable[[Run, Mapping[str, Plain]], Picture | None]
    share: float = 0.004


KINDS = {
    "boundary": Kind(maps.boundary, 0.05),
    "fit": Kind(maps.fit),
    "units": Kind(maps.units, 0.05),
    "residuals": Kind(maps.residuals),
    "confusion": Kind(numbers.confusion),
    "scores": Kind(numbers.scores),
    "gradients": Kind(numbers.gradients),
    "histograms": Kind(numbers.histograms),
    "weights": Kind(numbers.weights),
    "optimizer": Kind(numbers.optimizer),
    "surface": Kind(surface.surface, 0.01),
}


def show(run: Run, kind: str, options: Mapping[str, Plain]) -> Picture | None:
    """Return a picture of the run's present step, None where the kind does not apply to it.

    The run is left exactly as it was: weights, mode, generators.
    """
    if kind not in KINDS:
        return None
    model = run.program.model
    modes = [(module, module.training) for module in model.modules()]
    random = checkpoints.random_state(run.program)
    model.eval()
    try:
        with torch.no_grad(), quiet():
            return KINDS[kind].show(run, options)
    finally:
        for module, training in modes:
            module.training = training
        checkpoints.set_random_state(run.program, random)
