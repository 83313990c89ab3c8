"""Parameters that should be the same on all ranks and are not."""

from collections.abc import Iterator

from gradscribe.engine.doctor.finding_kind import FoundCase
from gradscribe.engine.doctor.ranks.evidence import RankEvidence, RankFindingKind, numbers
from gradscribe.engine.protocol.tape import Place, Snapshot, Value


def _detect(evidence: RankEvidence) -> Iterator[FoundCase]:
    if evidence.is_sharded:
        return
    first, *others = evidence.parameters
    shared = [name for name in first if all(name in other for other in others)]
    apart = [
        name for name in shared if _differ([p[name][-1] for p in evidence.parameters], evidence)
    ]
    if not apart:
        return
    name = apart[0]
    histories = [parameters[name] for parameters in evidence.parameters]
    begins = _differ([history[0] for history in histories], evidence)
    ends = [_number(evidence, rank, history[-1]) for rank, history in enumerate(histories)]
    rank = next(
        r for r, h in enumerate(histories) if _differ([histories[0][-1], h[-1]], evidence, (0, r))
    )
    more = f" ({len(apart)} parameters differ)" if len(apart) > 1 else ""
    place = histories[0][0].place if begins else _step_place(evidence)
    how = (
        "They began apart: nothing brought them in line, as DDP or dist.broadcast(p, 0) would."
        if begins
        else "They began the same, so their gradients or steps differ."
    )
    text = f"{name} ends as {ends[0]} on rank 0 and as {ends[rank]} on rank {rank}{more}. {how}"
    yield FoundCase(place, text, is_hint=not evidence.shares_gradients)


def _differ(values: list[Value], evidence: RankEvidence, ranks: tuple[int, ...] = ()) -> bool:
    """Return whether values of one parameter on several ranks have different numbers."""
    shots = [
        _snapshot(evidence, rank, value)
        for rank, value in zip(ranks or range(len(values)), values, strict=True)
    ]
    known = [shot for shot in shots if shot is not None]
    shapes = {shot.shape for shot in known}
    return len(known) == len(shots) and len(shapes) == 1 and len(set(map(numbers, known))) > 1


def _snapshot(evidence: RankEvidence, rank: int, value: Value) -> Snapshot | None:
    return evidence.ranks[rank].snapshot(value.id)


def _number(evidence: RankEvidence, rank: int, value: Value) -> str:
    shot = _snapshot(evidence, rank, value)
    if shot is None:
        return "?"
    item = shot.item()
    if item is not None:
        return f"{item:.6g}"
    array = shot.array()
    norm = shot.norm if array is None else float((array.astype(float) ** 2).sum()) ** 0.5
    return f"norm {norm:.6g}" if norm is not None else "?"


def _step_place(evidence: RankEvidence) -> Place:
    steps = evidence.tapes[0].steps
    line = steps[0].line if steps else 0
    statement = evidence.program.statement(line)
    return evidence.place(statement) if statement is not None else Place()


ENTRY = RankFindingKind(
    "rank-parameters-differ",
    "Parameters differ between ranks",
    "Each rank trains a model of its own: the mean of their gradients belongs to none of them, and "
    "the checkpoint of rank 0 is not what the others computed.",
    _detect,
)
