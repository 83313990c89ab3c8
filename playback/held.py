"""What backward nodes hold: the bytes kept for backward at each position of the tape."""

from bisect import bisect_right
from collections import defaultdict
from heapq import heappop, heappush
from itertools import accumulate, pairwise

from engine.tape import Node, Tape
from playback.index import Index, index_of

FOREVER = 1 << 62


def held(tape: Tape | Index, position: int) -> int:
    """Return the bytes that are held for backward after ``position`` events.

    Counted are the tensors of the nodes made by then and not freed; tensors that share their memory
    are counted once, with the largest of them.
    """
    index = index_of(tape)
    positions, totals = index.kept("held", _totals)
    at = bisect_right(positions, position)
    return totals[at - 1] if at else 0


def most(tape: Tape | Index) -> int:
    """Return the most bytes that are held at any position."""
    return max(index_of(tape).kept("held", _totals)[1], default=0)


def of_node(node: Node) -> int:
    """Return the bytes that one node keeps, each memory counted once."""
    sizes: dict[int, int] = {}
    for saved in node.kept:
        sizes[saved.storage] = max(saved.size, sizes.get(saved.storage, 0))
    return sum(sizes.values())


def _totals(index: Index) -> tuple[list[int], list[int]]:
    """Return the positions at which the bytes held change, and what they are from there on."""
    changes: dict[int, int] = defaultdict(int)
    for spans in _spans(index).values():
        for start, stop, size in _largest(spans):
            changes[start] += size
            if stop < FOREVER:
                changes[stop] -= size
    positions = sorted(changes)
    return positions, list(accumulate(changes[at] for at in positions))


_Span = tuple[int, int, int]
"""From, until (exclusive), bytes."""


def _spans(index: Index) -> dict[int, list[_Span]]:
    """Return for every memory the times at which a node holds it."""
    found: dict[int, list[_Span]] = defaultdict(list)
    for node in index.tape.nodes:
        until = FOREVER if node.freed is None else node.freed
        for saved in node.kept if until > node.made else ():
            found[saved.storage].append((node.made, until, saved.size))
    return found


def _largest(spans: list[_Span]) -> list[_Span]:
    """Return spans that do not overlap: at each time the largest of those that are given."""
    spans = sorted(spans)
    moments = sorted({moment for start, stop, _ in spans for moment in (start, stop)})
    found: list[_Span] = []
    alive: list[tuple[int, int]] = []
    taken = 0
    for now, then in pairwise(moments):
        while taken < len(spans) and spans[taken][0] == now:
            heappush(alive, (-spans[taken][2], spans[taken][1]))
            taken += 1
        while alive and alive[0][1] <= now:
            heappop(alive)
        if alive:
            found.append((now, then, -alive[0][0]))
    return found
