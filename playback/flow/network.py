"""Values and their uses as a graph of networkx, and questions to it."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gradscribe.engine.protocol.tape import Accumulation
from gradscribe.playback.explain import local_derivative
from gradscribe.playback.tape import operands
from gradscribe.playback.tape.index import Index

if TYPE_CHECKING:
    import networkx as nx

Use = tuple[int, int]
"""An op (index in the tape) and one of its operands, in the order of the source."""


def uses(index: Index) -> "nx.MultiDiGraph":
    """Return values as nodes and uses as edges, cached with the index.

    Keys of edges are `Use`s; ``alive`` is False where no gradient can come back.
    """
    return index.cached("uses", _uses)


def _uses(index: Index) -> "nx.MultiDiGraph":
    import networkx as nx

    made = nx.MultiDiGraph()
    made.add_nodes_from(node_of(index, value.id) for value in index.tape.values)
    for number, op in enumerate(index.tape.ops):
        for place, arg in enumerate(operands.operands(op)):
            if arg.value is None:
                continue
            for result in op.outputs:
                ends = index.values[arg.value], index.values[result]
                alive = bool(op.nodes) and all(value.requires_grad for value in ends)
                made.add_edge(node_of(index, arg.value), result, (number, place), alive=alive)
    return made


def node_of(index: Index, value: int) -> int:
    """Return the node of a value: of a leaf that was updated its first version."""
    return value if index.values[value].op is not None else index.first_version(value)


def before(index: Index, values: Iterable[int]) -> set[int]:
    """Return some values with all that they were computed from."""
    import networkx as nx

    starts = {node_of(index, value) for value in values}
    return starts.union(*(nx.ancestors(uses(index), start) for start in starts))


def after(index: Index, values: Iterable[int]) -> set[int]:
    """Return some values with all that was computed from them."""
    import networkx as nx

    starts = {node_of(index, value) for value in values}
    return starts.union(*(nx.descendants(uses(index), start) for start in starts))


def last_pass(index: Index, value: int) -> int | None:
    """Return the last backward pass that reached a value, else the last of all; None for none."""
    made = index.values[value]
    key = (index.first_version(value), 0) if made.node is None else (made.node, made.output_nr)
    arrivals = index.arrivals.get(key, [])
    if arrivals:
        return arrivals[-1].run
    return len(index.tape.passes) - 1 if index.tape.passes else None


def roots(index: Index, run: int | None) -> list[int]:
    """Return the values at which a backward pass began."""
    if run is None:
        return []
    found = (root for root in index.tape.passes[run].roots if root is not None)
    return [node_of(index, root) for root in found if root in index.values]


def version_in_pass(index: Index, value: int) -> int:
    """Return the version of an updated leaf from which its last backward pass came.

    An update in the program's own words (``w -= 0.1 * w.grad``) makes a version that no loss was
    computed from yet. Any other value is returned unchanged.
    """
    made = index.values[value]
    if made.node is not None or not made.requires_grad:
        return value
    first = index.first_version(value)
    versions = [number for number, start in index.first_versions.items() if start == first]
    if len(versions) == 1:
        return value
    leading = before(index, roots(index, last_pass(index, value)))
    return next(
        (number for number in reversed(versions) if node_of(index, number) in leading), value
    )


def between(index: Index, value: int, ends: Iterable[int]) -> set[int]:
    """Return all values on the ways from one to any of the ``ends``; empty if there is no way."""
    ends = list(ends)
    return after(index, [value]) & before(index, ends) if ends else set()


def bottlenecks(index: Index, value: int, end: int) -> list[int]:
    """Return the values that every way from one value to another passes, in order.

    They are the dominators of ``end``, with it and without ``value``.
    """
    import networkx as nx

    start, end = node_of(index, value), node_of(index, end)
    part = uses(index).subgraph(between(index, start, [end]))
    if end not in part or start == end:
        return []
    dominators = nx.immediate_dominators(nx.DiGraph(part), start)
    chain = [end]
    while (above := dominators.get(chain[-1])) not in (None, start, chain[-1]):
        chain.append(above)
    return chain[::-1]


def cut(index: Index, value: int, ends: Iterable[int]) -> list[int]:
    """Return the ops behind which no gradient comes back on the ways to ``ends``.

    Without ``ends`` on all ways.
    """
    import networkx as nx

    start = node_of(index, value)
    part = uses(index).subgraph(between(index, start, ends) or after(index, [start]))
    edges = list(part.edges(keys=True, data="alive"))
    alive = nx.DiGraph((source, target) for source, target, _, is_alive in edges if is_alive)
    reached = {start} | (nx.descendants(alive, start) if start in alive else set())
    return sorted(
        {use[0] for source, _, use, is_alive in edges if source in reached and not is_alive}
    )


def dead_ends(index: Index, value: int) -> list[int]:
    """Return what was computed from a value, itself included, and used by no op, in order."""
    graph = uses(index)
    return sorted(node for node in after(index, [value]) if not graph.succ[node])


def critical_path(index: Index, numbers: Iterable[int]) -> list[int]:
    """Return those of some ops, in ascending order, on the way that took longest."""
    import networkx as nx

    times, made = index.tape.times, nx.DiGraph()
    wanted = [n for n in numbers if n < len(times) and index.kinds[n] == "forward"]
    for number in wanted:
        # The edge into an op weighs what the op took; those without a source begin at -1.
        made.add_edge(-1, number, weight=times[number])
        for taken in index.op(number).inputs:
            maker = index.values[taken].op
            if maker is not None and maker in made and maker != number:
                made.add_edge(maker, number, weight=times[number])
    return nx.dag_longest_path(made)[1:] if wanted else []


def local(index: Index, run: int, use: Use) -> tuple[float | None, float | None]:
    """Return the local derivative of a scalar op for an operand, and the share sent back.

    Both are None for tensors. Where torch's numbers leave the derivative open (0 came and 0 was
    sent) it is that of the op's formula, and None if there is none.
    """
    op = index.op(use[0])
    main = index.execution_in_pass(op.node, run)
    if main is None or len(op.outputs) != 1 or len(main.received) != 1:
        return None, None
    upstream = _scalar(index, main.received[0])
    edges = sent_edges(index, run, use)
    shares = [_scalar(index, index.tape.edges[edge].gradient) for edge in edges]
    sent = [share for share in shares if share is not None]
    if upstream is None or not edges or len(sent) != len(shares):
        return None, None
    formula = local_derivative.local_derivative(index, edges[0]) if len(edges) == 1 else None
    if formula is not None:
        return formula, sum(sent)
    is_known = upstream != 0 and math.isfinite(upstream)
    return (sum(sent) / upstream if is_known else None), sum(sent)


def sent_edges(index: Index, run: int, use: Use) -> list[int]:
    """Return the edges (indices in the tape) along which a pass sent gradients to an operand."""
    number, place = use
    found: list[int] = []
    for (node, slot), operand in local_derivative.edges_of(index, number).items():
        execution = index.execution_in_pass(node, run) if operand == place else None
        edges = () if execution is None else execution.edges
        found += (edge for edge in edges if index.tape.edges[edge].slot == slot)
    return found


def _scalar(index: Index, number: int | None) -> float | None:
    """Return the number of a snapshot with one element; None for any other."""
    snapshot = index.snapshot(number)
    item = None if snapshot is None else snapshot.item()
    return float(item) if isinstance(item, int | float) else None


def accumulation(index: Index, value: int, run: int) -> Accumulation | None:
    """Return what a pass added to the ``.grad`` of a leaf; None if it added nothing."""
    for _, number in reversed(index.accumulated.get(index.first_version(value), [])):
        if index.tape.accumulations[number].run == run:
            return index.tape.accumulations[number]
    return None


def received(index: Index, value: int, run: int) -> int | None:
    """Return the snapshot of the gradient that a tensor received in a pass; None if unknown."""
    made = index.values[value]
    if made.node is not None:
        execution = index.execution_in_pass(made.node, run)
        if execution is not None and made.output_nr < len(execution.received):
            return execution.received[made.output_nr]
    elif (added := accumulation(index, value, run)) is not None:
        return added.sent
    found = arrived(index, value, run)
    return found[0] if len(found) == 1 else None


def arrived(index: Index, value: int, run: int) -> list[int]:
    """Return the snapshots of the shares of the gradient that arrived at a value in a pass."""
    made = index.values[value]
    key = (index.first_version(value), 0) if made.node is None else (made.node, made.output_nr)
    return [arrival.snapshot for arrival in index.arrivals.get(key, []) if arrival.run == run]


def seed(index: Index, run: int, root: int) -> int | None:
    """Return the snapshot that a pass began with at a root; None for the 1 of a scalar."""
    begun = index.tape.passes[run]
    for value, number in zip(begun.roots, begun.seeds, strict=False):
        if value is not None and node_of(index, value) == root and number is not None:
            return number
    return None
