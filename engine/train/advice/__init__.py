"""Advice of a teacher on a run's setup: each module with an ``ENTRY`` is a kind.

A teacher speaks seldom: each kind has a threshold, which its module justifies, and gives nothing on
ordinary data and set-ups.
"""

from importlib import import_module
from pkgutil import iter_modules

from gradscribe.engine.protocol.training.advice import MAX_ADVICE, Advice
from gradscribe.engine.run.errors import USER_ERRORS
from gradscribe.engine.train.advice.kind import AdviceKind
from gradscribe.engine.train.advice.run_facts import RunFacts
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.program import suppress_warnings


def load() -> tuple[AdviceKind, ...]:
    """Return all kinds: the ``ENTRY`` of each module of this package that has one, in order."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    entries = [module.ENTRY for module in modules if hasattr(module, "ENTRY")]
    return tuple(sorted(entries, key=lambda entry: entry.order))


KINDS = load()
"""All kinds. Loaded at once, as a confined engine may not read files later."""


def on_setup(run: TrainingRun, diverged: bool = False) -> tuple[Advice, ...]:
    """Return the advice on a run that its data and its model show; the run is unchanged.

    ``diverged``: its loss has become infinite, which lowers some thresholds.
    """
    kinds = [kind for kind in KINDS if not kind.needs_steps]
    return _gathered(RunFacts(run, diverged), kinds)


def on_progress(run: TrainingRun) -> tuple[Advice, ...]:
    """Return the advice on a run that its steps so far show; it is unchanged."""
    return _gathered(RunFacts(run), [kind for kind in KINDS if kind.needs_steps])


def _gathered(facts: RunFacts, kinds: list[AdviceKind]) -> tuple[Advice, ...]:
    found: list[Advice] = []
    with suppress_warnings():
        for kind in kinds:
            try:
                found += kind.find(facts)
            except USER_ERRORS:
                # A module of the user's may raise with fewer rows; training reports that itself.
                continue
    return tuple(found[:MAX_ADVICE])
