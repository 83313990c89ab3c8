"""Inputs or targets that are far from 1 in size, and not standardized."""

import math
from collections.abc import Iterator

import torch

from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train.advice.kind import AdviceKind
from gradscribe.engine.train.advice.run_facts import RunFacts
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.zoo.entry import Optimizer

LARGE = 100.0
"""Size (root of the mean square) from which on inputs or targets are called unscaled. The weights
of a layer begin near 1 / sqrt(inputs): inputs of 100 drive a tanh to where its slope is below 1e-40
and make plain gradient descent diverge above a rate of 1e-4. Targets of 100 are 100,000 steps of
Adam's usual 0.001 away from the first outputs. The doctor has the same limit for programs."""
TROUBLED, APART = 10.0, 100.0
"""Size from which on columns are called unscaled if the smallest is `APART` times smaller: the loss
is a ravine 10,000 times as steep across as along, and no rate fits both. From this size on a rate
that is too large for the inputs is theirs, too, as is a loss that diverged; below, standardizing
gains less than a digit."""
CURVATURE = {"mse": 2.0, "half": 1.0}
"""Second derivative of the loss by the output."""
PLAIN = ("sgd", "asgd")
"""Optimizers whose step is proportional to the gradient."""
CHANGE = {"standardize": True}


def find(facts: RunFacts) -> Iterator[Advice]:
    """Yield inputs and targets that are unscaled; one change scales both."""
    if facts.setup.standardize or facts.program.task == "tokens":
        return
    why = [words for words in (_inputs(facts), _targets(facts)) if words]
    if why:
        words = ". ".join(why)
        yield Advice("scaling", "standardize", words, "Standardize", {**CHANGE})


def _sizes(facts: RunFacts) -> torch.Tensor | None:
    """Return the size of each number that the first layer gets; None if it is not known."""
    evaluation = facts.evaluation
    if evaluation is None or evaluation.first is None:
        return None
    return evaluation.first.double().square().mean(dim=0).sqrt()


def _target_size(facts: RunFacts) -> float:
    if facts.program.task != "regression":
        return 0.0
    return facts.program.tensor("y_train").double().square().mean(dim=0).sqrt().max().item()


def _inputs(facts: RunFacts) -> str:
    sizes = _sizes(facts)
    if sizes is None or not bool(sizes.isfinite().all()) or not len(sizes):
        return ""
    largest = sizes.max().item()
    if largest < TROUBLED:
        return ""
    top = _named(facts, sizes, int(sizes.argmax()))
    least = _smallest(facts, sizes)
    smallest = sizes[least].item()
    if largest > APART * smallest:
        low = _named(facts, sizes, least)
        return (
            f"Inputs differ in size, from about {_short(smallest)}{low} to {_short(largest)}{top}: "
            "no learning rate fits both"
        )
    limit = _largest_rate(facts)
    rate = facts.setup.optimizer.options.get("lr")
    if limit is not None and isinstance(rate, int | float) and rate > limit:
        return (
            f"Inputs are about {_short(largest)} in size{top}: with them every lr above "
            f"{limit:.2g} makes the loss grow, and it is {rate:g}"
        )
    if largest >= LARGE or facts.diverged:
        return f"Inputs are about {_short(largest)} in size{top}, but layers are made for about 1"
    return ""


def _smallest(facts: RunFacts, sizes: torch.Tensor) -> int:
    """Return the smallest input that is not zero, and no mark of a category: they are 0 and 1."""
    assert facts.evaluation is not None
    assert facts.evaluation.first is not None
    first = facts.evaluation.first
    marks = ((first == 0) | (first == 1)).all(dim=0)
    return int(torch.where((sizes > 0) & ~marks, sizes, math.inf).argmin())


def _named(facts: RunFacts, sizes: torch.Tensor, at: int) -> str:
    names = facts.input_names
    return f" ({names[at]})" if len(names) == len(sizes) and len(names) > 1 else ""


def _largest_rate(facts: RunFacts) -> float | None:
    """Return the rate above which gradient descent diverges: 2 (1 + m) / largest curvature.

    With momentum m; Nesterov's has 1 + 2 m below it. Known for a linear layer with a squared loss,
    whose curvature is that of the inputs' second moments (Polyak 1964). None for other runs.
    """
    setup, evaluation = facts.setup, facts.evaluation
    linear = setup.model.name in ("linear", "polynomial")
    if not linear or setup.optimizer.name not in PLAIN or facts.loss.name not in CURVATURE:
        return None
    if evaluation is None or evaluation.first is None or setup.mistakes:
        return None
    inputs = evaluation.first.double().cpu()
    if setup.model.options.get("bias", True):
        inputs = torch.cat([inputs, torch.ones(len(inputs), 1, dtype=inputs.dtype)], dim=1)
    steepest: float = torch.linalg.eigvalsh(inputs.T @ inputs / len(inputs))[-1].item()
    _, options = catalogue.find("optimizer", setup.optimizer, Optimizer)
    momentum = options.get("momentum", 0.0)
    m = float(momentum) if isinstance(momentum, int | float) else 0.0
    below = 1 + 2 * m if options.get("nesterov") else 1.0
    return 2 * (1 + m) / (below * CURVATURE[facts.loss.name] * steepest)


def _targets(facts: RunFacts) -> str:
    size = _target_size(facts)
    if size < (TROUBLED if facts.diverged else LARGE) or not math.isfinite(size):
        return ""
    return f"Targets are about {_short(size)} in size, far from the outputs of an untrained model"


def _short(number: float) -> str:
    """Return a number with two digits: 2.1, 14, 3,500, 250,000."""
    digits = 1 - math.floor(math.log10(number))
    rounded = round(number, digits)
    return f"{rounded:,.{max(0, digits)}f}" if 1e-3 <= rounded < 1e9 else f"{number:.1e}"


ENTRY = AdviceKind(find, order=40)
