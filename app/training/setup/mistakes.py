"""Deliberate mistakes: setups that show them, and their cost against a correct run."""

import math
from collections.abc import Callable, Mapping

from gradscribe.app.training.session.state import describe_difference
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.step_order import RIGHT_ORDER
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import Catalogue
from gradscribe.playback.explain.step_order import explain_order
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

Facts = Mapping[str, float]

NO_VALIDATION = tr("nothing is validated here, so nothing differs")


def with_needed_changes(setup: Setup, catalogue: Catalogue) -> Setup:
    """Return the setup, changed if its mistakes were impossible or without effect.

    (N, 1) against (N) needs a regression, softmax needs cross-entropy behind it; train mode
    differs from eval mode only with dropout or batch norm.
    """
    tasks = {entry.name: entry.task for entry in catalogue.entries if entry.kind == "data"}
    is_regression = tasks.get(setup.data.name) == "regression"
    if "column_target" in setup.mistakes and not is_regression:
        setup = replace(setup, data=_numbers(setup, catalogue), loss=None, features=())
        is_regression = True
    if "softmax_first" in setup.mistakes:
        if is_regression:
            setup = replace(setup, data=Part("moons"), features=())
        setup = replace(setup, loss=Part("cross_entropy"))
    if "validate_in_train_mode" in setup.mistakes and setup.model.name == "mlp":
        options = setup.model.options
        if not options.get("dropout") and options.get("norm", "none") == "none":
            setup = replace(setup, model=Part("mlp", {**options, "dropout": 0.3}))
    return setup


def _numbers(setup: Setup, catalogue: Catalogue) -> Part:
    """Return regression data; for a user's module with the number of inputs that it takes."""
    data = [entry for entry in catalogue.entries if entry.kind == "data"]
    inputs = next((entry.inputs for entry in data if entry.name == setup.data.name), "1")
    alike = (e.name for e in data if e.task == "regression" and e.inputs == inputs)
    return Part(next(alike, "sine") if setup.model.name == "own" else "sine")


class MistakeSwitcher:
    """Switches mistakes on and off: setup changes that a mistake needs are undone with it."""

    def __init__(self) -> None:
        self._plain: Setup | None = None
        """The setup before the changes that a mistake needs, and (``_brought``) after them."""
        self._brought: Setup | None = None

    def switched(self, before: Setup, setup: Setup, catalogue: Catalogue) -> tuple[Setup, str]:
        """Return the setup that shows its mistakes, and a description of the other changes.

        ``before`` has other mistakes than ``setup``. Needed changes that the user has edited
        since stay.
        """
        plain = self._without(before, setup)
        self._plain, self._brought = plain, with_needed_changes(plain, catalogue)
        if self._brought == setup:
            return setup, ""
        away = set(setup.mistakes) < set(before.mistakes)
        why = tr("Undone with the mistake") if away else tr("To show the mistake")
        return self._brought, f"{why}: {describe_difference(self._brought, setup, catalogue)}"

    def _without(self, before: Setup, setup: Setup) -> Setup:
        plain, brought = self._plain, self._brought
        if plain is None or brought is None or before.mistakes != brought.mistakes:
            return setup
        if setup.model == brought.model:
            setup = replace(setup, model=plain.model)
        # A loss and features belong to the data that they were chosen for.
        if setup.data == brought.data:
            loss = plain.loss if setup.loss == brought.loss else setup.loss
            features = plain.features if setup.features == brought.features else setup.features
            setup = replace(setup, data=plain.data, loss=loss, features=features)
        return setup


def describe_cost(setup: Setup, facts: Facts, problem: str = "") -> str:
    """Return a line with the cost of a run's mistakes, or of its order, against the correct run."""
    why = explain_order(setup.order)
    if not facts.get("right_step"):
        return why or problem
    if problem:
        right = formatting.number(facts["right_loss"])
        after = tr(
            "The right run: loss {right} at step {facts:,.0f}",
            right=right,
            facts=facts["right_step"],
        )
        # The error itself stands in the strip above; the words say why it is raised.
        return f"{why or problem} {after}"
    words = [_WORDS[name](facts) for name in setup.mistakes if name in _WORDS]
    if setup.order != RIGHT_ORDER:
        words.append(_changed_order(facts))
    if setup.manual_update:
        words.append(_manual_update(facts))
    return tr("{why} Step {facts:,.0f}: ", why=why, facts=facts["step"]).lstrip() + "; ".join(
        filter(None, words)
    )


def ratio_text(a: float, b: float) -> str:
    """Return the ratio a / b with three digits: ``12.3 times``, ``0.0512 times``."""
    if a == b:
        return tr("{round} times", round="1.00")
    if not b or not math.isfinite(a / b):
        return tr("infinitely many times")
    ratio = a / b
    digits = 2 - math.floor(math.log10(ratio)) if ratio > 0 else 0
    text = f"{round(ratio, digits):,.{max(0, digits)}f}"
    return tr("{round} times", round=text)


def _losses(facts: Facts) -> str:
    right = formatting.number(facts["right_loss"])
    words = tr(
        "loss {number} against {right} over the last 20 steps",
        number=formatting.number(facts["loss"]),
        right=right,
    )
    return words + _harmless(facts, "loss")


def _changed_order(facts: Facts) -> str:
    right = formatting.number(facts["right_loss"])
    if facts["loss"] == facts["right_loss"]:
        return tr("loss {right}, as in the right run", right=right)
    grad = ratio_text(facts["grad"], facts["right_grad"])
    return tr("{losses}, gradients {grad} the right ones", losses=_losses(facts), grad=grad)


def _manual_update(facts: Facts) -> str:
    weights, equal = (int(facts.get(name, 0)) for name in ("weights", "equal"))
    if not weights:
        return ""
    if equal == weights:
        return tr(
            "w −= lr · grad gives all {weights:,} weights of the optimizer, to the bit",
            weights=weights,
        )
    apart = formatting.number(facts["apart"])
    return tr(
        "{equal:,} of {weights:,} weights are the optimizer's, the others at most {apart} away",
        equal=equal,
        weights=weights,
        apart=apart,
    )


def _harmless(facts: Facts, loss: str) -> str:
    """Return a remark if the run is no worse than the correct one, which would surprise."""
    return tr(" (no worse so far)") if facts[loss] <= facts[f"right_{loss}"] else ""


def _validations(facts: Facts) -> str:
    if math.isnan(facts["val"]) or math.isnan(facts["right_val"]):
        return _losses(facts)
    wrong, right = (formatting.number(facts[name]) for name in ("val", "right_val"))
    words = tr("validation {wrong} against {right}", wrong=wrong, right=right)
    return words + _harmless(facts, "val")


def _no_zero_grad(facts: Facts) -> str:
    size = ratio_text(facts["grad"], facts["right_grad"])
    return tr(
        "gradients add up to {size} the right ones, {losses}", size=size, losses=_losses(facts)
    )


def _column_target(facts: Facts) -> str:
    rows = facts.get("rows", 0)
    if rows == 1:
        return tr(
            "a batch of one has one difference either way, so nothing differs, {losses}",
            losses=_losses(facts),
        )
    return tr(
        "{rows:,.0f} targets give {value:,.0f} differences, so it learns their mean, {validations}",
        rows=rows,
        value=rows * rows,
        validations=_validations(facts),
    )


def _validate_in_train_mode(facts: Facts) -> str:
    if "in_train" not in facts:
        return NO_VALIDATION
    training, evaluation = facts["in_train"], facts["in_eval"]
    if math.isclose(training, evaluation, rel_tol=1e-6):
        return tr("this model does the same in train mode as in eval mode, so nothing differs")
    return tr(
        "validation {number} in train mode, {number_2} of the same weights in eval "
        "mode, with training itself the same but for its random numbers",
        number=formatting.number(training),
        number_2=formatting.number(evaluation),
    )


def _validate_with_grad(facts: Facts) -> str:
    if "saved" not in facts:
        return NO_VALIDATION
    saved = formatting.size(int(facts["saved"]))
    return tr(
        "each validation saves {saved} for a backward pass that never comes, the right one 0 B",
        saved=saved,
    )


def _keep_graphs(facts: Facts) -> str:
    kept, nodes = facts.get("kept", 0), facts.get("nodes", 0)
    held = (
        tr(", {size} more memory", size=formatting.size(int(facts["bytes"])))
        if facts.get("bytes")
        else ""
    )
    return tr(
        "{kept:,.0f} losses hold {value:,.0f} backward nodes{held}, the right run holds 0",
        kept=kept,
        value=kept * nodes,
        held=held,
    )


def _softmax_first(facts: Facts) -> str:
    size = ratio_text(facts["grad"], facts["right_grad"])
    why = tr("softmax twice flattens")
    if facts.get("outputs") == 1:
        why = tr("the softmax of a single output is 1 whatever the weights, so nothing is learnt")
    return tr(
        "{why}: {losses}, gradients {size} the right ones",
        why=why,
        losses=_losses(facts),
        size=size,
    )


def _huge_lr(facts: Facts) -> str:
    rate, right = facts["lr"], facts["right_lr"]
    highest = formatting.number(facts["highest"])
    if not facts.get("peaks", True):
        # A long run records only every n-th step, and a peak may lie in between.
        highest = tr("at least {highest}", highest=highest)
    return tr(
        "lr {rate:g} in place of {right:g}, {losses}, {highest} at its highest",
        rate=rate,
        right=right,
        losses=_losses(facts),
        highest=highest,
    )


def _freeze_first(facts: Facts) -> str:
    moved = formatting.number(facts["right_first"])
    first = formatting.number(facts["first"])
    return tr(
        "the first layer moved by {first} against {moved}, {losses}",
        first=first,
        moved=moved,
        losses=_losses(facts),
    )


_WORDS: dict[str, Callable[[Facts], str]] = {
    "no_zero_grad": _no_zero_grad,
    "column_target": _column_target,
    "validate_in_train_mode": _validate_in_train_mode,
    "validate_with_grad": _validate_with_grad,
    "keep_graphs": _keep_graphs,
    "softmax_first": _softmax_first,
    "huge_lr": _huge_lr,
    "freeze_first": _freeze_first,
}
