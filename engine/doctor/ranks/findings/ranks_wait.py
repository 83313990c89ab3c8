"""A rank waits in a collective that others never reach, or ranks call different ones."""

from collections.abc import Iterator

from gradscribe.engine.doctor.finding_kind import FoundCase
from gradscribe.engine.doctor.ranks.evidence import RankEvidence, RankFindingKind, listed
from gradscribe.engine.protocol.ranks.join import JoinedCollective

_ENDED = ("RankEnded", "Timeout")


def _detect(evidence: RankEvidence) -> Iterator[FoundCase]:
    if any(_failed_by_itself(evidence, rank) for rank in range(len(evidence.tapes))):
        return
    for joined in evidence.joined:
        calls = joined.calls
        kinds = {rank: call.kind for rank, call in calls.items()}
        if not joined.is_message and len(set(kinds.values())) > 1:
            text = [f"rank {r} calls {c.kind} on line {c.place.line}" for r, c in calls.items()]
            yield FoundCase(
                joined.first.place,
                f"At collective {joined.number + 1} of their group {listed(text)}.",
                tuple(call.place for call in calls.values()),
            )
            return
        waiting = [rank for rank, call in sorted(calls.items()) if not call.is_done]
        if waiting and joined.missing:
            yield _case(evidence, joined, waiting)
            return


def _case(evidence: RankEvidence, joined: JoinedCollective, waiting: list[int]) -> FoundCase:
    call = joined.calls[waiting[0]]
    where = f" on line {call.place.line}" if call.place.line else ""
    others = [_place_of(evidence, rank) for rank in joined.missing]
    return FoundCase(
        call.place,
        f"Rank {listed(waiting)} waited in {call.kind}{where}; "
        f"rank {listed(joined.missing)} never reached it: {listed(others)}.",
        tuple(
            other.place
            for rank in joined.missing
            for other in evidence.tapes[rank].collectives[-1:]
            if not other.is_done
        ),
    )


def _place_of(evidence: RankEvidence, rank: int) -> str:
    """Return the whereabouts of a rank at its end, in words."""
    tape = evidence.tapes[rank]
    last = tape.collectives[-1] if tape.collectives else None
    if last is not None and not last.is_done:
        return f"rank {rank} waited in {last.kind} on line {last.place.line}"
    line = tape.rank.line if tape.rank is not None else 0
    line = line or (tape.error.place.line if tape.error is not None else 0)
    if line:
        return f"rank {rank} was on line {line}"
    return f"rank {rank} had come to its end"


def _failed_by_itself(evidence: RankEvidence, rank: int) -> bool:
    """Return whether an error of its own ended a rank, so that it is why others wait."""
    error = evidence.tapes[rank].error
    if error is None or error.type in _ENDED:
        return False
    # A rank whose peer is gone fails in the collective.
    calls = evidence.tapes[rank].collectives
    return not calls or calls[-1].is_done


ENTRY = RankFindingKind(
    "ranks-wait",
    "A rank waits in a collective that another never reaches",
    "A collective ends when all ranks of its group have called it: all have to call the same ones "
    "in the same order. An `if rank == 0` around one, or one batch more on a rank makes others "
    "wait until the time limit.",
    _detect,
)
