"""Preservation of a previous layout: constraints from the old positions of a level's nodes.

A change elsewhere never swaps neighbours of a row. The rows are those of a fresh layout with the
old nodes in their old order; where that is not enough, the old rows, with new rows between them for
new nodes.
"""

from collections.abc import Sequence
from itertools import pairwise

from gradscribe.playback.graph.picture import Seat
from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.layers import topological_order
from gradscribe.playback.layout.level import ENTRY, EXIT, LevelEdge, LevelNode

Seats = Sequence[Seat | None]
"""Old positions of the nodes; None for new nodes."""


def count_swaps(seats: Seats, x: Sequence[float]) -> int:
    """Count the neighbours in old rows that have changed sides; ``x`` are the new positions."""
    rows: dict[int, list[tuple[float, float]]] = {}
    for seat, now in zip(seats, x, strict=False):
        if seat is not None:
            rows.setdefault(round(seat.y), []).append((seat.x, now))
    count = 0
    for row in rows.values():
        row.sort()
        count += sum(left[1] > right[1] for left, right in pairwise(row))
    return count


def stable_layers(
    nodes: Sequence[LevelNode], edges: Sequence[LevelEdge], seats: Seats
) -> list[int]:
    """Return the layer of every node such that nodes that shared a row share a row again.

    A node that an edge now pulls below its old row leaves it, and counts as new.

    Args:
        nodes: of one component.
        edges: free of cycles.
        seats: old position per node.
    """
    pins = [n for n, node in enumerate(nodes) if node.kind in (ENTRY, EXIT)]
    order = topological_order(len(nodes), edges)
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


def _levels(row: list[int | None], edges: Sequence[LevelEdge]) -> list[int]:
    """Return longest-path levels, with each old row merged into a node, and old rows in order."""
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


def _compact(nodes: Sequence[LevelNode], level: list[int]) -> list[int]:
    """Close the gaps between layers; entries are alone in the first layer, exits in the last."""
    inner = sorted({at for node, at in zip(nodes, level, strict=True) if node.kind < ENTRY})
    first = 1 if any(node.kind == ENTRY for node in nodes) else 0
    place = {at: number for number, at in enumerate(inner, first)}
    last = first + len(inner)
    return [
        0 if node.kind == ENTRY else last if node.kind == EXIT else place[at]
        for node, at in zip(nodes, level, strict=True)
    ]


def estimate_x(grid: LayeredGrid, edges: Sequence[LevelEdge], seats: Seats) -> list[float]:
    """Return an estimated x of every node and bend of a grid; old nodes have their old x."""
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
            # `layout_across` prefers long edges that go straight down first.
            places[grid.head[link]] = start
        for bend in grid.climbs.get(number, ()):
            places[bend] = max(start, end) + 1.0
    return places
