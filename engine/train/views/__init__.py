"""Views of a run's current step, computed only on request: each module with an ``ENTRY`` is one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.arrays import ViewData
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.program import suppress_warnings
from gradscribe.engine.train.user_module import attributes
from gradscribe.engine.train.views.view import EngineView


def load() -> dict[str, EngineView]:
    """Return all views by kind: the ``ENTRY`` of each module of this package that has one."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    entries = (module.ENTRY for module in modules if hasattr(module, "ENTRY"))
    return {entry.kind: entry for entry in entries}


KINDS = load()
"""All views by kind. Loaded at once, as a confined engine may not read files later."""


def compute(run: TrainingRun, kind: str, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return a view of the run's current step, None if the kind does not apply to it."""
    if kind not in KINDS:
        return None
    with evaluating(run):
        return KINDS[kind].make(run, options)


@contextmanager
def evaluating(run: TrainingRun) -> Iterator[None]:
    """Put the run's model into eval mode without gradients.

    On exit the run is exactly as before: weights, modes, generators, attributes of its modules.
    """
    model = run.program.model
    modes = [(module, module.training) for module in model.modules()]
    random = checkpoints.random_state(run.program)
    model.eval()
    try:
        with torch.no_grad(), suppress_warnings(), attributes.preserved(run.program):
            yield
    finally:
        for module, training in modes:
            module.training = training
        checkpoints.set_random_state(run.program, random)
