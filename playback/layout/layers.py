"""Layer assignment: the row of each node of a level, so that edges point downwards.

Layers by longest path from the sources (Sugiyama, Tagawa and Toda 1981), after removal of back
edges; then sweeps move nodes within their slack to shorten edges. A weight ends right above its
consumer, and nodes that only feed a node move along with it.
"""

from collections.abc import Sequence

from gradscribe.playback.layout.level import ENTRY, EXIT, LevelEdge, LevelNode

SWEEPS = 8


def find_back_edges(count: int, edges: Sequence[LevelEdge]) -> set[int]:
    """Return the indices of edges without which the graph is acyclic, self-loops included."""
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    found = set()
    for number, edge in enumerate(edges):
        if edge.source == edge.target:
            found.add(number)
        else:
            leaving[edge.source].append((number, edge.target))
    state = bytearray(count)
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(leaving[root]))]
        while stack:
            node, rest = stack[-1]
            for number, target in rest:
                if state[target] == 1:
                    found.add(number)
                elif not state[target]:
                    state[target] = 1
                    stack.append((target, iter(leaving[target])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return found


def topological_order(count: int, edges: Sequence[LevelEdge]) -> list[int]:
    """Return all nodes in topological order; ``edges`` must be acyclic."""
    waits = [0] * count
    leaving: list[list[int]] = [[] for _ in range(count)]
    for edge in edges:
        waits[edge.target] += 1
        leaving[edge.source].append(edge.target)
    order = [node for node in range(count) if not waits[node]]
    for node in order:
        for target in leaving[node]:
            waits[target] -= 1
            if not waits[target]:
                order.append(target)
    return order


class LayerAssignment:
    """Layers of a level, and the movement of nodes within their slack."""

    def __init__(self, nodes: Sequence[LevelNode], edges: Sequence[LevelEdge]) -> None:
        count = len(nodes)
        self.nodes = nodes
        self.order = topological_order(count, edges)
        self.sources: list[list[int]] = [[] for _ in range(count)]
        self.targets: list[list[int]] = [[] for _ in range(count)]
        for edge in edges:
            self.sources[edge.target].append(edge.source)
            self.targets[edge.source].append(edge.target)
        self.first = 1 if any(node.kind == ENTRY for node in nodes) else 0
        self.layer = self._longest()
        # A value used three times or more runs along a trunk, and counts once.
        self.pull = [1 if len(fan) > 2 else len(fan) for fan in self.targets]
        self.rides = self._riders()

    def _longest(self) -> list[int]:
        layer = [0] * len(self.nodes)
        for node in self.order:
            if self.nodes[node].kind != ENTRY:
                above = max((layer[source] for source in self.sources[node]), default=-1)
                layer[node] = max(above + 1, self.first)
        last = max(layer, default=0)
        for node, made in enumerate(self.nodes):
            if made.kind == EXIT:
                layer[node] = last
        return layer

    def _riders(self) -> list[bool]:
        """Return which nodes ride along: a single consumer, and only riders or trunk leaves above.

        So each slice ``xs[t]`` of an unrolled loop is placed at its own step.
        """
        rides = [False] * len(self.nodes)
        for node in self.order:
            rides[node] = (
                len(self.targets[node]) == 1
                and self.nodes[node].kind != ENTRY
                and all(rides[source] or self._is_trunk(source) for source in self.sources[node])
            )
        return rides

    def _is_trunk(self, node: int) -> bool:
        """Return whether a node is a leaf with a trunk (more than two consumers)."""
        return len(self.targets[node]) > 2 and not self.sources[node]

    def slide(self) -> None:
        """Move nodes down until a sweep shortens no edge (at most `SWEEPS` sweeps)."""
        firm = [
            node
            for node in self.order
            if not self.rides[node] and self.nodes[node].kind < ENTRY and self.targets[node]
        ]
        lowest_first = firm[::-1]
        for _ in range(SWEEPS):
            fallen = [node for node in lowest_first if self._down(node)]
            if not fallen:
                break
        for node in reversed(self.order):
            if self.rides[node]:
                self.layer[node] = self.layer[self.targets[node][0]] - 1

    def _down(self, node: int) -> bool:
        """Move a node down as far as possible, if that shortens more edges than it stretches."""
        layer = self.layer[node]
        lowest = min(self.layer[target] for target in self.targets[node]) - 1
        if lowest <= layer:
            return False
        stretched = 0
        for source in self.sources[node]:
            if not self.rides[source]:
                fan = self.targets[source]
                stretched += len(fan) < 3 or layer >= max(self.layer[other] for other in fan)
        if self.pull[node] <= stretched:
            return False
        self.layer[node] = lowest
        return True


def assign_layers(nodes: Sequence[LevelNode], edges: Sequence[LevelEdge]) -> list[int]:
    """Return the layer of every node, from 0.

    Entries are alone in layer 0, and exits alone in the last layer.

    Args:
        nodes: of one level.
        edges: without those that `find_back_edges` names.
    """
    ranks = LayerAssignment(nodes, edges)
    ranks.slide()
    layer = ranks.layer
    inner = [layer[n] for n, node in enumerate(nodes) if node.kind != EXIT]
    last = max(inner, default=-1) + 1
    return [last if node.kind == EXIT else layer[n] for n, node in enumerate(nodes)]
