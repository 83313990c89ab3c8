"""Gradients that shrink from layer to layer in the backward pass."""

import math
from collections.abc import Iterator
from itertools import pairwise

from engine.doctor import starts, training
from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.doctor.numbers import say
from engine.doctor.program import Program

LAYERS, RATIO, PASSES = 4, 1e-4, 3


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield the first pass whose first layer's gradient is under `RATIO` of the last layer's."""
    if any(p.create_graph for p in evidence.tape.passes):
        return
    for number in range(min(len(evidence.tape.passes), PASSES)):
        found = training.layers(evidence, number)
        if len(found) < LAYERS:
            continue
        first, last = found[0], found[-1]
        shrunk = math.isfinite(last.gradient) and first.gradient < RATIO * last.gradient
        if shrunk and _steadily(found):
            factor = (first.gradient / last.gradient) ** (1 / (len(found) - 1))
            message = (
                f"Over {len(found)} layers the gradient shrinks from {say(last.gradient)} at "
                f"the last to {say(first.gradient)} at the first: to {factor:.0%} per layer"
            )
            related = (last.op.place, evidence.pass_place(number))
            yield Found(first.op.place, message, related, _fix(evidence, found))
        return


def _fix(evidence: Evidence, found: list[training.Layer]) -> str:
    """Use ReLU and an initialization that preserves scale; for a recurrence only the latter."""
    program, own = evidence.program, starts.owners(evidence, found)
    if len({layer.op.place for layer in found}) == 1 and not any(o.endswith(".") for o in own):
        return starts.reset(evidence, program, found, "xavier_normal_")
    curved = starts.with_relu(program, leaky=False)
    return starts.reset(evidence, Program(curved), found, "kaiming_normal_") if curved else ""


def _steadily(found: list[training.Layer]) -> bool:
    """Return whether the gradient shrinks over many layers, not just at a dead layer."""
    falls = sum(a.gradient < b.gradient for a, b in pairwise(found))
    zeros = sum(layer.gradient == 0 for layer in found)
    return falls >= 0.6 * (len(found) - 1 - zeros) and zeros < len(found) - 2


ENTRY = Entry(
    "vanishing-gradient",
    "Vanishing gradient",
    "Each layer multiplies the gradient by its slope: sigmoid's is at most 0.25. The first layers "
    "hardly learn. ReLU, better initial weights, normalisation or skip connections keep its size.",
    detect,
    "hint",
)
