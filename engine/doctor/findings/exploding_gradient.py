"""Gradients that grow from layer to layer in the backward pass."""

import math
from collections.abc import Iterator

from gradscribe.engine.doctor import gradient_scale_fixes, training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.snapshot_stats import format_number

_NO_FIX = (
    "Where the first weights are made, divide them by the square root of how many inputs they meet"
)
LAYERS, RATIO, PASSES = 4, 1e3, 3


def detect(evidence: Evidence) -> Iterator[FoundCase]:
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
                f"Over {len(found)} layers the gradient grows from {format_number(last.gradient)} "
                f"at the last to {format_number(first.gradient)} at the first; "
                f"{largest[0] or 'a leaf'} gets one of size {format_number(largest[1])}"
            )
            related = (last.op.place, evidence.pass_place(number))
            fix = gradient_scale_fixes.reinitialize(
                evidence, evidence.program, found, "xavier_normal_"
            )
            yield FoundCase(first.op.place, message, related, fix, _NO_FIX)
        return


ENTRY = FindingKind(
    "exploding-gradient",
    "Exploding gradient",
    "Each layer multiplies the gradient by its weights. One step then throws the first layers far "
    "away. Smaller initial weights, normalisation or clip_grad_norm_ bound it.",
    detect,
    "hint",
)
