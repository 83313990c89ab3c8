"""Parameters that one rank uses in a pass and another does not."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.finding_kind import FoundCase
from gradscribe.engine.doctor.ranks.evidence import RankEvidence, RankFindingKind, listed
from gradscribe.engine.protocol.tape import Place


def _detect(evidence: RankEvidence) -> Iterator[FoundCase]:
    if not evidence.uses_ddp:
        return
    names = [_accumulated(evidence, rank) for rank in range(len(evidence.tapes))]
    for at in range(min(map(len, names))):
        used = [passes[at] for passes in names]
        shared, all_used = frozenset.intersection(*used), frozenset.union(*used)
        if shared == all_used or not shared | all_used:
            continue
        parts = [
            f"rank {rank} had no gradient for {listed(sorted(all_used - mine))}"
            for rank, mine in enumerate(used)
            if all_used - mine
        ]
        line = evidence.tapes[0].passes[at].line
        statement = evidence.program.statement(line)
        yield FoundCase(
            evidence.place(statement) if isinstance(statement, ast.stmt) else Place(),
            f"In backward pass {at + 1} {listed(parts)}.",
            is_hint=_is_expected(evidence),
        )
        return


def _accumulated(evidence: RankEvidence, rank: int) -> list[frozenset[str]]:
    """Return for each pass of a rank the names of the leaves that got a gradient."""
    known, tape = evidence.ranks[rank], evidence.tapes[rank]
    found: list[set[str]] = [set() for _ in tape.passes]
    for item in tape.accumulations:
        found[item.run].add(known.values[item.leaf].name)
    return [frozenset(names) for names in found]


def _is_expected(evidence: RankEvidence) -> bool:
    return any(
        keyword.arg == "find_unused_parameters"
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
        for call in evidence.program.find(ast.Call)
        for keyword in call.keywords
    )


ENTRY = RankFindingKind(
    "unused-parameters-differ",
    "Ranks use different parameters",
    "DDP waits for a gradient of every parameter. Where a rank does not use one, the bucket is "
    "never reduced, unless `find_unused_parameters=True` makes it count as 0 in the mean.",
    _detect,
)
