"""A DistributedSampler that shuffles every epoch alike, as nobody says which epoch it is."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.finding_kind import FoundCase
from gradscribe.engine.doctor.ranks.evidence import RankEvidence, RankFindingKind


def _detect(evidence: RankEvidence) -> Iterator[FoundCase]:
    samplers = [call for call in evidence.program.calls("DistributedSampler") if _shuffles(call)]
    if not samplers or evidence.program.calls("set_epoch"):
        return
    passes = evidence.fed[0]
    period = next(
        (n for n in range(1, len(passes) // 2 + 1) if passes[n:] == passes[:-n] and any(passes)), 0
    )
    # One batch an epoch has no order to repeat.
    if period < 2:
        return
    yield FoundCase(
        evidence.place(samplers[0]),
        f"Rank 0 got the same {period} batches in the same order {len(passes) // period} times. "
        "Call sampler.set_epoch(epoch) at the beginning of each epoch.",
    )


def _shuffles(call: ast.Call) -> bool:
    return not any(
        keyword.arg == "shuffle"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is False
        for keyword in call.keywords
    )


ENTRY = RankFindingKind(
    "epochs-in-one-order",
    "Every epoch has the same order: set_epoch is missing",
    "A DistributedSampler shuffles by its seed and the epoch that it is told. Without `set_epoch` "
    "all epochs are shuffled alike, and each rank always sees the same part of the data.",
    _detect,
)
