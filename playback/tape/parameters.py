"""Parameters of a program at a position: sizes of value, gradient and update, and their course."""

import math
from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.tape.index import Index, index_of

SOME = -1
"""An unknown number, of at least 1."""


class ParameterRow(Struct, frozen=True):
    """Sizes of a parameter's numbers: Euclidean norms, None where there is none or it is unknown.

    ``update`` is the norm of the last update over that of the value before it. ``not_finite``
    counts NaN and infinities in value and gradient, `SOME` if their number is unknown.
    """

    name: str
    shape: tuple[int, ...]
    value: float | None = None
    gradient: float | None = None
    update: float | None = None
    not_finite: int = 0
    course: Sequence[float] = ()
    """Norms of the gradient over the steps, NaN where it is unknown."""
    value_id: int = -1
    """The parameter on the tape."""


def parameter_rows(tape: Tape | Index, position: int) -> tuple[ParameterRow, ...]:
    """Return the parameters that are on the tape by ``position``, in the order of their use."""
    known = index_of(tape).cached("parameters", _Parameters)
    return tuple(
        known.row(home, position) for home in known.homes if known.is_there(home, position)
    )


class _Parameters:
    """The parameters of a tape; what does not depend on the position is computed once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        values = index.tape.values
        found = (index.first_version(v.id) for v in values if v.role == "parameter")
        self.homes = tuple(dict.fromkeys(found))
        self._norms: dict[int, float | None] = {}
        self._updates: dict[tuple[int, int], float | None] = {}
        self._courses: dict[int, tuple[float, ...]] = {}
        self._ends = sorted(end for _, end in index.passes.values())

    def is_there(self, home: int, position: int) -> bool:
        """Return whether a parameter is on the tape by a position."""
        return self._index.created_at.get(home, -1) < position

    def row(self, home: int, position: int) -> ParameterRow:
        """Return the row of a parameter."""
        index, first = self._index, self._index.values[home]
        value, gradient = index.snapshot_at(home, position), index.gradient(home, position).snapshot
        numbers = [index.tape.snapshots[at] for at in (value, gradient) if at is not None]
        if home not in self._courses:
            self._courses[home] = self._course(home)
        return ParameterRow(
            first.name or "unnamed",
            tuple(first.shape),
            self._norm(value),
            self._norm(gradient),
            self._update(home, position),
            sum(map(_not_finite, numbers)),
            self._courses[home],
            home,
        )

    def _norm(self, number: int | None) -> float | None:
        if number is None:
            return None
        if number not in self._norms:
            self._norms[number] = snapshot_text.norm(self._index.tape.snapshots[number])
        return self._norms[number]

    def _update(self, home: int, position: int) -> float | None:
        """Return the size of the last update before ``position`` relative to the value."""
        count = bisect_left(self._index.updates.get(home, ()), (position, -1))
        if count and (home, count) not in self._updates:
            at, after = self._index.updates[home][count - 1]
            before = self._index.snapshot_at(home, at)
            snapshots = self._index.tape.snapshots
            ratio = None if before is None else _ratio(snapshots[before], snapshots[after])
            self._updates[home, count] = ratio
        return self._updates.get((home, count))

    def _course(self, home: int) -> tuple[float, ...]:
        """Return the norm of the gradient after each backward pass that changed it."""
        found: dict[int, float] = {}
        for grad in self._index.grads.get(home, ()):
            if grad.snapshot is not None:
                norm = self._norm(grad.snapshot)
                found[bisect_left(self._ends, grad.event)] = math.nan if norm is None else norm
        return tuple(found.values())


def _ratio(before: Snapshot, after: Snapshot) -> float | None:
    old, new = before.array(), after.array()
    if old is None or new is None or old.shape != new.shape or old.dtype.kind not in "fiu":
        return None
    old, new = old.astype("f8"), new.astype("f8")
    size = float((old**2).sum()) ** 0.5
    moved = float(((new - old) ** 2).sum()) ** 0.5
    return moved / size if size else math.inf if moved else 0.0


def _not_finite(snapshot: Snapshot) -> int:
    array = snapshot.array()
    if array is None:
        return snapshot.nan + snapshot.inf
    return int(array.size - (abs(array) < math.inf).sum()) if array.dtype.kind in "fc" else 0
