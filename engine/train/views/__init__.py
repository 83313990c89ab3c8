"""Views of a run's current step, computed only on request: each module with an ``ENTRY`` is one."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.user_module import attributes
from gradscribe.engine.train.views.view import EngineView


def load() -> dict[str, EngineView]:
    """Return all views by kind: the ``ENTRY`` of each module of this package that has one."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    entries = (module.ENTRY for module in modules if hasattr(module, "ENTRY"))
    return {entry.kind: entry for entry in entries}


KINDS = load()
"""All views by kind. Loaded at once, as a confined engine may not read files later."""


def is_only_paused(kind: str) -> bool:
    """Return whether a view is computed only while its run is paused."""
    return kind in KINDS and KINDS[kind].only_paused


def compute(run: TrainingRun, kind: str, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return a view of the run's current step, None if the kind does not apply to it."""
    if kind not in KINDS:
        return None
    if KINDS[kind].only_paused:
        return KINDS[kind].make(run, options)
    with attributes.evaluating(run.program):
        return KINDS[kind].make(run, options)
