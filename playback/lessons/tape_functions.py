"""Functions of the expressions in lessons: values, gradients, shapes, counts, output, the error.

The first argument of most is the name of a tensor as in the program (``x``, ``net.0.weight``);
``at`` is a place as in `playback.code.places`, by default the end.
"""

import math
from collections.abc import Callable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gradscribe.engine.protocol.tape import Snapshot, Value
from gradscribe.playback.code.places import position_of
from gradscribe.playback.tape import saved_memory as memory
from gradscribe.playback.tape.index import Arrival, Index
from gradscribe.playback.translation import tr

Answer = bool | int | float | complex | str | None | list["Answer"] | NDArray[np.generic]

_SIZES = {"64": 8, "32": 4, "16": 2, "8": 1, "bool": 1, "128": 16}


class NotOnTape(LookupError):
    """The tape does not contain the requested value."""


def value(index: Index, name: str, at: str = "end") -> Answer:
    """Return a tensor's value at a place: a number for a scalar, else an array."""
    place = position_of(index, at)
    found = named(index, name, place)
    newest = index.snapshot_at(found.id, place) if found.node is None else found.snapshot
    return _numbers(index.snapshot(newest), name)


def values(index: Index, name: str) -> list[Answer]:
    """Return the values of all tensors that had this name, in order of creation."""
    made = [v for v in index.tape.values if v.name == name and v.id in index.created_at]
    if not made:
        raise NotOnTape(tr("no tensor is called {name}", name=name))
    made.sort(key=lambda v: index.created_at[v.id])
    return [_numbers(index.snapshot(v.snapshot), name) for v in made]


def grad(index: Index, name: str, at: str = "end") -> Answer:
    """Return the gradient that reached a tensor; None if none did; zeros after a reset."""
    place = position_of(index, at)
    found = named(index, name, place)
    known = index.gradient(found.id, place)
    if known.zeros and known.snapshot is None:
        return np.zeros(found.shape) if found.shape else 0.0
    if known.snapshot is None:
        return None
    return _numbers(index.snapshot(known.snapshot), name)


def shares(index: Index, name: str, at: str = "end") -> list[Answer]:
    """Return the partial gradients that a tensor got in the latest pass, in order of arrival."""
    place = position_of(index, at)
    known = index.gradient(named(index, name, place).id, place)
    return [_numbers(index.snapshot(share), name) for share in known.shares]


def upstream(index: Index, name: str, at: str = "end") -> list[Answer]:
    """Return for each share the gradient that arrived at the result which sent it."""
    return [_numbers(index.snapshot(share.arrived), name) for share in sent_shares(index, name, at)]


def earlier(index: Index, name: str, at: str = "end") -> list[Answer]:
    """Return the values that a tensor's updates replaced, the oldest first."""
    place = position_of(index, at)
    home = index.first_version(named(index, name, place).id)
    first = index.values[home].snapshot
    later = [snapshot for event, snapshot in index.updates.get(home, ()) if event < place]
    numbers = [first, *later][:-1]
    return [_numbers(index.snapshot(number), name) for number in numbers]


def shape(index: Index, name: str, at: str = "end") -> list[Answer]:
    """Return a tensor's shape as a list."""
    return list(_at(index, name, at).shape)


class SentShare(Struct, frozen=True):
    """A share of a gradient: the snapshot sent, the one that arrived at the sender, its result.

    ``result`` is the value whose backward node sent it; ``arrived`` is None where the node has
    several results.
    """

    sent: int
    arrived: int | None
    result: int | None


def sent_shares(index: Index, name: str, at: str = "end") -> list[SentShare]:
    """Return the shares of a tensor's gradient in the latest pass, in order of arrival."""
    place = position_of(index, at)
    found = named(index, name, place)
    key = (index.first_version(found.id), 0)
    if found.node is not None:
        key = (found.node, found.output_nr)
    arrivals = [arrival for arrival in index.arrivals.get(key, ()) if arrival.event < place]
    latest = [arrival for arrival in arrivals if arrival.run == arrivals[-1].run]
    return [_sent_share(index, arrival) for arrival in latest]


def _sent_share(index: Index, arrival: Arrival) -> SentShare:
    sender = index.tape.edges[arrival.edge].execution if arrival.edge >= 0 else None
    if sender is None:
        return SentShare(arrival.snapshot, None, None)
    execution = index.tape.executions[sender]
    op = index.node_ops.get(execution.node)
    made = [] if op is None else list(index.op(op).outputs)
    arrived = execution.received[0] if len(execution.received) == 1 else None
    return SentShare(arrival.snapshot, arrived, made[0] if len(made) == 1 else None)


def saved(index: Index, name: str, at: str = "end") -> list[Answer]:
    """Return the names of the attributes that the tensor's backward node saves."""
    found = _at(index, name, at)
    return list(index.nodes[found.node].saved) if found.node in index.nodes else []


def grad_fn(index: Index, name: str, at: str = "end") -> Answer:
    """Return the name of a tensor's backward node, None for a leaf."""
    found = _at(index, name, at)
    return index.nodes[found.node].name if found.node in index.nodes else None


def shares_memory(index: Index, one: str, other: str) -> bool:
    """Return whether two tensors share a storage."""
    return _at(index, one, "end").storage == _at(index, other, "end").storage


def size(index: Index, name: str, at: str = "end") -> int:
    """Return the size of a tensor's elements in bytes."""
    found = _at(index, name, at)
    return _numel(found) * next(n for key, n in _SIZES.items() if found.dtype.endswith(key))


def count(index: Index, op: str = "", node: str = "", event: str = "", at: str = "end") -> int:
    """Count the runs of an op or of a backward node, or the events of a kind."""
    tape, found = index.tape, 0
    for recorded in tape.events[: position_of(index, at)]:
        if recorded.kind == "op" and op:
            found += tape.ops[recorded.ref].op == op
        elif recorded.kind == "node" and node:
            found += index.nodes[tape.executions[recorded.ref].node].name == node
        elif event:
            found += recorded.kind == event
    return found


def saved_bytes(index: Index, at: str = "end") -> int:
    """Return the bytes that backward nodes save at a place."""
    return memory.saved_bytes(index.tape, position_of(index, at))


def parameters(index: Index) -> int:
    """Return the number of elements of all parameters."""
    tensors = {v.tensor: _numel(v) for v in index.tape.values if v.role == "parameter"}
    return sum(tensors.values())


def printed(index: Index, word: str = "") -> Answer:
    """Return the program's output; with ``word`` whether the output contains it."""
    return word in index.tape.stdout if word else index.tape.stdout


def warned(index: Index, word: str = "") -> bool:
    """Return whether there was a warning that contains ``word``."""
    return bool(index.tape.stderr) and word in index.tape.stderr


def made(index: Index, name: str) -> bool:
    """Return whether a tensor of that name was created."""
    return any(v.name == name for v in index.tape.values)


def error(index: Index, part: str) -> Answer:
    """Return an attribute of the program's error; without error an empty text, or line 0.

    Raises:
        Missing: errors have no such attribute.
    """
    problem = index.tape.error
    if part == "line":
        return problem.place.line if problem else 0
    if part not in ("type", "message", "hint"):
        raise NotOnTape(tr("an error has no {part}", part=part))
    return str(getattr(problem, part)) if problem else ""


def named(index: Index, name: str, place: int) -> Value:
    """Return the latest tensor with a name at a position.

    Raises:
        Missing: no tensor has had that name.
    """
    found = [
        v
        for v in index.tape.values
        if name in (v.name, index.values[index.first_version(v.id)].name)
        and index.created_at.get(v.id, len(index.tape.events) + 1) < place
    ]
    if not found:
        raise NotOnTape(tr("no tensor is called {name} there", name=name))
    return max(found, key=lambda v: index.created_at[v.id])


def _at(index: Index, name: str, at: str) -> Value:
    return named(index, name, position_of(index, at))


def _numbers(snapshot: Snapshot | None, name: str) -> Answer:
    array = snapshot.array() if snapshot is not None else None
    if array is None:
        raise NotOnTape(tr("the numbers of {name} are not on the tape: it is too big", name=name))
    return array if array.ndim else array.item()


def _numel(found: Value) -> int:
    return math.prod(found.shape)


def _field(pick: Callable[[Value], Answer]) -> Callable[..., Answer]:
    def fact(index: Index, name: str, at: str = "end") -> Answer:
        return pick(_at(index, name, at))

    return fact


FUNCTIONS: dict[str, Callable[..., Answer]] = {
    "value": value,
    "values": values,
    "grad": grad,
    "shares": shares,
    "upstream": upstream,
    "earlier": earlier,
    "shape": shape,
    "saved": saved,
    "grad_fn": grad_fn,
    "shares_memory": shares_memory,
    "size": size,
    "count": count,
    "held": saved_bytes,
    "parameters": parameters,
    "printed": printed,
    "warned": warned,
    "made": made,
    "dtype": _field(lambda v: v.dtype),
    "device": _field(lambda v: v.device),
    "ndim": _field(lambda v: len(v.shape)),
    "numel": _field(_numel),
    "stride": _field(lambda v: list(v.stride)),
    "version": _field(lambda v: v.version),
    "is_leaf": _field(lambda v: v.is_leaf),
    "requires_grad": _field(lambda v: v.requires_grad),
    "contiguous": _field(lambda v: v.contiguous),
}
