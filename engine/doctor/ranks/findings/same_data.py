"""The same data on every rank, and epochs in the same order."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.finding_kind import FoundCase
from gradscribe.engine.doctor.ranks.evidence import RankEvidence, RankFindingKind
from gradscribe.engine.protocol.tape import Place


def _detect(evidence: RankEvidence) -> Iterator[FoundCase]:
    fed = evidence.fed
    if not evidence.shares_gradients or not fed[0] or not any(fed[0]):
        return
    passes = min(map(len, fed))
    if any(len({rank[at] for rank in fed}) > 1 for at in range(passes)):
        return
    loaders = evidence.program.calls("DataLoader")
    count = len(fed)
    what = f"In all {passes} passes" if passes > 1 else "In its pass"
    text = f"{what} each of the {count} ranks computed with the same data"
    if loaders:
        yield FoundCase(
            evidence.place(loaders[0]),
            f"{text}: the DataLoader has no sampler that gives each rank its part. Pass "
            "sampler=DistributedSampler(dataset) and leave out shuffle.",
        )
        return
    yield FoundCase(_place(evidence), f"{text}.", is_hint=True)


def _place(evidence: RankEvidence) -> Place:
    first = next(iter(evidence.tapes[0].passes), None)
    statement = evidence.program.statement(first.line) if first is not None else None
    return evidence.place(statement) if isinstance(statement, ast.stmt) else Place()


ENTRY = RankFindingKind(
    "same-data-on-ranks",
    "Every rank computes with the same data",
    "The mean of equal gradients is that of one rank: all ranks together do the work of one, and "
    "an epoch sees each example as often as there are ranks.",
    _detect,
)
