"""A learning rate far too small, and a penalty that shrinks the model to nothing."""

import math
from collections.abc import Iterator

import torch
from torch import nn
from torch.func import functional_call

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train.advice.kind import AdviceKind
from gradscribe.engine.train.advice.run_facts import RunFacts
from gradscribe.engine.train.user_module import attributes

LEAST_STEPS = 50
"""Steps from which on a run is judged."""
FLAT = 0.05
"""Largest share of the first loss that it has fallen by: more is progress."""
UPDATE = 1e-4
"""Largest size of an update relative to its weights, as for the doctor: about 1e-3 is usual."""
TIMES, GAIN, WORTH = 100.0, 0.05, 5.0
"""Least ratio of a better rate to the present one, least share of the loss that `PROOF` steps of it
take away, and least ratio of that share to what all steps so far took away: a rate is only called
too small if another is seen to work."""
ROWS, MOST_PARAMETERS, DECADES, PROOF = 1000, 1 << 20, 9, 8
SIGNED = ("adam", "adamw", "nadam", "radam", "adamax", "rmsprop", "adagrad", "adafactor", "rprop")
"""Optimizers whose step has about the same length for every weight, whatever its gradient."""
CONSTANT, SHRUNK = 0.01, 0.1
"""Spread of the outputs over that of the targets, and size of the weights over their first size,
below which a penalty has won: a model that learns anything has both above 0.3."""
PENALTIES = {"l2": "l2", "l1": "l1", "optimizer.weight_decay": "weight_decay"}


def find(facts: RunFacts) -> Iterator[Advice]:
    """Yield a rate that moves nothing although another would, and a penalty that won."""
    run = facts.run
    changed = [step for step, _ in run.changes]
    if run.step - max(changed, default=0) < LEAST_STEPS or facts.setup.mistakes:
        return
    if run.problem is not None or run.events is not None or not facts.can_evaluate:
        return
    yield from _small_rate(facts)
    yield from _strong_penalty(facts)


# The learning rate


def _small_rate(facts: RunFacts) -> Iterator[Advice]:
    rate = facts.setup.optimizer.options.get("lr")
    if not isinstance(rate, int | float) or not rate > 0 or facts.setup.schedule is not None:
        return
    fallen = _fallen(facts)
    if fallen is None or fallen > FLAT or _largest_update(facts) > UPDATE:
        return
    better, gain = _better_rate(facts, float(rate))
    if gain < max(GAIN, WORTH * fallen):
        return
    words = (
        f"In {facts.run.step:,} steps the loss fell by {max(0.0, fallen):.1%}: lr {rate:g} is far "
        f"too small. {PROOF} steps of lr {better:g} take {gain:.0%} of it away"
    )
    change: dict[str, JsonValue] = {"optimizer.lr": better}
    yield Advice("rate", "optimizer.lr", words, f"Learning rate {better:g}", change)


def _fallen(facts: RunFacts) -> float | None:
    """Return the share of the first losses that is gone; None if the losses are not positive."""
    rows, _, _ = facts.run.history.store()
    begun = max((step for step, _ in facts.run.changes), default=0)
    losses = rows[rows[:, 0] > begun, 1]
    few = max(1, min(20, len(losses) // 5))
    if len(losses) < 2 or not math.isfinite(losses.sum()):
        return None
    first = losses[:few].mean()
    return float((first - losses[-few:].mean()) / first) if first > 0 else None


def _largest_update(facts: RunFacts) -> float:
    """Return the largest measured update of a parameter, relative to it; infinite without any."""
    rows = facts.run.history.norms()
    ratios = rows[-3:, 1 + (rows.shape[1] - 1) // 2 :]
    known = ratios[ratios == ratios]
    return float(known.max()) if len(known) else math.inf


def _better_rate(facts: RunFacts, rate: float) -> tuple[float, float]:
    """Return a power of ten that is `TIMES` the rate or more, and its share of the loss.

    `PROOF` plain steps with it take that share away, seen on the training data; 0 if none does.
    """
    parameters = {n: p.detach() for n, p in facts.program.model.named_parameters()}
    if sum(p.numel() for p in parameters.values()) > MOST_PARAMETERS:
        return rate, 0.0
    trained = [n for n, p in facts.program.model.named_parameters() if p.requires_grad]
    with attributes.evaluating(facts.program):
        before, gradients = _direction(facts, parameters, trained)
        losses: dict[float, float] = {}
        first = math.floor(math.log10(rate * TIMES) + 1 - 1e-9)
        for power in range(first, first + DECADES):
            tried = 10.0**power
            moved = {n: parameters[n] - tried * gradients[n] for n in trained}
            losses[tried] = _loss(facts, {**parameters, **moved}).item()
            if tried > 1 or not losses[tried] < 2 * before:
                break
        finite = {tried: loss for tried, loss in losses.items() if loss < before}
        best = min(finite, key=lambda tried: finite[tried], default=0.0)
        # A rate that is best for a single step may be too large for several.
        while before > 0 and best >= rate * TIMES:
            after = _loss_after(facts, parameters, trained, best)
            if after <= losses.get(best, before):
                return best, 1 - after / before
            best /= 10
    return rate, 0.0


def _loss_after(
    facts: RunFacts, parameters: dict[str, torch.Tensor], trained: list[str], rate: float
) -> float:
    """Return the loss after `PROOF` plain steps; NaN or infinite if they diverge."""
    now = dict(parameters)
    for _ in range(PROOF):
        _, gradients = _direction(facts, now, trained)
        now |= {n: now[n] - rate * gradients[n] for n in trained}
    return _loss(facts, now).item()


def _direction(
    facts: RunFacts, parameters: dict[str, torch.Tensor], trained: list[str]
) -> tuple[float, dict[str, torch.Tensor]]:
    """Return the loss, and the step that the optimizer would make with a rate of 1."""
    loss, gradients = _gradients(facts, parameters, trained)
    if facts.setup.optimizer.name in SIGNED:
        gradients = {name: gradient.sign() for name, gradient in gradients.items()}
    return loss, gradients


def _gradients(
    facts: RunFacts, parameters: dict[str, torch.Tensor], trained: list[str]
) -> tuple[float, dict[str, torch.Tensor]]:
    leaves = {n: parameters[n].clone().requires_grad_() for n in trained}
    with torch.enable_grad():
        loss = _loss(facts, {**parameters, **leaves})
        found = torch.autograd.grad(loss, [*leaves.values()], allow_unused=True)
    pairs = zip(leaves, found, strict=True)
    zeros = torch.zeros_like
    return loss.item(), {n: zeros(parameters[n]) if g is None else g for n, g in pairs}


def _loss(facts: RunFacts, parameters: dict[str, torch.Tensor]) -> torch.Tensor:
    program = facts.program
    inputs, targets = program.tensor("x_train")[:ROWS], program.tensor("y_train")[:ROWS]
    return program.criterion(functional_call(program.model, parameters, (inputs,)), targets)


# Penalties


def _strong_penalty(facts: RunFacts) -> Iterator[Advice]:
    given = {key: _penalty(facts, key) for key in PENALTIES}
    strongest = max(given, key=lambda key: given[key])
    if not given[strongest] > 0 or facts.program.task == "tokens":
        return
    first = _size(facts.program.model, facts)
    left = _size(facts.program.model, None) / first if first > 0 else 1.0
    if left >= SHRUNK or not _is_constant(facts):
        return
    value, name = given[strongest], PENALTIES[strongest]
    weaker = min(0.01, 10.0 ** (math.floor(math.log10(value)) - 2))
    words = (
        f"{name} {value:g} has shrunk the weights to {left:.1%} of their first size: the outputs "
        "are the same for all rows"
    )
    title = f"{name.replace('_', ' ').capitalize()} {weaker:g}"
    yield Advice("penalty", strongest, words, title, {strongest: weaker})


def _penalty(facts: RunFacts, key: str) -> float:
    name, _, option = key.partition(".")
    value = facts.setup.optimizer.options.get(option) if option else getattr(facts.setup, name)
    return float(value) if isinstance(value, int | float) else 0.0


def _size(model: nn.Module, facts: RunFacts | None) -> float:
    """Return the norm of all weight matrices, now or (with ``facts``) at the first step."""
    weights: list[torch.Tensor] = [p.detach() for p in model.parameters()]
    if facts is not None:
        weights = facts.run.checkpoints.before(0).parameters
    return math.sqrt(sum(w.double().square().sum().item() for w in weights if w.dim() > 1))


def _is_constant(facts: RunFacts) -> bool:
    program = facts.program
    inputs, targets = program.tensor("x_train")[:ROWS], program.tensor("y_train")[:ROWS]
    with attributes.evaluating(program):
        output = program.model(inputs.clone())
    scale = targets.double().std(dim=0).max().item() if program.task == "regression" else 1.0
    spread = output.double().std(dim=0).max().item()
    return scale > 0 and spread <= CONSTANT * scale


ENTRY = AdviceKind(find, order=70, needs_steps=True)
