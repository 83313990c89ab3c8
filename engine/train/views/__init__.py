"""What can be seen of a run: pictures of its present step, made only when they are wanted."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch

from engine.setup import Plain
from engine.train import attributes, checkpoints
from engine.train.program import quiet
from engine.train.run import Run
from engine.train.views import channels, maps, numbers, surface
from engine.train.views.arrays import Picture

KINDS: dict[str, Callable[[Run, Mapping[str, Plain]], Picture | None]] = {
    "boundary": maps.boundary,
    "fit": maps.fit,
    "units": channels.units,
    "residuals": maps.residuals,
    "confusion": numbers.confusion,
    "scores": numbers.scores,
    "gradients": numbers.gradients,
    "histograms": numbers.histograms,
    "weights": numbers.weights,
    "optimizer": numbers.optimizer,
    "surface": surface.surface,
}
"""How each kind of view is made; None where it does not apply to the run."""


def show(run: Run, kind: str, options: Mapping[str, Plain]) -> Picture | None:
    """Return a picture of the run's present step, None where the kind does not apply to it."""
    if kind not in KINDS:
        return None
    with looking(run):
        return KINDS[kind](run, options)


@contextmanager
def looking(run: Run) -> Iterator[None]:
    """Have the run's model evaluate, without gradients.

    The run is left exactly as it was: weights, mode, generators, what its modules keep.
    """
    model = run.program.model
    modes = [(module, module.training) for module in model.modules()]
    random = checkpoints.random_state(run.program)
    model.eval()
    try:
        with torch.no_grad(), quiet(), attributes.untouched(run.program):
            yield
    finally:
        for module, training in modes:
            module.training = training
        checkpoints.set_random_state(run.program, random)
