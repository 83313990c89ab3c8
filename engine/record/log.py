"""Growing tables of what has been recorded so far; frozen into a tape at the end.

Rows are in no reference cycle and not tracked by Python's GC: there are many.
"""

import itertools
import weakref
from bisect import bisect_left
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Literal

import torch
from msgspec import Struct

from gradscribe.engine.protocol.figures import Figure
from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.tape import (
    Accumulation,
    Change,
    CollectiveOwner,
    Edge,
    EventKind,
    Memory,
    Phase,
    Reset,
    Rewrite,
    Role,
    Snapshot,
    StateEntry,
)
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

CodeLocation = tuple[CodeType, int] | None
"""A place in the user's text: a code object and the offset of the instruction that was running."""
Target = tuple[int, int]
"""The end of an edge: a node id and its input, or a leaf's value id and 0."""


class ValueRow(Struct, gc=False, eq=False):
    """A value during recording; see `tape.Value`."""

    id: int
    ref: "weakref.ref[torch.Tensor]"
    tensor: int
    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    requires_grad: bool
    is_leaf: bool
    version: int
    snapshot: int | None
    storage: int
    stride: tuple[int, ...]
    offset: int
    base: int | None
    op: int | None
    maker: str
    where: CodeLocation
    node: int | None = None
    output_nr: int = 0
    name: str = ""
    gradient_of: int | None = None
    """The tensor whose ``.grad`` this is."""
    is_constant: bool = False
    """True if it is the result of detach or a ``.grad``."""
    examples: int = 0
    """Examples of the batch, inside a vmap; its numbers are those of the first."""

    @property
    def role(self) -> Role:
        """Its role; see `tape.Value`."""
        if self.is_leaf and self.requires_grad:
            return "parameter"
        if self.is_constant:
            return "constant"
        return "data" if self.op is None and self.maker != "grad" else "result"


class OpRow(Struct, gc=False, eq=False):
    """An op during recording; see `tape.Op`."""

    id: int
    op: str
    inputs: list[ValueRow]
    args: list[object]
    """Tensors as their rows, literals as they are or as (keyword, literal), all else as
    `tape.Arg`."""
    where: CodeLocation
    call: int | None
    grad_mode: bool
    phase: Phase
    inplace: bool
    took: int
    """Nanoseconds."""
    outputs: list[ValueRow]
    nodes: list[int] = []
    node: int | None = None


SavedRow = tuple[str, tuple[int, ...], torch.dtype, int]
"""A tensor that a node saved: torch's name for it, its shape and dtype, and its storage."""


class CallRow(Struct, gc=False, eq=False):
    """A module call; see `tape.Call`. ``result`` is the value id of the tensor it returned."""

    name: str
    kind: str
    parent: int | None
    module: int
    training: bool
    parameters: int
    about: str
    where: CodeLocation
    hooks: tuple[str, ...] = ()
    state: tuple[StateEntry, ...] = ()
    result: int | None = None


class NodeKind(Struct, gc=False, eq=False):
    """Properties that all backward nodes of a class share."""

    name: str
    saved: tuple[str, ...]
    """The names of all that they save, plain numbers included."""
    tensors: tuple[tuple[str, str], ...]
    """(name, attribute to read) of the saved tensors."""


class NodeRow(Struct, gc=False, eq=False):
    """A backward node; see `tape.Node`. ``next`` is None until its edges have been read."""

    id: int
    kind: NodeKind
    made: int
    number: int
    """Torch's sequence number: ascending per thread in the order of creation."""
    op: int | None = None
    next: list[Target | None] | None = None
    last_pass: int = -1
    """The last pass that went through it."""
    kept: Sequence[SavedRow] = ()
    freed: int | None = None


class ExecutionRow(Struct, gc=False, eq=False):
    """A run of a backward node; see `tape.Execution`."""

    id: int
    node: int
    order: int
    run: int
    received: list[int | None] = []
    edges: list[int] = []
    hooked: bool = False


class NodeRanNote(Struct, gc=False, eq=False):
    """A hook's note that a backward node ran; `passes` makes an `ExecutionRow` of it."""

    node: NodeRow
    run: int
    received: list[int | None]
    sent: list[int | None]
    """A snapshot index per next function; `NO_GRADIENT` if no gradient was sent there."""


NO_GRADIENT = -1


class PassRow(Struct, gc=False, eq=False):
    """A backward pass; see `tape.Pass`."""

    kind: Literal["backward", "grad"]
    where: CodeLocation
    roots: list[int | None]
    seeds: list[int | None]
    retain_graph: bool
    create_graph: bool
    targets: list[Target | None] = []
    """The target of each root's seed."""
    inputs: list[Target | None] = []
    results: list[int | None] = []


class StepRow(Struct, gc=False, eq=False):
    """An optimizer's step; see `tape.Step`."""

    optimizer: str
    where: CodeLocation
    changes: list[Change]
    lr: float | None
    optimized_set: int = -1
    memory: list[Memory] = []


class CollectiveRow(Struct, gc=False, eq=False):
    """A collective during recording; see `tape.Collective`."""

    kind: str
    group: tuple[int, ...]
    number: int
    where: CodeLocation
    inputs: list[ValueRow] = []
    outputs: list[ValueRow] = []
    reduce: str = ""
    root: int | None = None
    owner: CollectiveOwner = ""
    run: int | None = None
    op: int | None = None
    is_done: bool = False


class GapRow(Struct, gc=False, eq=False):
    """Steps that were passed without a full recording; see `tape.Gap`."""

    loop: int
    first: int
    last: int
    line: int
    changes: list[Change]
    gradients: list[tuple[int, int | None]]


class EventRow(Struct, gc=False, eq=False):
    """An event; see `tape.Event`."""

    kind: EventKind
    ref: int
    where: CodeLocation


PRINT_SHARE = 0.25
"""Limit of printed lines as a share of the event limit: prints displace no graph events."""


class Log:
    """All rows recorded so far. They are appended and updated, never removed."""

    def __init__(self, event_limit: int) -> None:
        self.ids = itertools.count(1)
        self.event_limit = event_limit
        self._full = event_limit
        """Number of events at which the log is full; printed lines raise it."""
        self.print_limit = max(1, int(PRINT_SHARE * event_limit))
        self.snapshots: list[torch.Tensor | Snapshot] = []
        self.values: list[ValueRow] = []
        self.ops: list[OpRow] = []
        self.calls: list[CallRow] = []
        self.nodes: list[NodeRow] = []
        self.edges: list[Edge] = []
        self.executions: list[ExecutionRow] = []
        self.accumulations: list[Accumulation] = []
        self.passes: list[PassRow] = []
        self.steps: list[StepRow] = []
        self.optimized_tensors: dict[tuple[int, ...], int] = {}
        self.resets: list[Reset] = []
        self.rewrites: list[Rewrite] = []
        self.writes: list[tuple[Change, ...]] = []
        self.gaps: list[GapRow] = []
        self.collectives: list[CollectiveRow] = []
        self.prints: list[str] = []
        self.omitted_prints = 0
        """Number of printed lines past `print_limit`: they are in the output only."""
        self.figures: list[Figure] = []
        self.events: list[EventRow | NodeRanNote] = []
        self.truncated = ""
        self.dropped = 0
        self.open = True
        """False once the program has ended: later events are no part of the run."""
        self.user_line: Callable[[], int] = int
        """Returns the line of the program that is running; 0 if none is."""
        self.is_recording = False
        """True while events are recorded: the program runs and the log is not full."""

    def value_row(self, value: int) -> ValueRow | None:
        """Return the row of a value by its id."""
        at = bisect_left(self.values, value, key=lambda row: row.id)
        row = self.values[at] if at < len(self.values) else None
        return row if row is not None and row.id == value else None

    def tensor_of(self, value: int) -> int:
        """Return the number of the tensor of a value; -1 if there is none of that id."""
        row = self.value_row(value)
        return row.tensor if row is not None else -1

    def add_event(self, kind: EventKind, ref: int, where: CodeLocation) -> None:
        """Append an event."""
        self.write(EventRow(kind, ref, where))

    def write(self, event: "EventRow | NodeRanNote") -> None:
        """Append an event; at the limit, stop recording."""
        events = self.events
        events.append(event)
        if len(events) >= self._full and not self.truncated:
            self.is_recording = False
            self.truncated = (
                f"Recording stopped after {self.event_limit:,} events; the program ran on."
            )

    def add_changes(self, found: list[Change], where: CodeLocation) -> None:
        """Append changes of values without an op on them, as one event."""
        if found and not self.is_complete():
            self.writes.append(tuple(found))
            self.add_event("write", len(self.writes) - 1, where)

    def stop_on_error(self, error: Exception) -> None:
        """Stop recording because the recorder itself failed; the program runs on.

        Raises errors that the program would have got, too: RecursionError and MemoryError.
        """
        if isinstance(error, RecursionError | MemoryError):
            raise error
        self.is_recording = False
        if self.truncated:
            return
        try:
            line = self.user_line()
        except Exception:  # noqa: BLE001 - the line may be what could not be read
            line = 0
        name = type_name(type(error))
        self.truncated = (
            f"Recording stopped at line {line} where torch did what could not be read ({name}); "
            "the program ran on."
            if line
            else f"Recording stopped where torch did what could not be read ({name}); the program "
            "ran on."
        )

    def is_complete(self) -> bool:
        """Return whether no event may follow: the log is full, or ends in an error."""
        return bool(self.truncated) or self.ends_in_error()

    def ends_in_error(self) -> bool:
        """Return whether the last event is the error that ended the program."""
        last = self.events[-1] if self.events else None
        return type(last) is EventRow and last.kind == "error"

    def undo_op(self, op: int) -> None:
        """Remove the last op; values and nodes that it already created have no op then."""
        del self.ops[op:]
        for rows in (self.values, self.nodes):
            for row in rows:
                if row.op == op:
                    row.op = None

    def print(self, line: str, where: CodeLocation) -> None:
        """Append a printed line and its event, which do not count against the event limit."""
        self.prints.append(line)
        self._full += 1
        self.add_event("print", len(self.prints) - 1, where)

    def describe_omissions(self) -> str:
        """Return a message on what is missing from the tape; empty if nothing is."""
        left = ""
        if self.omitted_prints:
            left = (
                f"{self.omitted_prints:,} printed "
                f"{'line' if self.omitted_prints == 1 else 'lines'} only in the output; the "
                f"tape steps through the first {len(self.prints):,}."
            )
        return " ".join(filter(None, (self.truncated, left)))
