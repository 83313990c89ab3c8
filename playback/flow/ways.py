"""Every way from a tensor to the loss, with the local derivatives on it: the chain rule."""

import heapq
import math
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from gradscribe.playback.flow import network
from gradscribe.playback.flow.network import Use
from gradscribe.playback.tape.index import Index

if TYPE_CHECKING:
    import networkx as nx

MOST_LISTED = 50
"""Most ways that are listed in full; of more, the largest are."""
LARGEST = 5
"""Number of ways listed where there are more than `MOST_LISTED`."""
MOST_USES = 600
"""Most uses on the ways, all taken together, for which ways are listed at all."""


class WayStep(Struct, frozen=True):
    """An op on a way; ``local`` is None for tensors, or where torch's numbers leave it open."""

    op: int
    operand: int
    local: float | None = None


class Way(Struct, frozen=True):
    """One way, from the tensor to the loss; ``product`` is None where it has no single number."""

    steps: tuple[WayStep, ...]
    product: float | None = None


class Ways(Struct, frozen=True):
    """The ways of a tensor: how many, those that are listed, and what torch has for their sum.

    ``total`` is the sum of the products if all are listed. ``gradient`` is what the tensor received
    in that pass.
    """

    count: int = 0
    listed: tuple[Way, ...] = ()
    total: float | None = None
    gradient: float | None = None
    seed: float | None = 1.0

    @property
    def all_listed(self) -> bool:
        """True if no way is left out."""
        return self.count == len(self.listed)


_Link = tuple[Use, "_Link | None"]
_Partial = tuple[float, _Link | None]
"""The product of a way's end, and the uses on it."""


def ways(index: Index, value: int) -> Ways:
    """Return the ways along which gradients came from the loss to a value in the last pass."""
    run = network.last_pass(index, value)
    roots = network.roots(index, run)
    if run is None or not roots:
        return Ways()
    start, part = network.node_of(index, value), _part(index, value, roots)
    if start not in part:
        return Ways()
    count = _count(part, start, roots)
    gradient = network.received(index, value, run)
    if part.number_of_edges() > MOST_USES or not count:
        return Ways(count, gradient=gradient)
    slopes = {use: network.local(index, run, use) for _, _, use in part.edges(keys=True)}
    seeds = {root: network.seed(index, run, root) for root in roots}
    # Where a use has no number, neither have the ways.
    is_scalar = (
        all(share is not None for _, share in slopes.values()) and None not in seeds.values()
    )
    factors = {use: (1.0 if local is None else local) for use, (local, _) in slopes.items()}
    most = count if count <= MOST_LISTED else LARGEST
    begun = {root: known or 0.0 if is_scalar else 1.0 for root, known in seeds.items()}
    found = _largest(part, start, begun, factors, most)
    listed = tuple(
        Way(
            tuple(WayStep(*use, slopes[use][0]) for use in _unlinked(link)),
            product if is_scalar else None,
        )
        for product, link in found
    )
    total = math.fsum(product for product, _ in found) if is_scalar and most == count else None
    seed = seeds[roots[0]] if len(roots) == 1 else None
    return Ways(count, listed, total, gradient, seed)


def _part(index: Index, value: int, roots: list[int]) -> "nx.MultiDiGraph":
    """Return the uses on ways from a value to the roots along which gradients come back."""
    import networkx as nx

    whole = network.uses(index).subgraph(network.between(index, value, roots))
    edges = ((a, b, use) for a, b, use, alive in whole.edges(keys=True, data="alive") if alive)
    made = nx.MultiDiGraph()
    made.add_nodes_from({network.node_of(index, value)} & set(roots))
    made.add_edges_from(edges)
    start = network.node_of(index, value)
    if start not in made:
        return made
    ends = [root for root in roots if root in made]
    leading = set(ends).union(*(nx.ancestors(made, root) for root in ends))
    return made.subgraph((nx.descendants(made, start) | {start}) & leading)


def _count(part: "nx.MultiDiGraph", start: int, roots: list[int]) -> int:
    """Return the number of ways: with skips it doubles at each."""
    import networkx as nx

    counts = dict.fromkeys(part, 0) | {start: 1}
    for node in nx.topological_sort(part):
        for _, following, _ in part.out_edges(node, keys=True):
            counts[following] += counts[node]
    return sum(counts.get(root, 0) for root in roots)


def _largest(
    part: "nx.MultiDiGraph",
    start: int,
    begun: dict[int, float],
    factors: dict[Use, float],
    most: int,
) -> list[_Partial]:
    """Return the ``most`` ways of the largest products, from the loss back to ``start``."""
    import networkx as nx

    found: dict[int, list[_Partial]] = {}
    for node in reversed(list(nx.topological_sort(part))):
        own: list[_Partial] = [(begun[node], None)] if node in begun else []
        further = (
            (factors[use] * product, (use, link))
            for _, following, use in part.out_edges(node, keys=True)
            for product, link in found[following]
        )
        found[node] = heapq.nlargest(most, chain(own, further), key=_size)
    return found[start]


def _size(way: _Partial) -> float:
    return math.inf if math.isnan(way[0]) else abs(way[0])


def _unlinked(link: _Link | None) -> list[Use]:
    """Return the uses of a way, the first one first."""
    uses = []
    while link is not None:
        use, link = link
        uses.append(use)
    return uses
