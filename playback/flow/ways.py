"""Every way from a tensor to the loss, with the local derivatives on it: the chain rule."""

import heapq
import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.playback.flow import network
from gradscribe.playback.flow.network import Use
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.tape.index import Index

if TYPE_CHECKING:
    import networkx as nx

MOST_LISTED = 50
"""Most ways that are listed in full; of more, the largest are."""
LARGEST = 5
"""Number of ways listed where there are more than `MOST_LISTED`."""
MOST_USES = 30_000
"""Most uses on the ways, all taken together, for which products are computed."""

Destination = Literal["grad", "added", "unstored", "returned"]
"""Destination of a pass's gradient: in ``.grad``, added there to an earlier one, nowhere (of
a tensor that is no leaf), or returned by ``torch.autograd.grad``."""


class WayStep(Struct, frozen=True):
    """An op on a way; ``local`` is None for tensors, or where torch's numbers leave it open."""

    op: int
    operand: int
    local: float | None = None


class Way(Struct, frozen=True):
    """One way, from the tensor to the loss, or all ways that begin with the same use.

    ``product`` of the local derivatives is None where it has no single number. ``share`` is the
    number (of a tensor the norm) of the gradient that came back along these ``count`` ways; of
    several ways ``steps`` has the common first one.
    """

    steps: tuple[WayStep, ...]
    product: float | None = None
    count: int = 1
    share: float | None = None


class Ways(Struct, frozen=True):
    """The ways of a tensor: how many, those that are listed, and what torch has for their sum.

    ``total`` is the sum of the products if all are listed. ``gradient`` is what the tensor received
    in that pass, as a number or (``is_norm``) a norm, and ``before`` what ``.grad`` had before it.
    ``difference`` is the largest one between an element of the sum of all shares and of the
    gradient, relative to the largest element; None if the numbers are not all on the tape.
    """

    count: int = 0
    listed: tuple[Way, ...] = ()
    total: float | None = None
    gradient: float | None = None
    seed: float | None = 1.0
    is_norm: bool = False
    difference: float | None = None
    destination: Destination = "grad"
    before: float | None = None

    @property
    def all_listed(self) -> bool:
        """True if no way is left out."""
        return self.count == sum(way.count for way in self.listed)

    @property
    def has_products(self) -> bool:
        """True if the ways are listed with local derivatives, else they have shares."""
        return bool(self.listed) and self.listed[0].share is None


_Link = tuple[Use, "_Link | None"]
_Partial = tuple[float, _Link | None]
"""The product of a way's end, and the uses on it."""


def ways(index: Index, value: int) -> Ways:
    """Return the ways along which gradients came from the loss to a value in the last pass."""
    return index.cached(f"ways of {value}", lambda index: _ways(index, value))


def _ways(index: Index, value: int) -> Ways:
    import networkx as nx

    value = network.version_in_pass(index, value)
    run = network.last_pass(index, value)
    roots = network.roots(index, run)
    if run is None or not roots:
        return Ways()
    start, part = network.node_of(index, value), _part(index, value, roots)
    if start not in part:
        return Ways()
    order = list(nx.topological_sort(part))
    counts = _counts(part, order, roots)
    scalars = all(math.prod(index.values[node].shape) == 1 for node in part)
    found = None
    if scalars and part.number_of_edges() <= MOST_USES:
        found = _products(index, part, order, run, roots, counts[start])
    if found is None:
        found = _shares(index, part, value, run, counts)
    listed, total, seed, difference = found
    gradient, is_norm = _gradient(index, value, run)
    destination, before = _destination(index, value, run)
    return Ways(
        counts[start],
        listed,
        total,
        gradient,
        seed,
        is_norm,
        difference,
        destination,
        before,
    )


def on_ways(index: Index, value: int) -> set[int]:
    """Return the nodes on the ways along which gradients came back to a value, with its own."""
    value = network.version_in_pass(index, value)
    part = _part(index, value, network.roots(index, network.last_pass(index, value)))
    return set(part) | {network.node_of(index, value)}


def _gradient(index: Index, value: int, run: int) -> tuple[float | None, bool]:
    """Return the gradient that a tensor received, as a number or (True) as a norm."""
    is_norm = math.prod(index.values[value].shape) != 1
    received = index.snapshot(network.received(index, value, run))
    if received is not None:
        return _size_of(received), is_norm
    # What `torch.autograd.grad` returns is not on the tape, but its shares are.
    shares = (index.snapshot(number) for number in network.arrived(index, value, run))
    return _norm(_total([None if one is None else one.array() for one in shares])), is_norm


def _destination(index: Index, value: int, run: int) -> tuple[Destination, float | None]:
    """Return where torch has the gradient, and the number or norm that ``.grad`` had before."""
    if index.tape.passes[run].kind == "grad":
        return "returned", None
    if index.values[value].node is not None:
        return "unstored", None
    added = network.accumulation(index, value, run)
    before = None if added is None else _size_of(index.snapshot(added.before))
    return ("grad" if before is None else "added"), before


def _size_of(snapshot: Snapshot | None) -> float | None:
    """Return the number of a snapshot with one element, else its norm; None if unknown."""
    item = None if snapshot is None else snapshot.item()
    if isinstance(item, int | float):
        return float(item)
    return None if snapshot is None else snapshot_text.norm(snapshot)


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
    # A copy, since views of views are slow to walk.
    return made.subgraph((nx.descendants(made, start) | {start}) & leading).copy()


def _counts(part: "nx.MultiDiGraph", order: list[int], roots: list[int]) -> dict[int, int]:
    """Return node -> number of ways to the roots: with skips it doubles at each."""
    counts: dict[int, int] = {}
    for node in reversed(order):
        following = (counts[after] for _, after, _ in part.out_edges(node, keys=True))
        counts[node] = roots.count(node) + sum(following)
    return counts


_Listed = tuple[tuple[Way, ...], float | None, float | None, float | None]
"""The ways, the sum of their products, the seed, the difference of the sum of shares."""


def _products(
    index: Index,
    part: "nx.MultiDiGraph",
    order: list[int],
    run: int,
    roots: list[int],
    count: int,
) -> _Listed | None:
    """List ways with the products of their local derivatives; None if a use has no number."""
    slopes = {}
    for _, _, use in part.edges(keys=True):
        slopes[use] = network.local(index, run, use)
        if slopes[use][1] is None:
            return None
    begun: dict[int, float] = {}
    for root in roots:
        number = network.seed(index, run, root)
        size = 1.0 if number is None else _size_of(index.snapshot(number))
        if size is None:
            return None
        begun[root] = begun.get(root, 0.0) + size
    factors = {use: (1.0 if local is None else local) for use, (local, _) in slopes.items()}
    most = count if count <= MOST_LISTED else LARGEST
    listed = []
    for _, link in _largest(part, order, begun, factors, most):
        steps = tuple(WayStep(*use, slopes[use][0]) for use in _unlinked(link))
        end = index.op(steps[-1].op).outputs[0] if steps else order[0]
        listed.append(Way(steps, _product(steps, begun[end])))
    products = [way.product for way in listed]
    known = [product for product in products if product is not None]
    is_whole = most == count and len(known) == len(products)
    return (
        tuple(listed),
        _sum(known) if is_whole else None,
        begun[roots[0]] if len(begun) == 1 else None,
        None,
    )


def _product(steps: Sequence[WayStep], begun: float) -> float | None:
    """Return seed times local derivatives, from the loss on; None if an open factor matters."""
    product = begun
    for step in reversed(steps):
        if step.local is None and product != 0:
            return None
        product *= 0.0 if step.local is None else step.local
    return product


def _sum(numbers: list[float]) -> float:
    """Return the exact sum, rounded once; infinities add up as in torch."""
    return math.fsum(numbers) if all(map(math.isfinite, numbers)) else sum(numbers)


def _largest(
    part: "nx.MultiDiGraph",
    order: list[int],
    begun: dict[int, float],
    factors: dict[Use, float],
    most: int,
) -> list[_Partial]:
    """Return the ``most`` ways of the largest products, from the loss back to the first node."""
    found: dict[int, list[_Partial]] = {}
    for node in reversed(order):
        own: list[_Partial] = [(begun[node], None)] if node in begun else []
        further = (
            (factors[use] * product, (use, link))
            for _, following, use in part.out_edges(node, keys=True)
            for product, link in found[following]
        )
        found[node] = heapq.nlargest(most, chain(own, further), key=_size)
    return found[order[0]]


def _size(way: _Partial) -> float:
    return math.inf if math.isnan(way[0]) else abs(way[0])


def _unlinked(link: _Link | None) -> list[Use]:
    """Return the uses of a way, the first one first."""
    uses = []
    while link is not None:
        use, link = link
        uses.append(use)
    return uses


def _shares(
    index: Index, part: "nx.MultiDiGraph", value: int, run: int, counts: dict[int, int]
) -> _Listed:
    """List the uses of a tensor with the gradient that came back along each, as torch sent it.

    A vector-Jacobian product is linear: what came back along a use is the sum over all ways that
    begin with it.
    """
    start = network.node_of(index, value)
    through: dict[Use, int] = {}
    for _, following, use in part.out_edges(start, keys=True):
        through[use] = through.get(use, 0) + counts[following]
    listed, sums = [], []
    if (own := counts[start] - sum(through.values())) > 0:
        seed = _begun(index, start, run)
        listed.append(Way((), None, own, _norm(seed)))
        sums.append(seed)
    for use, count in through.items():
        steps = [use] if count > 1 else _only_way(part, start, use)
        shares = [
            index.snapshot(index.tape.edges[edge].gradient)
            for edge in network.sent_edges(index, run, use)
        ]
        arrays = [None if share is None else share.array() for share in shares]
        array = _total(arrays)
        only = shares[0] if len(shares) == 1 else None
        share = _norm(array) if array is not None else _size_of(only)
        listed.append(Way(tuple(WayStep(*step) for step in steps), None, count, share))
        sums.append(array)
    received = index.snapshot(network.received(index, value, run))
    difference = _difference(_total(sums), None if received is None else received.array())
    if len(listed) > MOST_LISTED:
        listed = heapq.nlargest(LARGEST, listed, key=lambda way: abs(way.share or 0.0))
    return tuple(listed), None, None, difference


def _begun(index: Index, root: int, run: int) -> NDArray[np.generic] | None:
    number = network.seed(index, run, root)
    snapshot = index.snapshot(number)
    return np.ones(()) if snapshot is None else snapshot.array()


def _only_way(part: "nx.MultiDiGraph", start: int, use: Use) -> list[Use]:
    """Return the uses on the one way that begins with a use."""
    uses, node = [use], _after(part, start, use)
    while after := list(part.out_edges(node, keys=True)):
        _, node, following = after[0]
        uses.append(following)
    return uses


def _after(part: "nx.MultiDiGraph", start: int, use: Use) -> int:
    found: list[int] = [node for _, node, key in part.out_edges(start, keys=True) if key == use]
    return found[0]


def _total(arrays: Sequence[NDArray[np.generic] | None]) -> NDArray[np.generic] | None:
    """Return the sum of arrays; None if any is unknown, or there is none."""
    known = [array for array in arrays if array is not None]
    if not known or len(known) != len(arrays):
        return None
    with np.errstate(all="ignore"):
        return np.asarray(sum(array.astype(_wide(array)) for array in known))


def _wide(array: NDArray[np.generic]) -> str:
    return "c16" if array.dtype.kind == "c" else "f8"


def _norm(array: NDArray[np.generic] | None) -> float | None:
    """Return the number of an array with one real element, else its norm; None for None."""
    if array is None:
        return None
    if array.size == 1 and array.dtype.kind != "c":
        return float(array.reshape(-1)[0])
    with np.errstate(all="ignore"):
        return float(np.sqrt((np.abs(array.astype(_wide(array))) ** 2).sum()))


def _difference(
    total: NDArray[np.generic] | None, received: NDArray[np.generic] | None
) -> float | None:
    """Return the largest difference of two arrays relative to the largest number of both."""
    if total is None or received is None or total.shape != received.shape:
        return None
    if not total.size or np.array_equal(total, received, equal_nan=True):
        return 0.0
    with np.errstate(all="ignore"):
        left, right = total.astype(_wide(total)), received.astype(_wide(received))
        away = np.abs(left - right)[~(np.isnan(left) & np.isnan(right)) & (left != right)]
        scale = max(float(np.abs(left).max()), float(np.abs(right).max()))
        return float(away.max()) / scale if scale else 0.0
