"""Backward passes of a tape: what each differentiates, the nodes it made, what it returned."""

from bisect import bisect_right

from gradscribe.engine.protocol.tape import Value
from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr

MAX_NAMES = 3
"""Most inputs of a pass that its title lists."""


def value_at(index: Index, target: tuple[int, int]) -> Value | None:
    """Return the first value that enters a backward node at an input; None for none recorded."""
    return index.cached("values by node", _by_node).get(target)


def _by_node(index: Index) -> dict[tuple[int, int], Value]:
    found: dict[tuple[int, int], Value] = {}
    for value in index.tape.values:
        if value.node is not None:
            found.setdefault((value.node, value.output_nr), value)
    return found


def input_value(index: Index, target: tuple[int, int] | None) -> Value | None:
    """Return the value that takes a gradient at a target: a leaf, or the result of a node."""
    if target is None:
        return None
    return value_at(index, target) if target[0] in index.nodes else index.values[target[0]]


def pass_of_nodes(index: Index) -> dict[int, int]:
    """Return node without an op -> the innermost pass during which torch made it."""
    return index.cached("pass of nodes", _pass_of_nodes)


def _pass_of_nodes(index: Index) -> dict[int, int]:
    spans = sorted((start, stop, run) for run, (start, stop) in index.passes.items())
    creating = [run for _, _, run in spans if index.tape.passes[run].create_graph]
    found: dict[int, int] = {}
    for node in index.tape.nodes if creating else ():
        if node.id in index.node_ops:
            continue
        for start, stop, run in reversed(spans[: bisect_right(spans, node.made, key=_start)]):
            if start < node.made <= stop:
                if index.tape.passes[run].create_graph:
                    found[node.id] = run
                break
    return found


def _start(span: tuple[int, int, int]) -> int:
    return span[0]


def returned_by(index: Index, value: int) -> tuple[int, int] | None:
    """Return the pass that returned a value, and its place among the results; None for none."""
    return index.cached("returned values", _returned).get(value)


def _returned(index: Index) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for run, row in enumerate(index.tape.passes):
        for place, value in enumerate(row.results):
            if value is not None and index.values[value].maker == "grad":
                found.setdefault(value, (run, place))
    return found


def results_at(index: Index, run: int) -> dict[tuple[int, int], int]:
    """Return target (a key of `Index.arrivals`) -> the value that a pass returned for it."""
    row = index.tape.passes[run]
    return {
        index.target(*target): value
        for target, value in zip(row.inputs, row.results, strict=False)
        if target is not None and value is not None
    }


def root_text(index: Index, run: int) -> str:
    """Return the names of a pass's roots; ``L`` for one without a name."""
    named = [index.values[root].name for root in index.tape.passes[run].roots if root is not None]
    shown = [name or "L" for name in named[:MAX_NAMES]]
    return _listed(shown, len(named)) or "L"


def derivative(index: Index, run: int, place: int) -> str:
    """Return the notation of one result of a pass: ``∂y/∂x``."""
    inputs = index.tape.passes[run].inputs
    asked = input_value(index, inputs[place] if place < len(inputs) else None)
    return f"∂{root_text(index, run)}/∂{_name(index, asked)}"


def title(index: Index, run: int) -> str:
    """Return a pass in a few words: ``∂y/∂x``, ``∂y/∂(a, b)``, ``backward of loss``."""
    row = index.tape.passes[run]
    if row.kind == "backward":
        return tr("backward of {root_text}", root_text=root_text(index, run))
    if len(row.inputs) == 1:
        return derivative(index, run, 0)
    names = [_name(index, input_value(index, t)) for t in row.inputs[:MAX_NAMES]]
    return f"∂{root_text(index, run)}/∂{_listed(names, len(row.inputs)) or '…'}"


def _name(index: Index, value: Value | None) -> str:
    """Return a value's name; an ellipsis for one without."""
    first = index.first_version(value.id) if value is not None else None
    return (value.name or index.values[first or 0].name if value is not None else "") or "…"


def made_by(index: Index, value: Value) -> str:
    """Return the notation of a gradient that a pass returned or computed; "" for other values."""
    if value.maker != "grad":
        return ""
    found = returned_by(index, value.id)
    if found is not None:
        return derivative(index, *found)
    run = pass_of_nodes(index).get(value.node) if value.node is not None else None
    return tr("in {title}", title=title(index, run)) if run is not None else ""


def _listed(names: list[str], count: int) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"({', '.join(names)}{', …' if count > len(names) else ''})"


def numbered(index: Index, start: int, stop: int) -> list[int]:
    """Return the passes that began among the events ``start`` to ``stop``, in order."""
    begun = ((at, run) for run, (at, _) in index.passes.items() if start <= at < stop)
    return [run for _, run in sorted(begun)]
