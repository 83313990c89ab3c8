"""Advice of a teacher on a run's setup: each module with an ``ENTRY`` is a kind.

A teacher speaks seldom: each kind has a threshold, which its module justifies, and gives nothing on
ordinary data and set-ups.
"""

from collections.abc import Sequence
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
    """Return the advice on a run that its data, model and setup show; the run is unchanged.

    ``diverged``: its loss has become infinite, which lowers some thresholds.
    """
    kinds = [kind for kind in KINDS if not kind.needs_steps]
    return _gathered(RunFacts(run, diverged), kinds)


def on_data(run: TrainingRun) -> tuple[Advice, ...]:
    """Return the part of `on_setup` that a change during a run leaves as it is."""
    return _gathered(RunFacts(run), [kind for kind in KINDS if kind.of_data])


def on_settings(run: TrainingRun, diverged: bool = False) -> tuple[Advice, ...]:
    """Return the part of `on_setup` that a change during a run may change."""
    kinds = [kind for kind in KINDS if not (kind.needs_steps or kind.of_data)]
    return _gathered(RunFacts(run, diverged), kinds)


def on_progress(run: TrainingRun) -> tuple[Advice, ...]:
    """Return the advice on a run that its steps so far show; it is unchanged."""
    return _gathered(RunFacts(run), [kind for kind in KINDS if kind.needs_steps])


SECTIONS = {
    "data": "data", "train": "split", "standardize": "prepare", "features": "prepare",
    "model": "model", "loss": "loss", "optimizer": "optimizer", "schedule": "optimizer",
}  # fmt: skip
"""The section of the exported script for each key of the setup; all others concern the step."""


def script_remarks(advice: Sequence[Advice]) -> dict[str, list[str]]:
    """Return the advice on a run as remarks for its script, by section."""
    remarks: dict[str, list[str]] = {}
    for one in advice:
        section = SECTIONS.get(one.place.partition(".")[0], "step")
        remarks.setdefault(section, []).append(one.words)
    return remarks


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
