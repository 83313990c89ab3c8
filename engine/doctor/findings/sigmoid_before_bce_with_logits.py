"""Probabilities passed to the binary cross-entropy that takes raw scores."""

from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.softmax_before_cross_entropy import doubled_activations


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield calls of binary_cross_entropy_with_logits on the result of a sigmoid."""
    losses = ("binary_cross_entropy_with_logits",)
    yield from doubled_activations(evidence, losses, ("sigmoid", "softmax"))


ENTRY = FindingKind(
    "sigmoid-before-bce-with-logits",
    "Sigmoid twice",
    "binary_cross_entropy_with_logits applies the sigmoid itself. Applied twice, every probability "
    "lies between 0.5 and 0.73, and the loss can never get small. Give it raw scores.",
    detect,
)
