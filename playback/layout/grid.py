"""Grid of a level: nodes in rows, and long edges divided into links between adjacent rows."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from gradscribe.playback.layout.level import BEND, LevelEdge, LevelNode

TRUNK_FROM = 3
"""Number of uses from which a value runs along a shared trunk, where its consumers branch off."""
SEAT_UNIT = 1e6
"""An end of a link is encoded as its node's seat times this, plus the port's offset."""


class LayeredGrid:
    """Nodes of a level and the bends (dummy nodes) of its long edges, as parallel lists.

    Nodes have their numbers in the level; bends follow. ``rows`` list them from left to right,
    ``seat`` is the index of each in its row. Link ``k`` runs from ``tail[k]`` to ``head[k]``, one
    row lower; ``out[k]`` and ``into[k]`` are the offsets of its ends from the two axes. ``paths``
    are the links of every edge; for a back edge ``climbs`` has the bends along which it runs up.
    """

    def __init__(self, nodes: Sequence[LevelNode], layer: Sequence[int]) -> None:
        self.size = len(nodes)
        self.left = [node.left for node in nodes]
        self.right = [node.right for node in nodes]
        self.height = [node.height for node in nodes]
        self.kind = [node.kind for node in nodes]
        self.layer = list(layer)
        self.net = [-1] * len(nodes)
        self.above: list[list[int]] = [[] for _ in nodes]
        self.below: list[list[int]] = [[] for _ in nodes]
        self.tail: list[int] = []
        self.head: list[int] = []
        self.out: list[float] = []
        self.into: list[float] = []
        self.paths: list[list[int]] = []
        self.climbs: dict[int, list[int]] = {}
        self.rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
        self.seat: list[int] = []
        self.soft: set[int] = set()
        """Bends between two cards, aligned with the axes of both."""

    def _bend(self, layer: int, net: int) -> int:
        number = len(self.layer)
        self.left.append(0.0)
        self.right.append(0.0)
        self.height.append(0.0)
        self.kind.append(BEND)
        self.layer.append(layer)
        self.net.append(net)
        self.above.append([])
        self.below.append([])
        return number

    def _link(self, tail: int, head: int, out: float, into: float) -> int:
        number = len(self.tail)
        self.tail.append(tail)
        self.head.append(head)
        self.out.append(out)
        self.into.append(into)
        self.below[tail].append(number)
        self.above[head].append(number)
        return number

    def _run(self, edge: LevelEdge, trunk: list[int]) -> list[int]:
        """Return the links of an edge, along ``trunk`` as far as it goes; extends the trunk."""
        here, out = edge.source, edge.out
        if self.layer[edge.target] - self.layer[here] == 1:
            return [self._link(here, edge.target, out, edge.into)]
        path: list[int] = []
        for step, layer in enumerate(range(self.layer[edge.source] + 1, self.layer[edge.target])):
            if step == len(trunk):
                trunk.append(self._link(here, self._bend(layer, edge.net), out, 0.0))
            path.append(trunk[step])
            here, out = self.head[trunk[step]], 0.0
        path.append(self._link(here, edge.target, out, edge.into))
        return path

    def add_edges(self, edges: Sequence[LevelEdge], back: set[int], trunks: bool) -> None:
        """Divide all edges into links; ``back`` are the edges that run upwards."""
        fan: dict[tuple[int, int], int] = {}
        for number, edge in enumerate(edges):
            if number not in back:
                fan[edge.source, edge.net] = fan.get((edge.source, edge.net), 0) + 1
        shared: dict[tuple[int, int], list[int]] = {}
        for number, edge in enumerate(edges):
            if number in back:
                self.paths.append([])
                self.climbs[number] = self._climb(edge)
            elif trunks and fan[edge.source, edge.net] >= TRUNK_FROM:
                self.paths.append(self._run(edge, shared.setdefault((edge.source, edge.net), [])))
            else:
                self.paths.append(self._run(edge, []))
        for links in self.above:
            if len(links) > 1:
                links.sort(key=self.into.__getitem__)

    def cut(self, link: int, net: int) -> tuple[int, int]:
        """Insert a bend into a link; return the bend and the new link below it."""
        head, into = self.head[link], self.into[link]
        bend = self._bend(self.layer[head], net)
        lower = len(self.tail)
        self.tail.append(bend)
        self.head.append(head)
        self.out.append(0.0)
        self.into.append(into)
        self.head[link], self.into[link] = bend, 0.0
        self.above[bend], self.below[bend] = [link], [lower]
        above = self.above[head]
        above[above.index(link)] = lower
        return bend, lower

    def _climb(self, edge: LevelEdge) -> list[int]:
        """Return a linked column of bends, from the source's row up to the target's."""
        top, bottom = sorted((self.layer[edge.target], self.layer[edge.source]))
        column = [self._bend(layer, edge.net) for layer in range(top, bottom + 1)]
        for upper, lower in pairwise(column):
            self._link(upper, lower, 0.0, 0.0)
        return column[::-1]

    def update_seats(self) -> None:
        """Set ``seat`` from ``rows``."""
        self.seat = [0] * len(self.layer)
        for row in self.rows:
            for place, node in enumerate(row):
                self.seat[node] = place

    def crossings(self) -> int:
        """Count the pairs of links that cross, with ends at their ports."""
        return sum(self.row_crossings(row) for row in self.rows[:-1])

    def row_crossings(self, row: Sequence[int]) -> int:
        """Count the crossings of the links that leave one row."""
        seat, into, head, out, below = self.seat, self.into, self.head, self.out, self.below
        count = 0
        last = float("-inf")
        seen: list[float] = []
        for node in row:
            links = below[node]
            if not links:
                continue
            if len(links) > 1:
                links = sorted(links, key=lambda k: (out[k], seat[head[k]], into[k]))
            for link in links:
                end = seat[head[link]] * SEAT_UNIT + into[link]
                if end >= last:
                    last = end
                    seen.append(end)
                else:
                    place = bisect_right(seen, end)
                    count += len(seen) - place
                    seen.insert(place, end)
        return count
