"""Visits of backward nodes: their place in the order of a pass, and how often each ran."""

from typing import NamedTuple

from gradscribe.playback.tape.index import Index


class Visit(NamedTuple):
    """A run of a node: its place in the order of its pass, and all its runs so far."""

    order: int
    """Counts from 1."""
    of: int
    """Number of nodes that the pass ran."""
    run: int
    """Index of the pass."""
    visits: int


def visits_of(index: Index) -> list[Visit]:
    """Return the visit that each execution of the tape is, in one walk over all of them."""
    found: list[Visit] = []
    orders: dict[int, int] = {}
    counts: dict[int, int] = {}
    for execution in index.tape.executions:
        run, node = execution.run, execution.node
        orders[run] = orders.get(run, 0) + 1
        counts[node] = counts.get(node, 0) + 1
        found.append(Visit(orders[run], len(index.run_executions[run]), run, counts[node]))
    return found
