"""The backward nodes as torch links them: next functions, visits, and the walk over all of them."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from gradscribe.playback.graph.visits import Visit
from gradscribe.playback.tape import event_text
from gradscribe.playback.tape.index import Index


class NextFunction(NamedTuple):
    """An entry of a node's ``next_functions``: ``((AddBackward0, 0), ...)``."""

    slot: int
    name: str
    """torch's own name: ``AddBackward0``, ``AccumulateGrad``, ``None``."""
    input_nr: int
    target: int | None
    """Node id or leaf value id; None where no gradient flows."""
    tensor: str = ""
    """Name of the tensor that the target belongs to, empty if it has none."""
    depth: int = 0
    """Above 0 for the entries of a further node of the same op."""
    is_same_op: bool = False
    """True for a further node of the same op, whose own entries follow."""


def next_functions(index: Index, node: int) -> list[NextFunction]:
    """Return a node's next functions; those of further nodes of its op follow their entry."""
    found: list[NextFunction] = []
    waiting = [(node, slot, 0) for slot in reversed(range(len(index.nodes[node].next)))]
    seen = {node}
    while waiting:
        at, slot, depth = waiting.pop()
        entry = _entry(index, at, slot, depth)
        found.append(entry)
        target = entry.target
        if entry.is_same_op and target is not None and target not in seen:
            seen.add(target)
            slots = reversed(range(len(index.nodes[target].next)))
            waiting.extend((target, inner, depth + 1) for inner in slots)
    return found


def _entry(index: Index, node: int, slot: int, depth: int) -> NextFunction:
    edge = index.nodes[node].next[slot]
    if edge is None:
        return NextFunction(slot, "None", 0, None, depth=depth)
    target, input_nr = edge
    if target not in index.nodes:
        # torch's graph has a node there, which the tape leaves out.
        name = event_text.value_name(index, target) if target in index.values else ""
        return NextFunction(slot, "AccumulateGrad", input_nr, target, name, depth)
    op, own = index.nodes[target].op, index.nodes[node].op
    results = index.op(op).outputs if op is not None else ()
    made = next((v for v in results if index.values[v].node == target), None)
    name = index.values[made].name if made is not None else ""
    is_same = op is not None and op == own
    return NextFunction(slot, index.nodes[target].name, input_nr, target, name, depth, is_same)


def visit(index: Index, node: int, position: int) -> Visit | None:
    """Return the latest run of a node among the first events; None before the first."""
    runs = index.node_runs.get(node, [])
    visits = bisect_left(runs, (position, -1))
    if not visits:
        return None
    number = runs[visits - 1][1]
    run = index.tape.executions[number].run
    inside = index.run_executions[run]
    return Visit(inside.index(number) + 1, len(inside), run, visits)


def walk(index: Index, roots: Iterable[int]) -> list[int]:
    """Return the nodes and leaves that ``next_functions`` lead to from the nodes of some values.

    Depth first and in the order of the slots, as the usual recursive function prints them, but
    each only once: the number of ways doubles with every tensor that is used twice.
    """
    values = (index.values[root] for root in roots if root in index.values)
    waiting = [v.node for v in values if v.node in index.nodes][::-1]
    seen: dict[int, None] = {}
    while waiting:
        target = waiting.pop()
        if target is None or target in seen:
            continue
        seen[target] = None
        if target in index.nodes:
            edges = index.nodes[target].next
            waiting.extend(edge[0] for edge in reversed(edges) if edge is not None)
    return list(seen)
