"""Fixes of the doctor's findings in a training step, applied to the set-up as a second run."""

from collections.abc import Iterable, Mapping

from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import options_of
from gradscribe.engine.doctor.examine import find_kind
from gradscribe.engine.doctor.finding_kind import SetupFix
from gradscribe.engine.protocol.setup import JsonValue, Part, Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding
from gradscribe.engine.protocol.training import Catalogue
from gradscribe.playback.translation import tr


def fixed_setup(setup: Setup, finding: str, catalogue: Catalogue) -> tuple[Setup, str] | None:
    """Return a run's setup without the cause of a finding, and what was changed.

    None if nothing in the setup is the cause.
    """
    kind = find_kind(finding)
    fix = kind.setup_fix if kind is not None else SetupFix()
    if fix.mistake in setup.mistakes:
        left = tuple(name for name in setup.mistakes if name != fix.mistake)
        return replace(setup, mistakes=left), tr("the mistake is switched off")
    rate = _option(setup.optimizer, "optimizer", "lr", catalogue)
    if fix.rate != 1.0 and isinstance(rate, int | float) and rate > 0:
        part = Part(setup.optimizer.name, {**setup.optimizer.options, "lr": rate * fix.rate})
        words = tr("learning rate {value:g} instead of {rate:g}", value=rate * fix.rate, rate=rate)
        return replace(setup, optimizer=part), words
    if fix.clip_norm and not setup.clip_norm:
        words = tr("gradients are clipped to a norm of {clip_norm:g}", clip_norm=fix.clip_norm)
        return replace(setup, clip_norm=fix.clip_norm), words
    return _activated(setup, fix.activations, catalogue)


def _activated(
    setup: Setup, others: Mapping[str, str], catalogue: Catalogue
) -> tuple[Setup, str] | None:
    named = _option(setup.model, "model", "activation", catalogue)
    names = [str(name) for name in named] if isinstance(named, list) else [str(named)]
    new = [others.get(name, name) for name in names]
    if new == names:
        return None
    activation: JsonValue = new[0] if len(new) == 1 else [*new]
    options = {**setup.model.options, "activation": activation}
    given = next(name for name in names if name in others)
    words = tr("activation {others} instead of {given}", others=others[given], given=given)
    if others[given] == "relu" and _option(setup.model, "model", "init", catalogue) == "torch":
        # Torch's default initial weights are a third too small for many layers of ReLU.
        options["init"] = "kaiming"
        words += tr(", and weights that begin as large as it needs")
    return replace(setup, model=Part(setup.model.name, options)), words


def _option(part: Part, kind: str, name: str, catalogue: Catalogue) -> object:
    """Return an option of a part, else its default; None if there is no such option."""
    return options_of(part, kind, catalogue).get(name)


def fixable_findings(
    session: TrainSession, run_id: int, findings: Iterable[Finding]
) -> frozenset[str]:
    """Return the ids of the findings that a changed setup can fix."""
    run, catalogue = session.store.find(run_id), session.store.catalogue
    if run is None or catalogue is None:
        return frozenset()
    return frozenset(f.id for f in findings if fixed_setup(run.setup, f.id, catalogue))


def train_fixed(session: TrainSession, run_id: int, finding: str) -> str:
    """Train the fixed run from step 0, to compare with the run of the finding.

    Both have the same weights and data; no other curves are shown. Returns the difference, or an
    empty text if the run is gone.
    """
    run, catalogue = session.store.find(run_id), session.store.catalogue
    fixed = fixed_setup(run.setup, finding, catalogue) if run is not None and catalogue else None
    if fixed is None:
        return ""
    session.controller.change(fixed[0])
    session.controller.begin(play=True, keep=True)
    for other in session.runs:
        session.store.hide(other.run_id, other.run_id not in (run_id, session.store.look.run_id))
    return tr("{upper}{fixed}; both runs are shown", upper=fixed[1][0].upper(), fixed=fixed[1][1:])
