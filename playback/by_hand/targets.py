"""Values whose gradient can be computed by hand, and the names that code calls them by."""

import re

from msgspec import Struct

from gradscribe.engine.protocol.messages import HandName
from gradscribe.engine.protocol.tape import Value
from gradscribe.playback.tape.event_text import value_name
from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr

GradientKey = tuple[int, int]
"""A gradient's owner: a backward node and its input, or the first version of a leaf and 0."""
SEVERAL = tr("sum over uses")
"""Kind of a gradient that is summed over uses in different ops."""


class HandTarget(Struct, frozen=True):
    """A gradient to find: of this value, in this backward pass."""

    value: int
    key: GradientKey
    number: int
    """Index of the pass."""
    name: str
    shape: tuple[int, ...]
    root: str
    """Name of the tensor that is derived."""
    kind: str
    """The op whose derivative is the last link of the chain."""


def gradient_key(index: Index, value: Value) -> GradientKey:
    """Return the owner of a value's gradient, a key of `Index.arrivals`."""
    if value.node is None:
        return index.first_version(value.id), 0
    return value.node, value.output_nr


def root_keys(index: Index) -> frozenset[GradientKey]:
    """Return the owners of the gradients with which passes begin, which are given."""
    roots = (root for row in index.tape.passes for root in row.roots)
    return frozenset(
        gradient_key(index, index.values[root]) for root in roots if root in index.values
    )


def current_pass(index: Index, position: int) -> int:
    """Return the latest pass that began before a position; without one the first."""
    begun = [run for run, (first, _) in index.passes.items() if first < position]
    return max(begun, default=0)


def target_of(index: Index, value: int, position: int) -> HandTarget | None:
    """Return the question for a value: of the latest pass that began, else of the first.

    None if no pass brings it a gradient, or if it is the root of the pass.
    """
    made = index.values.get(value)
    if made is None:
        return None
    runs = sorted({found.run for found in index.arrivals.get(gradient_key(index, made), ())})
    runs = [run for run in runs if not _is_root(index, made, run)]
    if not runs:
        return None
    begun = [run for run in runs if run <= current_pass(index, position)]
    return _target(index, made, begun[-1] if begun else runs[0])


def _target(index: Index, value: Value, number: int) -> HandTarget:
    made = index.values[_version_in_pass(index, value, number)]
    roots = [root for root in index.tape.passes[number].roots if root is not None]
    root = value_name(index, roots[0]) if roots else tr("the result")
    key, kind = gradient_key(index, made), kind_of(index, made, number)
    return HandTarget(made.id, key, number, value_name(index, made.id), made.shape, root, kind)


def _version_in_pass(index: Index, value: Value, number: int) -> int:
    """Return the version of a leaf that a pass derives by; of another value the value."""
    if value.node is not None:
        return value.id
    home = index.first_version(value.id)
    for _, added in index.accumulated.get(home, ()):
        if index.tape.accumulations[added].run == number:
            return index.tape.accumulations[added].leaf
    begun = index.passes.get(number, (len(index.tape.events), 0))[0]
    alive = [v for v in _versions(index).get(home, ()) if index.created_at.get(v, 0) < begun]
    return alive[-1] if alive else value.id


def _versions(index: Index) -> dict[int, list[int]]:
    """Return the versions of each leaf by its first one."""
    return index.cached("versions of leaves", _leaf_versions)


def _leaf_versions(index: Index) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for value in index.tape.values:
        if value.node is None:
            found.setdefault(index.first_version(value.id), []).append(value.id)
    return found


def _is_root(index: Index, value: Value, number: int) -> bool:
    roots = index.tape.passes[number].roots
    key = gradient_key(index, value)
    return any(r in index.values and gradient_key(index, index.values[r]) == key for r in roots)


def kind_of(index: Index, value: Value, number: int) -> str:
    """Return the op that a gradient comes through last, `SEVERAL` if there are different ones."""
    ops: list[str] = []
    for arrival in index.arrivals.get(gradient_key(index, value), ()):
        if arrival.run != number or arrival.edge < 0:
            continue
        sender = index.tape.edges[arrival.edge].execution
        if sender is not None:
            node = index.tape.executions[sender].node
            op = index.node_ops.get(node)
            ops.append(index.nodes[node].name if op is None else index.op(op).op)
    kinds = list(dict.fromkeys(ops))
    return kinds[0] if len(ops) == 1 and kinds else SEVERAL


def all_targets(index: Index, position: int) -> list[HandTarget]:
    """Return the questions of the pass at a position, from the loss to the leaves."""
    if not index.tape.passes:
        return []
    number = current_pass(index, position)
    owners: dict[GradientKey, Value] = {}
    for value in index.tape.values:
        if value.requires_grad and (value.name or index.values[index.first_version(value.id)].name):
            owners.setdefault(gradient_key(index, value), value)
    order: list[tuple[int, Value]] = []
    for key, value in owners.items():
        events = [arrival.event for arrival in index.arrivals.get(key, ()) if arrival.run == number]
        if events and not _is_root(index, value, number):
            order.append((events[0], value))
    order.sort(key=lambda pair: pair[0])
    return [_target(index, value, number) for _, value in order]


def code_name(name: str) -> str:
    """Return a tensor's name as an identifier: ``net_0_weight`` for ``net.0.weight``."""
    return re.sub(r"\W+", "_", name).strip("_")


def code_names(index: Index, number: int, given: frozenset[int]) -> tuple[HandName, ...]:
    """Return the names of the tensors that exist when a pass begins, those from before it.

    Of several tensors of one name the last has it, the earlier ones have a number: ``h_1``.
    ``given``: values whose gradient may be used.
    """
    begun = index.passes.get(number, (len(index.tape.events), 0))[0]
    by_name: dict[str, dict[GradientKey, int]] = {}
    for value in index.tape.values:
        if value.name and index.created_at.get(value.id, begun) < begun:
            versions = by_name.setdefault(code_name(value.name), {})
            versions[gradient_key(index, value)] = value.id
    found: dict[str, int] = {}
    for name, versions in by_name.items():
        values = list(versions.values())
        for turn, earlier in enumerate(values[:-1], 1):
            if f"{name}_{turn}" not in by_name:
                found[f"{name}_{turn}"] = earlier
        found[name] = values[-1]
    return tuple(HandName(name, value, value in given) for name, value in found.items() if name)
