"""Training phase of every event of a tape, from zero_grad to the update."""

from bisect import bisect_right
from typing import Literal

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.scenes import scenes

Phase = Literal["zero_grad", "Forward", "Loss", "Backward", "Update"]
Active = Literal["", "forward", "backward", "update"]
ACTIVE: dict[Phase, Active] = {
    "zero_grad": "update",
    "Forward": "forward",
    "Loss": "forward",
    "Backward": "backward",
    "Update": "update",
}
"""Phase -> how what is active in it is marked."""


def phases(tape: Tape | Index) -> list[Phase]:
    """Return the phase of every event; prints and the like have the phase before them."""
    return index_of(tape).cached("phases", _phases)


def _phases(index: Index) -> list[Phase]:
    tape = index.tape
    starts = [scene.start for scene in scenes(index)]
    known: list[Phase] = []
    before: Phase = "Forward"
    running_passes = 0
    for event in tape.events:
        if event.kind == "backward":
            running_passes += 1
        if running_passes or event.kind == "node":
            before = "Backward"
        elif event.kind == "step":
            before = "Update"
        elif event.kind == "zero_grad":
            before = _phase_of_reset(index, event.ref, known, starts)
        elif event.kind == "enter":
            before = "Forward"
        elif event.kind == "op":
            after = before in ("Backward", "Update")
            updates = index.kinds[event.ref] == "update"
            goes_on = after and event.ref in index.collectives
            before = before if goes_on else "Update" if updates and after else "Forward"
        elif event.kind == "leaf":
            goes_on = before in ("Backward", "Update") and _is_reduced(index, event.ref)
            only = _only_updates(index, event.ref)
            before = before if goes_on else "Update" if only else "Forward"
        if event.kind == "end":
            running_passes = max(0, running_passes - 1)
        known.append(before)
    for number, (start, _) in index.passes.items():
        if number < len(tape.passes):
            _mark_loss(index, known, tape.passes[number].roots, start)
    return known


def _phase_of_reset(index: Index, ref: int, known: list[Phase], starts: list[int]) -> Phase:
    """Return the phase of a reset: zero_grad before backward, part of the update after it."""
    events, leaves = index.tape.events, index.tape.resets[ref].leaves
    # Parameters that first appear in the reset have their leaf events right before it.
    first = len(known)
    while first and events[first - 1].kind == "leaf" and events[first - 1].ref in leaves:
        first -= 1
    if not leaves and first:
        return known[-1]
    begun = starts[bisect_right(starts, first) - 1]
    opens = all(events[at].kind in ("leaf", "zero_grad") for at in range(begun, first))
    phase: Phase = "zero_grad" if opens or known[first - 1] in ("Forward", "Loss") else "Update"
    known[first:] = [phase] * (len(known) - first)
    return phase


def _is_reduced(index: Index, leaf: int) -> bool:
    """Return whether a leaf is a ``.grad`` that only goes into collectives."""
    users = index.users.get(leaf, [])
    is_gradient = index.values[leaf].maker == ".grad"
    return is_gradient and bool(users) and all(user in index.collectives for user in users)


def _only_updates(index: Index, leaf: int) -> bool:
    """Return whether a leaf is a ``.grad`` that only updates use, or is not used."""
    users = index.users.get(leaf, [])
    role = index.values[leaf].role
    return role == "constant" and all(index.kinds[user] == "update" for user in users)


def _mark_loss(index: Index, known: list[Phase], roots: tuple[int | None, ...], start: int) -> None:
    """Mark the op that made the root as Loss, and the events up to the pass if none is an op."""
    for root in roots:
        op = index.values[root].op if root is not None else None
        at = index.op_events.get(op) if op is not None else None
        if at is None or at >= start or known[at] != "Forward":
            continue
        known[at] = "Loss"
        between = range(at + 1, start)
        if all(index.tape.events[i].kind != "op" and known[i] == "Forward" for i in between):
            for i in between:
                known[i] = "Loss"
