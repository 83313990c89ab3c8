"""Ops that only create a leaf or a module's buffer, and are drawn as part of it.

``param(torch.randn(3))`` is a single parameter, not a chain of three ops; the mask that a module
creates in its constructor belongs inside that module.
"""

from collections import defaultdict
from collections.abc import Iterable

from gradscribe.engine.protocol.tape import Snapshot, Value
from gradscribe.playback.tape.index import Index


def is_trainable_leaf(value: Value) -> bool:
    """Return whether a value is a leaf that gets a gradient, whichever ops made its data."""
    return value.is_leaf and value.requires_grad and value.node is None


def leaf_name(index: Index, value: Value) -> str:
    """Return a leaf's name, or that of a later version of it; empty for none."""
    if value.name:
        return value.name
    return index.cached("leaf titles", _titles).get(index.first_version(value.id), "")


def _titles(index: Index) -> dict[int, str]:
    found: dict[int, str] = {}
    for value in index.tape.values:
        if value.name and is_trainable_leaf(value):
            found.setdefault(index.first_version(value.id), value.name)
    for leaf in index.tape.leaves:
        if leaf.value in index.values:
            found.setdefault(index.first_version(leaf.value), leaf.name)
    return found


def leaf_preparing_ops(index: Index, ops: Iterable[int]) -> dict[int, int]:
    """Return op -> id of the leaf that it only prepares, for those of ``ops`` (indices).

    An op with an operand or result of another name than the leaf is a card of its own.
    """
    found: dict[int, int] = {}
    for number in sorted(ops, reverse=True):
        op = index.op(number)
        if op.nodes or op.inplace:
            continue
        leaves: set[int | None] = set()
        for output in op.outputs:
            if is_trainable_leaf(index.values[output]):
                leaves.add(index.first_version(output))
            else:
                leaves.update(found.get(user) for user in index.users.get(output, ()))
        if not leaves and not any(index.users.get(output) for output in op.outputs):
            leaves.update(_copied(index, index.values[output]) for output in op.outputs)
        leaf = leaves.pop() if len(leaves) == 1 else None
        if leaf is None:
            continue
        allowed = {"", leaf_name(index, index.values[leaf])}
        names = {index.values[value].name for value in (*op.inputs, *op.outputs)}
        if names <= allowed and not any(is_trainable_leaf(index.values[v]) for v in op.inputs):
            found[number] = leaf
    return found


def source_of_copy(index: Index, prepared: dict[int, int], leaf: int) -> str:
    """Return the name of the tensor whose copy a nameless leaf is, as of deepcopy; else empty.

    ``prepared``: op -> leaf, as of `leaf_preparing_ops`.
    """
    ops = [op for op, home in prepared.items() if home == leaf]
    at: int | None = min(ops) if ops else None
    while at is not None and len(index.op(at).inputs) == 1:
        if index.op(at).op not in ("data", "clone", "detach"):
            break
        value = index.values[index.op(at).inputs[0]]
        if value.name:
            return value.name
        at = value.op
    return ""


def _copied(index: Index, value: Value) -> int | None:
    """Return the leaf that ``nn.Parameter`` made of a value: the next leaf with equal data.

    A frozen parameter is known by the name of a module's attribute, and by having no maker.
    """
    leaves = index.cached("leaves by numbers", _by_numbers).get(index.snapshot(value.snapshot), ())
    return next((leaf for leaf in leaves if leaf > value.id), None)


def _by_numbers(index: Index) -> dict[Snapshot | None, list[int]]:
    found: dict[Snapshot | None, list[int]] = defaultdict(list)
    for value in index.tape.values:
        frozen = value.is_leaf and value.op is None and "." in value.name and not value.maker
        if (is_trainable_leaf(value) or frozen) and index.first_version(value.id) == value.id:
            found[index.snapshot(value.snapshot)].append(value.id)
    found.pop(None, None)
    return found


def buffer_creating_ops(index: Index, ops: Iterable[int]) -> dict[int, int]:
    """Return op -> index of the module call whose buffer it created, for ops outside any call.

    A tensor that only helps to create a buffer may have any name, and may be changed in place.
    """
    calls = index.tape.calls
    found: dict[int, int] = {}
    for number in sorted(ops, reverse=True):
        op = index.op(number)
        if op.call is not None or op.nodes or not op.outputs:
            continue
        homes: set[int | None] = set()
        for output in op.outputs:
            value = index.values[output]
            users = [user for user in index.users.get(output, []) if user != number]
            if "." in value.name and users:
                own = [user for user in users if user not in found]
                homes.update(found[user] for user in users if user in found)
                homes.update(_named(index, value.name, index.op(user).call) for user in own[:1])
            elif users or op.inplace or not value.name:
                homes.update(found.get(user) for user in users)
            else:
                homes.add(None)
        home = homes.pop() if len(homes) == 1 else None
        if home is not None and calls[home].name:
            found[number] = home
    return found


def _named(index: Index, name: str, call: int | None) -> int | None:
    """Return the innermost call around ``call`` that a dotted name belongs to."""
    while call is not None:
        around = index.tape.calls[call]
        if around.name and name.startswith(around.name + "."):
            return call
        call = around.parent
    return None
