"""The end of a tape: its leaves with their numbers, and how much else there was."""

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Snapshot, Tape


def leaves_alone(tape: Tape) -> Tape:
    """Return a tape without all that its leaves, its errors and its output do not refer to."""
    values = {value.id: value for value in tape.values}
    snapshots = dict[int, int]()

    def kept(snapshot: int | None) -> int | None:
        return None if snapshot is None else snapshots.setdefault(snapshot, len(snapshots))

    leaves = tuple(replace(leaf, grad=kept(leaf.grad)) for leaf in tape.leaves)
    named = dict.fromkeys(leaf.value for leaf in leaves)
    shown = tuple(
        replace(
            values[number], snapshot=kept(values[number].snapshot), base=None, op=None, node=None
        )
        for number in named
    )
    numbers: tuple[Snapshot, ...] = tuple(tape.snapshots[at] for at in snapshots)
    return Tape(
        status=tape.status,
        error=tape.error,
        stdout=tape.stdout,
        stderr=tape.stderr,
        torch=tape.torch,
        device=tape.device,
        snapshots=numbers,
        values=shown,
        leaves=leaves,
        dropped=tape.dropped,
        truncated=tape.truncated,
        findings=tape.findings,
        left_out=(len(tape.ops), len(tape.executions), len(tape.events)),
    )
