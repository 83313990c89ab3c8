"""Values whose gradient can be computed by hand, and the names that code calls them by."""

import re

from msgspec import Struct

from gradscribe.engine.protocol.messages import HandName
from gradscribe.engine.protocol.tape import Value
from gradscribe.playback.tape.event_text import value_name
from gradscribe.playback.tape.index import Index

GradientKey = tuple[int, int]
"""A gradient's owner: a backward node and its input, or the first version of a leaf and 0."""
SEVERAL = "sum over uses"
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


def passes_of(index: Index, value: Value) -> list[int]:
    """Return the passes that bring a gradient to a value, in order."""
    arrivals = index.arrivals.get(gradient_key(index, value), ())
    return list(dict.fromkeys(arrival.run for arrival in arrivals if arrival.edge >= 0))


def target_of(index: Index, value: int, position: int) -> HandTarget | None:
    """Return the question for a value: of the latest pass that began, else of the first.

    None if no pass brings it a gradient, or if it is the root of the pass.
    """
    made = index.values.get(value)
    if made is None:
        return None
    made = _with_gradient(index, made)
    found = [run for run in passes_of(index, made) if not _is_root(index, made, run)]
    if not found:
        return None
    begun = [run for run in found if index.passes.get(run, (position, 0))[0] < position]
    number = begun[-1] if begun else found[0]
    roots = [root for root in index.tape.passes[number].roots if root is not None]
    root = value_name(index, roots[0]) if roots else "the result"
    name = value_name(index, made.id)
    kind = kind_of(index, made, number)
    return HandTarget(made.id, gradient_key(index, made), number, name, made.shape, root, kind)


def _with_gradient(index: Index, value: Value) -> Value:
    """Return the version of a leaf that a pass brought a gradient to; other values unchanged."""
    if value.node is not None or not value.requires_grad:
        return value
    added = {a.leaf for a in index.tape.accumulations}
    versions = [v for v in index.tape.values if v.tensor == value.tensor and v.id <= value.id]
    return next((v for v in reversed(versions) if v.id in added), value)


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
            op = index.node_ops.get(index.tape.executions[sender].node)
            ops.append(index.op(op).op if op is not None else "")
    kinds = list(dict.fromkeys(ops))
    return kinds[0] if len(ops) == 1 and kinds else SEVERAL


def all_targets(index: Index, position: int) -> list[HandTarget]:
    """Return the questions of a program: its named tensors, from the loss to the leaves."""
    found: dict[GradientKey, HandTarget] = {}
    for value in index.tape.values:
        if not value.name or not value.requires_grad:
            continue
        target = target_of(index, value.id, position)
        if target is not None:
            found.setdefault(target.key, target)
    order = {
        key: min(arrival.event for arrival in index.arrivals[key])
        for key in found
        if index.arrivals.get(key)
    }
    return sorted(found.values(), key=lambda target: order[target.key])


def code_name(name: str) -> str:
    """Return a tensor's name as an identifier: ``net_0_weight`` for ``net.0.weight``."""
    return re.sub(r"\W+", "_", name).strip("_")


def code_names(index: Index, number: int, given: frozenset[int]) -> tuple[HandName, ...]:
    """Return the names of the tensors that exist when a pass begins, those from before it.

    Of several tensors of one name the last has it, the earlier ones have a number: ``h_1``.
    ``given``: values whose gradient may be used.
    """
    begun = index.passes.get(number, (len(index.tape.events), 0))[0]
    by_name: dict[str, list[int]] = {}
    for value in index.tape.values:
        if value.name and index.created_at.get(value.id, begun) < begun:
            versions = by_name.setdefault(code_name(value.name), [])
            same = [at for at, v in enumerate(versions) if _is_same(index, v, value)]
            if same:
                versions[same[0]] = value.id
            else:
                versions.append(value.id)
    found: dict[str, int] = {}
    for name, values in by_name.items():
        for turn, earlier in enumerate(values[:-1], 1):
            if f"{name}_{turn}" not in by_name:
                found[f"{name}_{turn}"] = earlier
        found[name] = values[-1]
    return tuple(HandName(name, value, value in given) for name, value in found.items() if name)


def _is_same(index: Index, value: int, other: Value) -> bool:
    """Return whether two values are versions of a leaf, which have one gradient."""
    known = index.values[value]
    return known.tensor == other.tensor and known.node is None and other.node is None
