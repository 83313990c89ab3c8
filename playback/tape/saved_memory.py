"""Saved memory: the bytes that backward nodes hold at each position of the tape."""

from bisect import bisect_right
from collections import defaultdict
from heapq import heappop, heappush
from itertools import accumulate, pairwise

from gradscribe.engine.protocol.tape import Node, Tape
from gradscribe.playback.tape.index import Index, index_of

FOREVER = 1 << 62


def saved_bytes(tape: Tape | Index, position: int) -> int:
    """Return the bytes saved for backward after ``position`` events.

    Counts the saved tensors of all nodes that exist and are not freed; of tensors that share a
    storage only the largest counts.
    """
    index = index_of(tape)
    positions, totals = index.cached("held", _totals)
    at = bisect_right(positions, position)
    return totals[at - 1] if at else 0


def peak_saved_bytes(tape: Tape | Index) -> int:
    """Return the peak of the saved bytes over all positions."""
    return max(index_of(tape).cached("held", _totals)[1], default=0)


def node_saved_bytes(*nodes: Node) -> int:
    """Return the bytes that nodes save, each storage counted once."""
    sizes: dict[int, int] = {}
    for saved in (saved for node in nodes for saved in node.kept):
        sizes[saved.storage] = max(saved.size, sizes.get(saved.storage, 0))
    return sum(sizes.values())


def _totals(index: Index) -> tuple[list[int], list[int]]:
    """Return the positions at which the saved bytes change, and the bytes from each on."""
    changes: dict[int, int] = defaultdict(int)
    for spans in _spans(index).values():
        for start, stop, size in _largest(spans):
            changes[start] += size
            if stop < FOREVER:
                changes[stop] -= size
    positions = sorted(changes)
    return positions, list(accumulate(changes[at] for at in positions))


_Span = tuple[int, int, int]
"""Start, stop (exclusive), bytes."""


def _spans(index: Index) -> dict[int, list[_Span]]:
    """Return storage -> the spans during which a node saves a tensor in it."""
    found: dict[int, list[_Span]] = defaultdict(list)
    for node in index.tape.nodes:
        until = FOREVER if node.freed is None else node.freed
        for saved in node.kept if until > node.made else ():
            found[saved.storage].append((node.made, until, saved.size))
    return found


def _largest(spans: list[_Span]) -> list[_Span]:
    """Return disjoint spans that have at each time the size of the largest given span."""
    spans = sorted(spans)
    times = sorted({time for start, stop, _ in spans for time in (start, stop)})
    found: list[_Span] = []
    alive: list[tuple[int, int]] = []
    taken = 0
    for now, then in pairwise(times):
        while taken < len(spans) and spans[taken][0] == now:
            heappush(alive, (-spans[taken][2], spans[taken][1]))
            taken += 1
        while alive and alive[0][1] <= now:
            heappop(alive)
        if alive:
            found.append((now, then, -alive[0][0]))
    return found
