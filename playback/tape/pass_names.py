"""Names of backward passes: ``Backward 2 of 3``, ``Second derivative``.

A pass that goes through nodes which another pass made computes a derivative of the next order.
Passes inside another, as of a checkpoint, have no name of their own.
"""

from bisect import bisect_right
from collections import Counter, defaultdict

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.passes import pass_of_nodes
from gradscribe.playback.tape.scenes import scenes
from gradscribe.playback.translation import tr

_ORDERS = {1: tr("Backward"), 2: tr("Second derivative"), 3: tr("Third derivative")}


def pass_names(tape: Tape | Index) -> dict[int, str]:
    """Return pass -> its name, for the passes that are in no other."""
    return index_of(tape).cached("pass names", _pass_names)


def outermost_passes(tape: Tape | Index) -> list[int]:
    """Return the passes that are in no other, in the order in which they began."""
    return index_of(tape).cached("outermost passes", _outermost)


def _outermost(index: Index) -> list[int]:
    found: list[int] = []
    end = -1
    for run, (start, stop) in sorted(index.passes.items(), key=lambda item: item[1]):
        if start > end:
            found.append(run)
            end = stop
    return found


def _pass_names(index: Index) -> dict[int, str]:
    orders = _orders(index)
    starts = [scene.start for scene in scenes(index)]
    groups: dict[int, tuple[int, int]] = {}
    for run in _outermost(index):
        scene = bisect_right(starts, index.passes[run][0])
        groups[run] = scene, orders.get(run, 1)
    sizes = Counter(groups.values())
    seen: dict[tuple[int, int], int] = defaultdict(int)
    names = {}
    for run, group in groups.items():
        seen[group] += 1
        name = _ORDERS.get(group[1], tr("{group}th derivative", group=group[1]))
        count = sizes[group]
        names[run] = (
            tr("{name} {seen:,} of {count:,}", name=name, seen=seen[group], count=count)
            if count > 1
            else name
        )
    return names


def _orders(index: Index) -> dict[int, int]:
    """Return pass -> its order: one more than the highest of those whose nodes it went through."""
    makers = pass_of_nodes(index)
    orders: dict[int, int] = {}
    if not makers:
        return orders
    for execution in index.tape.executions:
        maker = makers.get(execution.node)
        # A pass makes nodes before another can go through them.
        if maker is not None and maker != execution.run:
            order = orders.get(maker, 1) + 1
            orders[execution.run] = max(orders.get(execution.run, 1), order)
    return orders
