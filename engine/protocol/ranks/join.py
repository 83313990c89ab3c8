"""Collectives of several tapes that belong together: one of each rank of the group."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from gradscribe.engine.protocol.tape import Collective, Tape

Key = tuple[tuple[int, ...], str, int]
"""Group, series and number of a collective: those of DDP and messages are counted by themselves."""
_PAIR = ("send", "recv")


class JoinedCollective(Struct, frozen=True):
    """A collective as all ranks of its group saw it, by rank; those that never reached it lack."""

    group: tuple[int, ...]
    number: int
    calls: dict[int, Collective]

    @property
    def first(self) -> Collective:
        """The call of the lowest rank."""
        return self.calls[min(self.calls)]

    @property
    def kind(self) -> str:
        """Its kind; of a message ``send``; of calls that differ, those that there are."""
        if self.is_message:
            return "send"
        return " / ".join(dict.fromkeys(self.calls[rank].kind for rank in sorted(self.calls)))

    @property
    def is_message(self) -> bool:
        """True if it is a message from one rank to another."""
        return self.first.kind in _PAIR

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks of the group that never reached it."""
        return tuple(rank for rank in self.group if rank not in self.calls)

    @property
    def is_done(self) -> bool:
        """True if all ranks reached it and came out of it."""
        return not self.missing and all(call.is_done for call in self.calls.values())


def join(tapes: Sequence[Tape]) -> tuple[JoinedCollective, ...]:
    """Return the collectives of the ranks' tapes, joined, in an order that all ranks agree with.

    ``tapes`` are in the order of ranks. Where ranks call different collectives, or wait for each
    other, the rest is in the order of ranks.
    """
    queues = [list(_keyed(tape)) for tape in tapes]
    known = [dict(queue) for queue in queues]
    at, taken = [0] * len(queues), set[Key]()
    found: list[JoinedCollective] = []

    def is_next(key: Key) -> bool:
        """Return whether all ranks that reach a collective have come to it."""
        return all(
            key not in calls or queue[place][0] == key
            for calls, queue, place in zip(known, queues, at, strict=True)
        )

    while heads := [queue[at[rank]] for rank, queue in enumerate(queues) if at[rank] < len(queue)]:
        key, call = next((head for head in heads if is_next(head[0])), heads[0])
        taken.add(key)
        calls = {rank: known[rank][key] for rank in range(len(tapes)) if key in known[rank]}
        found.append(JoinedCollective(call.group, call.number, calls))
        for rank, queue in enumerate(queues):
            while at[rank] < len(queue) and queue[at[rank]][0] in taken:
                at[rank] += 1
    return tuple(found)


def _keyed(tape: Tape) -> Iterator[tuple[Key, Collective]]:
    """Yield the collectives of a rank, each with what it has in common with those of the others."""
    for call in tape.collectives:
        series = "message" if call.kind in _PAIR else call.owner if call.owner == "ddp" else ""
        yield (call.group, series, call.number), call
