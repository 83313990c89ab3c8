"""Immutable state of the inspector: a selection at a position of a tape, and its numbers."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gradscribe.engine.protocol.messages import Checked, Gradchecked
from gradscribe.engine.protocol.tape import Call, Op, Snapshot, Tape, Value
from gradscribe.playback.explain import Explanation
from gradscribe.playback.graph.picture import Card, Frame, Picture
from gradscribe.playback.tape.index import GradientState, Index, index_of

Side = Literal["value", "gradient"]


class Selection(Struct, frozen=True):
    """The user's selection; the kind determines which fields are set (see `select`)."""

    kind: Literal["value", "op", "wire", "module", "parameter"]
    value: int | None = None
    """Id of the value whose numbers are shown: for an op its (first) result."""
    op: int | None = None
    """Index in `Tape.ops`; for a wire the op that uses the value, if any."""
    call: int | None = None
    """Index in `Tape.calls`, for a module."""
    edges: tuple[tuple[int, int], ...] = ()
    """For a wire: the (backward node, slot) pairs whose gradients flow back along it."""
    literal: str = ""
    """For a constant that is a plain Python number: its source text."""
    repeats: int = 1
    """For folded modules: their number; the call and the value are those of the last."""


def select(picture: Picture, key: str) -> Selection | None:
    """Return the selection for the key of a card, a wire or a frame; None for an unknown key."""
    for card in picture.cards:
        if card.key == key:
            if card.kind == "module" and card.call is None:
                # Repeated ops: what comes out of the last, and nothing about a row of leaves.
                return Selection("value", card.value) if card.value is not None else None
            if card.kind == "module":
                return _module(card, card.value)
            if card.failed and card.op is None:
                # The page about the latest event describes it.
                return None
            if card.op is not None:
                return Selection("op", card.value, card.op)
            if card.value is None and not card.literal:
                return None  # A backward node whose result was never seen.
            kind: Literal["parameter", "value"] = (
                "parameter" if card.kind == "parameter" else "value"
            )
            return Selection(kind, card.value, literal=card.literal or "")
    for frame in picture.frames:
        if frame.key == key and frame.call is not None:
            return _module(frame)
    for wire in picture.wires:
        if wire.key == key:
            edges = tuple(edge for edge, name in picture.edge_wires.items() if name == key)
            users = [c.op for c in picture.cards if c.key == wire.target]
            return Selection("wire", wire.value, users[0] if users else None, edges=edges)
    return None


def _module(box: Card | Frame, value: int | None = None) -> Selection:
    call = box.call if box.last_call is None else box.last_call
    return Selection("module", value, call=call, repeats=box.repeats)


class TensorVersions:
    """The versions of every tensor over time, so that a leaf shows its newest numbers."""

    def __init__(self, index: Index) -> None:
        self._index = index
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for value, at in index.created_at.items():
            found[index.first_version(value)].append((at, value))
        for at, event in enumerate(index.tape.events):
            if event.kind == "step":
                for change in index.tape.steps[event.ref].changes:
                    if change.after in index.values:
                        found[index.first_version(change.after)].append((at, change.after))
        self._versions = {home: sorted(set(versions)) for home, versions in found.items()}

    @classmethod
    def of(cls, tape: Tape) -> "TensorVersions":
        """Return the versions of a tape."""
        return index_of(tape).cached("versions", cls)

    def until(self, value: int, position: int) -> list[int]:
        """Return the ids of the tensor's versions existing at ``position``, oldest first."""
        versions = self._versions.get(self._index.first_version(value), [])
        return [version for at, version in versions if at < position]

    def known(self, value: int) -> bool:
        """Return whether an event produced this value; values from outside the tape have none."""
        versions = self._versions.get(self._index.first_version(value), [])
        return any(version == value for _, version in versions)


class ProgramState(Struct, frozen=True):
    """The program as it is now, which may have changed since the run that is shown."""

    text: str = ""
    may_edit: bool = False
    """True if edits of the text would run."""
    devices: tuple[str, ...] = ()
    failed: str = ""
    """Message of the error of the latest run, if that was of this text."""
    failed_line: int = 0


@dataclass(frozen=True)
class InspectorPage:
    """Immutable view state of the inspector, the only input of the panes.

    ``side`` selects value or gradient, ``slices`` the index for every leading dimension,
    ``element`` the flat index for a check; ``fetched`` has the full snapshots of big tensors.
    """

    tape: Tape | None = None
    position: int = 0
    selection: Selection | None = None
    side: Side = "value"
    slices: tuple[int, ...] = ()
    element: int = 0
    explanation: Explanation | None = None
    source: str = ""
    """The text of the run that is shown."""
    program: ProgramState = field(default_factory=ProgramState)
    fetched: dict[int, Snapshot | None] = field(default_factory=dict)
    checked: dict[tuple[int, int], Checked] = field(default_factory=dict)
    gradchecked: dict[int, Gradchecked] = field(default_factory=dict)
    waiting: frozenset[tuple[str, int, int]] = frozenset()
    """Requested and not yet answered: ``("check", value, index)``, ``("gradcheck", op, 0)``,
    ``("peek", snapshot, 0)``."""
    versions: TensorVersions | None = None
    serial: int = 0
    """Number of tapes shown so far, so that keys of different tapes never compare equal."""

    def numbers_key(self) -> tuple[object, ...]:
        """Return a key of everything that determines the page's numbers."""
        numbers = (self.snapshot_number("value"), self.snapshot_number("gradient"))
        asked = (len(self.fetched), self.waiting)
        return (self.serial, *numbers, self.side, self.slices, self.element, *asked)

    @property
    def index(self) -> Index | None:
        """Lookups over the tape."""
        return None if self.tape is None else index_of(self.tape)

    @property
    def value(self) -> Value | None:
        """The selected value; for a leaf its version at this position."""
        index, chosen = self.index, self.selection
        if index is None or chosen is None or chosen.value is None:
            return None
        value = index.values.get(chosen.value)
        if value is None or value.node is not None or self.versions is None:
            return value
        alive = [index.values[v] for v in self.versions.until(value.id, self.position)]
        return next((version for version in reversed(alive) if version.node is None), value)

    @property
    def made(self) -> Value | None:
        """The selected value; for a leaf as it was before any update, with the line it is from."""
        value, index = self.value, self.index
        if value is None or index is None or not value.is_leaf:
            return value
        return index.values.get(index.first_version(value.id), value)

    @property
    def op(self) -> Op | None:
        """The selected op, or the op that produced the selected value."""
        if self.tape is None or self.selection is None:
            return None
        chosen = self.selection.op
        if self.selection.kind == "op" and chosen is not None and chosen < len(self.tape.ops):
            return self.tape.ops[chosen]
        value = self.value
        return None if value is None or value.op is None else self.tape.ops[value.op]

    @property
    def call(self) -> Call | None:
        """The selected module call."""
        if self.tape is None or self.selection is None or self.selection.call is None:
            return None
        chosen = self.selection.call
        return self.tape.calls[chosen] if chosen < len(self.tape.calls) else None

    @property
    def reached(self) -> bool:
        """True if the value exists at this position."""
        value = self.value
        if value is None or self.versions is None:
            return False
        alive = self.versions.until(value.id, self.position)
        return value.id in alive or not self.versions.known(value.id)

    @property
    def known(self) -> GradientState:
        """Known state of the value's gradient; for a wire, of the contribution along it."""
        index, value, chosen = self.index, self.value, self.selection
        if index is None or value is None or chosen is None:
            return GradientState()
        if chosen.kind != "wire":
            return index.gradient(value.id, self.position)
        for node, slot in reversed(chosen.edges):
            execution = index.execution_at(node, self.position)
            for number in execution.edges if execution else ():
                edge = index.tape.edges[number]
                if edge.slot == slot:
                    return GradientState(edge.gradient, pending=False)
        return GradientState()

    def snapshot_number(self, side: Side) -> int | None:
        """Return the index of the snapshot of that side, None if there is none yet, or hidden."""
        number = self._recorded_number(side)
        return None if self._is_hidden(number) else number

    def is_hidden(self, side: Side) -> bool:
        """Return whether the numbers of that side are there, but hidden from the user."""
        return self._is_hidden(self._recorded_number(side))

    def _recorded_number(self, side: Side) -> int | None:
        if side == "gradient":
            return self.known.snapshot
        value = self.value
        return value.snapshot if value is not None and self.reached else None

    def _is_hidden(self, number: int | None) -> bool:
        return (
            number is not None and self.tape is not None and self.tape.snapshots[number].is_hidden
        )

    def snapshot(self, side: Side | None = None) -> Snapshot | None:
        """Return the snapshot of a side (default: the chosen side), with fetched numbers if any."""
        number = self.snapshot_number(side or self.side)
        if number is None or self.tape is None:
            return None
        return self.fetched.get(number) or self.tape.snapshots[number]

    def array(self, side: Side | None = None) -> NDArray[np.generic] | None:
        """Return all numbers of a side, None if they were not sent or do not exist yet."""
        snapshot = self.snapshot(side)
        return None if snapshot is None else snapshot.array()

    def slice_at(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the chosen index of each dimension but the last two, clamped to ``shape``."""
        chosen = (*self.slices, *([0] * len(shape)))
        return tuple(
            max(0, min(at, size - 1))
            for at, size in zip(chosen, shape[: max(0, len(shape) - 2)], strict=False)
        )

    def offset(self, shape: tuple[int, ...]) -> int:
        """Return the flat index of the first element of the chosen slice."""
        flat = 0
        for at, size in zip(self.slice_at(shape), shape, strict=False):
            flat = flat * size + at
        return flat * int(np.prod(shape[-2:], dtype=np.int64)) if len(shape) > 2 else 0


def as_matrix(array: NDArray[np.generic], slices: tuple[int, ...]) -> NDArray[np.generic]:
    """Return a tensor as a matrix: scalars and vectors as one row, else the chosen slice."""
    if array.ndim > 2:
        if 0 in array.shape:
            return np.zeros((0, 0), array.dtype)
        return np.asarray(array[slices])
    return array.reshape((1, -1)) if array.ndim < 2 else array


def to_float64(array: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return the numbers as float64: complex numbers by magnitude, booleans as 0 and 1."""
    with np.errstate(invalid="ignore", over="ignore"):
        plain = np.abs(array) if np.iscomplexobj(array) else array
        return np.asarray(plain, dtype=np.float64)
