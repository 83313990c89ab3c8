"""Fixes of the doctor's findings in a training step, applied to the set-up as a second run."""

from collections.abc import Iterable

from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import options_of
from gradscribe.engine.protocol.setup import JsonValue, Part, Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding
from gradscribe.engine.protocol.training import Catalogue

MISTAKES = {
    "missing-zero-grad": "no_zero_grad",
    "silent-broadcast": "column_target",
    "softmax-before-cross-entropy": "softmax_first",
    "device-mismatch": "wrong_device",
    "kept-graphs": "keep_graphs",
    "train-in-evaluation": "validate_in_train_mode",
    "graph-in-evaluation": "validate_with_grad",
}
"""The deliberate mistake that causes a finding."""
RATES = {"learning-rate-too-big": 0.1, "first-nan": 0.1, "learning-rate-too-small": 10.0}
"""The factor by which the learning rate is changed."""
ACTIVATIONS = {
    "vanishing-gradient": {"sigmoid": "relu", "tanh": "relu"},
    "dead-relu": {"relu": "leaky_relu"},
}
"""The replacements of activations."""
CLIP = 1.0


def fixed_setup(setup: Setup, finding: str, catalogue: Catalogue) -> tuple[Setup, str] | None:
    """Return a run's setup without the cause of a finding, and what was changed.

    None if nothing in the setup is the cause.
    """
    mistake = "huge_lr" if "huge_lr" in setup.mistakes and finding in RATES else ""
    mistake = mistake or MISTAKES.get(finding, "")
    if mistake in setup.mistakes:
        left = tuple(name for name in setup.mistakes if name != mistake)
        return replace(setup, mistakes=left), "the mistake is switched off"
    if finding in RATES:
        rate = _option(setup.optimizer, "optimizer", "lr", catalogue)
        if not isinstance(rate, int | float) or rate <= 0:
            return None
        part = Part(setup.optimizer.name, {**setup.optimizer.options, "lr": rate * RATES[finding]})
        words = f"learning rate {rate * RATES[finding]:g} instead of {rate:g}"
        return replace(setup, optimizer=part), words
    if finding == "exploding-gradient" and not setup.clip_norm:
        return replace(setup, clip_norm=CLIP), f"gradients are clipped to a norm of {CLIP:g}"
    return _activated(setup, ACTIVATIONS.get(finding, {}), catalogue)


def _activated(
    setup: Setup, others: dict[str, str], catalogue: Catalogue
) -> tuple[Setup, str] | None:
    named = _option(setup.model, "model", "activation", catalogue)
    names = [str(name) for name in named] if isinstance(named, list) else [str(named)]
    new = [others.get(name, name) for name in names]
    if new == names:
        return None
    activation: JsonValue = new[0] if len(new) == 1 else [*new]
    options = {**setup.model.options, "activation": activation}
    given = next(name for name in names if name in others)
    words = f"activation {others[given]} instead of {given}"
    if others[given] == "relu" and _option(setup.model, "model", "init", catalogue) == "torch":
        # Torch's default initial weights are a third too small for many layers of ReLU.
        options["init"] = "kaiming"
        words += ", and weights that begin as large as it needs"
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
    return f"{fixed[1][0].upper()}{fixed[1][1:]}; both runs are shown"
