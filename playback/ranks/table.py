"""The collectives of all ranks as rows: for the terminal and for the window's list."""

from collections.abc import Sequence

from msgspec import Struct

from gradscribe.engine.protocol.ranks.join import JoinedCollective, join
from gradscribe.engine.protocol.tape import Collective, Tape, Value
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.translation import tr

NAMES = {"ddp": "DDP", "fsdp": "FSDP"}
MOST_TENSORS = 2
"""Tensors of a collective whose numbers a row shows."""


class CollectiveLine(Struct, frozen=True):
    """A row: line of the program, name, what each rank gave in, what came out, what is wrong."""

    line: int
    name: str
    given: tuple[str, ...]
    result: str
    trouble: str


def lines(tapes: Sequence[Tape]) -> tuple[CollectiveLine, ...]:
    """Return a row for each collective of the ranks, in order."""
    texts = [_ValueTexts(tape) for tape in tapes]
    return tuple(_line(joined, texts) for joined in join(tapes))


class _ValueTexts:
    """Names and numbers of a tape's values, a few at a time."""

    def __init__(self, tape: Tape) -> None:
        self._tape, self._values = tape, {value.id: value for value in tape.values}

    def text(self, ids: Sequence[int]) -> str:
        """Return the first of these values, and how many more there are."""
        shown = [self._one(self._values[number]) for number in ids[:MOST_TENSORS]]
        more = len(ids) - len(shown)
        return ", ".join([*shown, tr("{more} more", more=more)] if more else shown)

    def _one(self, value: Value) -> str:
        kept = value.snapshot
        text = snapshot_text.value(self._tape.snapshots[kept]) if kept is not None else "?"
        return f"{value.name or 'tensor'} {text}"


def _line(joined: JoinedCollective, texts: Sequence[_ValueTexts]) -> CollectiveLine:
    calls = joined.calls
    given = tuple(
        texts[rank].text(calls[rank].inputs) if rank in calls else "" for rank in range(len(texts))
    )
    outs = [texts[rank].text(call.outputs) for rank, call in calls.items() if call.outputs]
    result = " | ".join(dict.fromkeys(outs))
    return CollectiveLine(joined.first.place.line, name(joined), given, result, trouble(joined))


def name(joined: JoinedCollective) -> str:
    """Return the name of a collective: ``all_reduce avg (DDP)``, ``send 0 → 1``."""
    call = joined.first
    if joined.is_message:
        return tr("send {group} → {group_2}", group=joined.group[0], group_2=joined.group[-1])
    parts = [joined.kind]
    if call.reduce and call.kind in ("all_reduce", "reduce", "reduce_scatter"):
        parts.append(call.reduce)
    if call.root is not None:
        parts.append(f"{_root_word(call)} {call.root}")
    if call.owner:
        parts.append(f"({NAMES[call.owner]})")
    return " ".join(parts)


def _root_word(call: Collective) -> str:
    return "to" if call.kind in ("reduce", "gather", "gather_object") else "from"


def trouble(joined: JoinedCollective) -> str:
    """Return what is wrong with a collective; empty if all ranks came out of it."""
    if joined.missing:
        ranks = ", ".join(map(str, joined.missing))
        return (
            tr("never reached by rank {ranks}", ranks=ranks)
            if len(joined.missing) == 1
            else tr("never by {ranks}", ranks=ranks)
        )
    waiting = [rank for rank, call in joined.calls.items() if not call.is_done]
    if waiting:
        return tr("waited in by rank {join}", join=", ".join(map(str, sorted(waiting))))
    return (
        ""
        if len({call.kind for call in joined.calls.values()} - {"recv"}) <= 1
        else tr("they differ")
    )


def collectives_text(tapes: Sequence[Tape], most: int = 40) -> str:
    """Return the collectives as text for a terminal: a line each, with the numbers below."""
    found = lines(tapes)
    if not found:
        return tr("no collective: the ranks did not talk to each other\n")
    text = []
    for row in found[:most]:
        place = tr("line {line}", line=row.line) if row.line else tr("inside torch")
        text.append(f"{place}: {row.name}" + (f"  ! {row.trouble}" if row.trouble else ""))
        text += [
            tr("  rank {rank} in   {given}", rank=rank, given=given)
            for rank, given in enumerate(row.given)
            if given
        ]
        if row.result:
            text.append(tr("  out         {result}", result=row.result))
    if len(found) > most:
        text.append(tr("and {value} more", value=len(found) - most))
    return "\n".join(text) + "\n"
