"""Batch norm whose statistics are those of one rank's part of the batch."""

from collections.abc import Iterator

from gradscribe.engine.doctor.finding_kind import FoundCase
from gradscribe.engine.doctor.ranks.evidence import RankEvidence, RankFindingKind, listed
from gradscribe.engine.protocol.tape import Place

_KINDS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")


def _detect(evidence: RankEvidence) -> Iterator[FoundCase]:
    if not evidence.shares_gradients or not evidence.tapes[0].passes:
        return
    tape = evidence.tapes[0]
    calls = [call for call in tape.calls if call.kind in _KINDS and call.training]
    if not calls:
        return
    rows = {len_ for len_ in (_rows(evidence, call.id) for call in calls) if len_}
    of = f"{min(rows)} examples" if rows else "its part of the batch"
    names = dict.fromkeys(call.name for call in calls)
    made = evidence.program.calls(*_KINDS)
    yield FoundCase(
        evidence.place(made[0]) if made else Place(),
        f"{listed(names)}: each rank takes mean and variance of {of} of its own. On GPUs "
        "nn.SyncBatchNorm.convert_sync_batchnorm(model) before DDP takes those of all ranks.",
    )


def _rows(evidence: RankEvidence, call: int) -> int:
    rank = evidence.ranks[0]
    for op in rank.tape.ops:
        if op.call == call and op.inputs and (shape := rank.values[op.inputs[0]].shape):
            return shape[0]
    return 0


ENTRY = RankFindingKind(
    "batch-norm-not-synchronised",
    "Batch norm is not synchronised between ranks",
    "Gradients are averaged over all ranks, statistics of batch norm are not: with few examples a "
    "rank they are noisy, and the running ones that are saved are those of rank 0.",
    _detect,
    "hint",
)
