"""Keeping what was there: where the nodes of a level stood before decides where they may stand.

Neighbours of a row are never exchanged by a change elsewhere. The rows are those that the level
would have anyway, with what was there in its old order; where that is not enough, the old rows
themselves, with new ones between them for what is new.
"""

from collections.abc import Sequence
from itertools import pairwise

from playback.layout_grid import Grid
from playback.layout_layers import topological
from playback.layout_level import ENTRY, EXIT, Edge, Node
from playback.picture import Seat

Seats = Sequence[Seat | None]
"""Where the nodes stood before; None for what is new."""


def swaps(seats: Seats, x: Sequence[float]) -> int:
    """Count the neighbours of old rows that have changed sides, each node now at its ``x``."""
    rows: dict[int, list[tuple[float, float]]] = {}
    for seat, now in zip(seats, x, strict=False):
        if seat is not None:
            rows.setdefault(round(seat.y), []).append((seat.x, now))
    count = 0
    for row in rows.values():
        row.sort()
        count += sum(left[1] > right[1] for left, right in pairwise(row))
    return count


def kept_layers(nodes: Sequence[Node], edges: Sequence[Edge], seats: Seats) -> list[int]:
    """Return the layer of every node such that those that shared a row share one again.

    What an edge now pulls below its old row is taken out of it, and counts as new.

    Args:
        nodes: of one part.
        edges: free of cycles.
        seats: one per node.
    """
    pins = [n for n, node in enumerate(nodes) if node.kind in (ENTRY, EXIT)]
    order = topological(len(nodes), edges)
    sources: list[list[int]] = [[] for _ in nodes]
    targets: list[list[int]] = [[] for _ in nodes]
    for edge in edges:
        sources[edge.target].append(edge.source)
        targets[edge.source].append(edge.target)
    row = [None if seat is None else seat.row for seat in seats]
    for pin in pins:
        row[pin] = None
    lowest = [-1] * len(nodes)
    for node in order:
        for source in sources[node]:
            above = row[source]
            lowest[node] = max(lowest[node], lowest[source] if above is None else above)
        own = row[node]
        if own is not None and own <= lowest[node]:
            row[node] = None
    level = _levels(row, edges)
    for node in reversed(order):
        if row[node] is None and not sources[node] and targets[node]:
            level[node] = min(level[target] for target in targets[node]) - 1
    return _compact(nodes, level)


def _levels(row: list[int | None], edges: Sequence[Edge]) -> list[int]:
    """Longest paths, with the nodes of an old row as one node, and the old rows in their order."""
    old = {number: place for place, number in enumerate(sorted({r for r in row if r is not None}))}
    unit = [len(old) + n if r is None else old[r] for n, r in enumerate(row)]
    below: list[set[int]] = [set() for _ in range(len(old) + len(row))]
    for upper in range(len(old) - 1):
        below[upper].add(upper + 1)
    for edge in edges:
        below[unit[edge.source]].add(unit[edge.target])
    waits = [0] * len(below)
    for heads in below:
        for head in heads:
            waits[head] += 1
    ready = [number for number, count in enumerate(waits) if not count]
    level = [0] * len(below)
    for number in ready:
        for head in below[number]:
            level[head] = max(level[head], level[number] + 1)
            waits[head] -= 1
            if not waits[head]:
                ready.append(head)
    return [level[number] for number in unit]


def _compact(nodes: Sequence[Node], level: list[int]) -> list[int]:
    """Close the gaps between layers; entries stand alone in the first, exits in the last."""
    inner = sorted({at for node, at in zip(nodes, level, strict=True) if node.kind < ENTRY})
    first = 1 if any(node.kind == ENTRY for node in nodes) else 0
    place = {at: number for number, at in enumerate(inner, first)}
    last = first + len(inner)
    return [
        0 if node.kind == ENTRY else last if node.kind == EXIT else place[at]
        for node, at in zip(nodes, level, strict=True)
    ]


def guessed(grid: Grid, edges: Sequence[Edge], seats: Seats) -> list[float]:
    """Return about where every node and bend of a grid would stand, old nodes where they stood."""
    count = len(grid.layer)
    x: list[float | None] = [None if seat is None else seat.x for seat in seats]
    near: list[list[tuple[int, float]]] = [[] for _ in seats]
    for edge in edges:
        apart = edge.out - edge.into
        near[edge.source].append((edge.target, -apart))
        near[edge.target].append((edge.source, apart))
    lacking = [node for node in range(len(seats)) if x[node] is None]
    while lacking:
        found = {}
        for node in lacking:
            ends = [(x[other], apart) for other, apart in near[node]]
            known = [end + apart for end, apart in ends if end is not None]
            if known:
                found[node] = sum(known) / len(known)
        if not found:
            found = dict.fromkeys(lacking, max((at for at in x if at is not None), default=0.0))
        for node, at in found.items():
            x[node] = at
        lacking = [node for node in lacking if node not in found]
    places = [at or 0.0 for at in x] + [0.0] * (count - len(x))
    for number in range(len(edges) - 1, -1, -1):
        edge = edges[number]
        start, end = places[edge.source] + edge.out, places[edge.target] + edge.into
        for link in grid.paths[number][:-1]:
            # Most long edges go straight down first: `layout_across` prefers that.
            places[grid.head[link]] = start
        for bend in grid.climbs.get(number, ()):
            places[bend] = max(start, end) + 1.0
    return places
