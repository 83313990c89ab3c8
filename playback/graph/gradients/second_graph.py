"""Graphs that torch builds without a recorded op: by create_graph, vmap and compiled code.

A backward node without an op becomes a card of its own, joined by the node's edges, so that every
way from a result back to its leaves can be seen.
"""

import re

from gradscribe.engine.protocol.tape import Node, Value
from gradscribe.playback.graph import sizes
from gradscribe.playback.graph.picture import Card
from gradscribe.playback.tape import passes
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting, symbols
from gradscribe.playback.translation import ngettext

MAX_NODES = 30
"""Most nodes behind a result that are drawn as cards; more fold into one."""


def is_torch_made(index: Index, value: Value) -> bool:
    """Return whether a value has a backward node that belongs to no recorded op."""
    node = value.node
    return node is not None and node in index.nodes and node not in index.node_ops


def is_wrapper(index: Index, value: Value) -> bool:
    """Return whether a value is only a transform's view of another: its node leads nowhere."""
    return is_torch_made(index, value) and not any(index.nodes[value.node or 0].next)


def ops_in_backward(index: Index, ops: list[int], values: list[int]) -> list[int]:
    """Return the ops inside backward passes whose results ``ops`` or ``values`` depend on.

    They ran in the backward of a custom function, or under a hook, with create_graph.
    """
    found: set[int] = set()
    seen: set[int] = set()
    waiting = [value for op in ops for value in index.op(op).inputs] + values
    stack = [n for value in waiting if (n := index.values[value].node) is not None]
    while stack:
        node = stack.pop()
        if node in seen or node not in index.nodes:
            continue
        seen.add(node)
        made = index.node_ops.get(node)
        if made is None:
            stack += [after[0] for after in index.nodes[node].next if after is not None]
        elif index.kinds[made] == "backward" and made not in found:
            before = _led_up(index, made, found)
            inputs = (index.values[v].node for op in before for v in index.op(op).inputs)
            stack += [n for n in inputs if n is not None]
    return sorted(found)


def ops_of_inner_passes(index: Index, start: int, stop: int) -> list[int]:
    """Return the ops inside passes among the events from ``start`` to ``stop`` whose nodes ran.

    A hook or a reentrant checkpoint computes something and calls ``backward`` or ``grad`` on it.
    """
    found: list[int] = []
    runs = passes.numbered(index, start, stop)
    inner = [run for run in runs if _is_inside_another(index, run)]
    for run in inner:
        for number in index.run_executions.get(run, ()):
            op = index.node_ops.get(index.tape.executions[number].node)
            if op is not None and index.kinds[op] == "backward":
                found += _led_up(index, op, set(found))
    return found


def _is_inside_another(index: Index, run: int) -> bool:
    at, stop = index.passes[run]
    spans = (span for other, span in index.passes.items() if other != run)
    return any(first < at and stop < last for first, last in spans)


def _led_up(index: Index, op: int, found: set[int]) -> list[int]:
    """Add to ``found`` an op inside a pass and those that computed its inputs; return the new."""
    stack, new = [op], list[int]()
    while stack:
        number = stack.pop()
        if number in found or index.kinds[number] != "backward":
            continue
        found.add(number)
        new.append(number)
        makers = (index.values[value].op for value in index.op(number).inputs)
        stack += [maker for maker in makers if maker is not None]
    return new


def unmade(index: Index, node: int, done: dict[int, str]) -> list[int]:
    """Return the nodes without an op behind ``node`` that have no card yet, farthest first."""
    order: list[int] = []
    placed: set[int] = set()
    stack = [node]
    while stack:
        top = stack[-1]
        behind = [
            after[0]
            for after in index.nodes[top].next
            if after is not None
            and after[0] in index.nodes
            and after[0] not in index.node_ops
            and after[0] not in done
            and after[0] not in placed
        ]
        if behind and top not in placed:
            stack += behind
            continue
        stack.pop()
        if top not in placed and top not in done:
            placed.add(top)
            order.append(top)
    return order


def title(node: Node) -> str:
    """Return an op's name for a backward node: ``UnsafeViewBackward0`` is view."""
    stem = re.sub(r"Backward\d*$", "", node.name) or node.name
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", stem).lower()
    name = symbols.canonical_name(snake.removeprefix("unsafe_"))
    return {"reshape_alias": "reshape"}.get(name, name)


def card(index: Index, node: Node, key: str, value: Value | None, is_root: bool) -> Card:
    """Return the card of a backward node without an op, with its result if that was recorded."""
    name = value.name if value is not None else ""
    # Nothing but the gradient is known where the result was never seen by the program.
    scalar = value is None or value.shape == () or set(value.shape) == {1}
    snapshot = index.snapshot(value.snapshot) if value is not None else None
    number = snapshot.item() if snapshot is not None and snapshot.numel == 1 else None
    shown = formatting.number(number) if number is not None else ""
    width, height = sizes.op(title(node), name, node.name, scalar, shown)
    return Card(
        key,
        "loss" if is_root else "op",
        title(node),
        name=name,
        symbol=symbols.symbol_of(title(node)),
        note=node.name,
        value=value.id if value is not None else None,
        scalar=scalar,
        width=width,
        height=height,
    )


def folded_title(value: Value, nodes: int) -> str:
    """Return the folding of a result's nodes in words."""
    return (
        (value.name or "result")
        + " · "
        + ngettext("{count:,} backward node", "{count:,} backward nodes", nodes)
    )


def folded_card(key: str, value: Value | None, nodes: int, title: str = "") -> Card:
    """Return the card of folded nodes; ``value`` is what all of them made, if that is one value.

    ``title``: the pass that made them; without it the result's name.
    """
    name = title or (value.name if value is not None else "") or "result"
    note = ngettext("{count:,} backward node", "{count:,} backward nodes", nodes)
    # Notation is wider than letters.
    wide = name + "  " * name.count("∂")
    width, height = sizes.module(wide, note, formatting.shape(value.shape) if value else "")
    return Card(
        key,
        "module",
        name,
        name=value.name if value is not None and title else "",
        note=note,
        value=value.id if value is not None else None,
        scalar=value is None or value.shape == (),
        width=width,
        height=height,
    )


def result_card(index: Index, key: str, value: Value, written: str) -> Card:
    """Return the card of a gradient that a pass returned without a graph of its own.

    ``written``: its notation, ``∂y/∂x``.
    """
    scalar = value.shape == () or set(value.shape) == {1}
    snapshot = index.snapshot(value.snapshot)
    number = snapshot.item() if snapshot is not None and snapshot.numel == 1 else None
    shown = formatting.number(number) if number is not None else ""
    width, height = sizes.op("grad", value.name, written, scalar, shown)
    return Card(
        key,
        "op",
        "grad",
        name=value.name,
        symbol="∂",
        note=written,
        value=value.id,
        scalar=scalar,
        cut=True,
        width=width,
        height=height,
    )
