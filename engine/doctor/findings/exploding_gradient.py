"""Gradients that grow from layer to layer in the backward pass."""

import math
from collections.abc import Iterator

from engine.doctor import starts, training
from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.doctor.numbers import say

_NO_FIX = (
    "Where the first weights are made, divide them by the square root of how many inputs they meet"
)
LAYERS, RATIO, PASSES = 4, 1e3, 3


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield the first pass whose first layer's gradient is `RATIO` times the last layer's."""
    if any(p.create_graph for p in evidence.tape.passes):
        return
    for number in range(min(len(evidence.tape.passes), PASSES)):
        found = training.layers(evidence, number)
        if len(found) < LAYERS:
            continue
        first, last = found[0], found[-1]
        grown = first.gradient > RATIO * last.gradient > 0 or not math.isfinite(first.gradient)
        if grown and math.isfinite(last.gradient):
            largest = max(training.gradient_norms(evidence, number), key=lambda row: row[1])
            message = (
                f"Over {len(found)} layers the gradient grows from {say(last.gradient)} at the "
                f"last to {say(first.gradient)} at the first; {largest[0] or 'a leaf'} gets one "
                f"of size {say(largest[1])}"
            )
            related = (last.op.place, evidence.pass_place(number))
            fix = starts.reset(evidence, evidence.program, found, "xavier_normal_")
            yield Found(first.op.place, message, related, fix, _NO_FIX)
        return


ENTRY = Entry(
    "exploding-gradient",
    "Exploding gradient",
    "Each layer multiplies the gradient by its weights. One step then throws the first layers far "
    "away. Smaller initial weights, normalisation or clip_grad_norm_ bound it.",
    detect,
    "hint",
)
