"""Index of a tape: lookup tables built once per tape, so that every view is a lookup."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar, cast

import numpy as np
from msgspec import Struct

from gradscribe.engine.protocol.tape import (
    Change,
    Event,
    Execution,
    Gap,
    Node,
    Op,
    Snapshot,
    Tape,
    Value,
)
from gradscribe.playback.tape.recent_cache import RecentCache

K = TypeVar("K")
OpKind = Literal["forward", "backward", "update"]


class LeafGrad(Struct, frozen=True, gc=False):
    """A leaf's ``.grad`` from one event on.

    ``zeros``: it was reset to zeros, not to None. ``written``: the program changed it.
    """

    event: int
    snapshot: int | None
    zeros: bool = False
    written: bool = False


class Arrival(Struct, frozen=True, gc=False):
    """A partial gradient that reached a node's input or a leaf at an event."""

    event: int
    snapshot: int
    run: int
    edge: int = -1


class GradientState(Struct, frozen=True, gc=False):
    """State of a value's gradient at a position.

    ``snapshot`` is the gradient its node received or the leaf's ``.grad``, ``shares`` the partial
    gradients of the latest pass. ``pending``: more shares will arrive, the sum is not complete.
    """

    snapshot: int | None = None
    shares: tuple[int, ...] = ()
    pending: bool = False
    zeros: bool = False
    returned: int | None = None
    """Snapshot of what the latest pass returned for it, which is not in ``.grad``."""


class Index:
    """Lookups over one tape. Events count from 0; a position is the number of events so far."""

    def __init__(self, tape: Tape, big: Mapping[int, Snapshot] | None = None) -> None:
        """Look a tape up; ``big``: the numbers of its big tensors, as in a `RunFile`."""
        self.tape, self._big = tape, big or {}
        self._cache: dict[str, object] = {}
        self.values: dict[int, Value] = {v.id: v for v in tape.values}
        self.nodes: dict[int, Node] = {n.id: n for n in tape.nodes}
        self.names = {v.name for v in tape.values if v.name}
        self.first_versions: dict[int, int] = {}
        """Value id -> id of the first version of the same tensor."""
        self.users: dict[int, list[int]] = defaultdict(list)
        """Value id -> indices of the ops that took it."""
        self.node_ops: dict[int, int] = {}
        """Node id -> index of the op that made it."""
        self._link()
        self.collectives = frozenset(c.op for c in tape.collectives if c.op is not None)
        """Ops by which ranks talk to each other."""
        self.kinds = _kinds(tape, self)
        self.created_at: dict[int, int] = {}
        """Value id -> event at which it was created."""
        self.op_events: dict[int, int] = {}
        self.node_runs: dict[int, list[tuple[int, int]]] = defaultdict(list)
        """Node id -> (event, index of the execution) of its runs."""
        self.arrivals: dict[tuple[int, int], list[Arrival]] = defaultdict(list)
        """(node id or first version of a leaf, input) -> the shares, in order of arrival."""
        self.grads: dict[int, list[LeafGrad]] = defaultdict(list)
        """First version of a leaf -> its ``.grad`` through time."""
        self.updates: dict[int, list[tuple[int, int]]] = defaultdict(list)
        """First version of a leaf -> (event, snapshot) of the numbers that updates gave it."""
        self.owners = {
            v.storage: self.first_version(v.id) for v in tape.values if v.role == "parameter"
        }
        """Storage -> its parameter: ``w.data`` is another tensor on the storage of ``w``."""
        self.events_in_passes: set[int] = set()
        """Events of leaves and ops inside a pass, from hooks and custom backward functions."""
        self.passes: dict[int, tuple[int, int]] = {}
        """Pass -> its first and last event."""
        self.seeds: dict[int, list[int]] = defaultdict(list)
        self.accumulate_events: dict[int, int] = {}
        self.accumulated: dict[int, list[tuple[int, int]]] = defaultdict(list)
        """First version of a leaf -> (event, index of the accumulation)."""
        self.run_executions: dict[int, list[int]] = defaultdict(list)
        """Pass -> its executions."""
        for number, execution in enumerate(tape.executions):
            self.run_executions[execution.run].append(number)
        self.leaf_calls: dict[int, int] = {}
        """First version of a leaf -> the innermost module call in which it was created."""
        self._follow()

    def _link(self) -> None:
        first: dict[int, int] = {}
        for v in self.tape.values:
            self.first_versions[v.id] = first.setdefault(v.tensor, v.id)
        for number, op in enumerate(self.tape.ops):
            for used in op.inputs:
                self.users[used].append(number)
            for node in op.nodes:
                self.node_ops.setdefault(node, number)
            if op.node is not None:
                self.node_ops.setdefault(op.node, number)

    def _follow(self) -> None:
        tape = self.tape
        for number, edge in enumerate(tape.edges):
            if edge.execution is None:
                self.seeds[edge.run].append(number)
        calls: list[int] = []
        depth = 0
        for at, event in enumerate(tape.events):
            if event.kind == "enter":
                calls.append(event.ref)
            elif event.kind == "leave" and event.ref in calls:
                del calls[calls.index(event.ref) :]
            elif event.kind == "leaf":
                self.created_at.setdefault(event.ref, at)
                if depth:
                    self.events_in_passes.add(at)
                if calls:
                    self.leaf_calls.setdefault(self.first_version(event.ref), calls[-1])
            elif event.kind == "op":
                self._run(event.ref, at, bool(depth))
            elif event.kind == "backward":
                depth += 1
                self.passes[event.ref] = (at, len(tape.events))
                self._arrive(at, self.seeds[event.ref])
            elif event.kind == "end" and event.ref in self.passes:
                depth -= 1
                self.passes[event.ref] = (self.passes[event.ref][0], at)
            elif event.kind == "node":
                execution = tape.executions[event.ref]
                self.node_runs[execution.node].append((at, event.ref))
                self._arrive(at, execution.edges)
            elif event.kind == "accumulate":
                added = tape.accumulations[event.ref]
                self.accumulate_events[event.ref] = at
                self.accumulated[self.first_version(added.leaf)].append((at, event.ref))
                self.grads[self.first_version(added.leaf)].append(LeafGrad(at, added.after))
            elif event.kind == "step":
                for change in tape.steps[event.ref].changes:
                    self._update(change.after, at)
            else:
                self._rest(event, at)

    def _rest(self, event: Event, at: int) -> None:
        """Follow an event that changes leaves and is of no pass."""
        tape = self.tape
        if event.kind == "zero_grad":
            reset = tape.resets[event.ref]
            for home in map(self.first_version, reset.leaves):
                self.grads[home].append(LeafGrad(at, None, not reset.to_none))
        elif event.kind == "write":
            for change in tape.writes[event.ref]:
                self.created_at.setdefault(change.after, at)
                self._update(change.after, at)
        elif event.kind == "grad":
            for leaf, after in tape.rewrites[event.ref]:
                self.grads[self.first_version(leaf)].append(LeafGrad(at, after, written=True))
        elif event.kind == "gap":
            self._pass_gap(tape.gaps[event.ref], at)

    def _pass_gap(self, gap: Gap, at: int) -> None:
        for change in gap.changes:
            self.created_at.setdefault(change.after, at)
            self._update(change.after, at)
        for leaf, grad in gap.gradients:
            self.grads[self.first_version(leaf)].append(LeafGrad(at, grad, written=True))

    def _run(self, number: int, at: int, during: bool) -> None:
        op = self.tape.ops[number]
        self.op_events[number] = at
        if during:
            self.events_in_passes.add(at)
            self.kinds[number] = "backward"
        for made in op.outputs:
            self.created_at.setdefault(made, at)
            if op.inplace and self.kinds[number] == "update":
                self._update(made, at)

    def _update(self, value: int, at: int) -> None:
        made = self.values[value]
        if made.snapshot is not None:
            owner = self.owners.get(made.storage, value)
            whole = self.values[owner].shape == made.shape
            for home in {self.first_version(value), owner if whole else self.first_version(value)}:
                known = self.updates[home]
                if self.tape.events[at].kind == "write" and known and known[-1][0] == at - 1:
                    # An op on ``w.data`` and the new value of ``w`` are one update.
                    continue
                known.append((at, made.snapshot))

    def _arrive(self, at: int, edges: tuple[int, ...] | list[int]) -> None:
        for number in edges:
            edge = self.tape.edges[number]
            if edge.gradient is not None:
                key = self.target(edge.target, edge.input_nr)
                self.arrivals[key].append(Arrival(at, edge.gradient, edge.run, number))

    def changes(self, event: Event) -> tuple[Change, ...]:
        """Return the changes of values that no op made: of a write, a gap or a step."""
        tape = self.tape
        if event.kind == "write":
            return tape.writes[event.ref]
        if event.kind == "gap":
            return tape.gaps[event.ref].changes
        return tape.steps[event.ref].changes if event.kind == "step" else ()

    def cached(self, name: str, make: Callable[["Index"], K]) -> K:
        """Return ``make(self)``, computed once and cached under ``name``."""
        cache = self._cache
        if name not in cache:
            cache[name] = make(self)
        return cast("K", cache[name])

    def clear_cache(self) -> None:
        """Clear the cache, whose values refer to this index: a reference cycle otherwise.

        A later lookup fills it again.
        """
        self._cache = {}

    def first_version(self, value: int) -> int:
        """Return the first version of the value's tensor; any other id (a node's) unchanged."""
        return self.first_versions.get(value, value)

    def target(self, target: int, input_nr: int) -> tuple[int, int]:
        """Return the key of `arrivals` for an edge's target."""
        return (target, input_nr) if target in self.nodes else (self.first_version(target), 0)

    def expected(self, target: tuple[int, int], run: int) -> int:
        """Return the number of shares a backward pass brings to a target (a key of `arrivals`)."""
        return self.cached("expected", _expected)[target, run]

    def snapshot(self, number: int | None) -> Snapshot | None:
        """Return a snapshot by its number, None for None."""
        return None if number is None else self.tape.snapshots[number]

    def numbers(self, number: int | None) -> np.ndarray | None:
        """Return all numbers of a snapshot; None if there are none, or no more than statistics."""
        found = None if number is None else self._big.get(number) or self.tape.snapshots[number]
        return None if found is None else found.array()

    def snapshot_at(self, value: int, position: int) -> int | None:
        """Return a value's snapshot at a position, of a leaf after its latest update."""
        updates = self.updates.get(self.first_version(value), [])
        found = bisect_left(updates, (position, -1))
        if found and updates[found - 1][0] >= self.created_at.get(value, -1):
            return updates[found - 1][1]
        return self.values[value].snapshot

    def op(self, number: int) -> Op:
        """Return an op by its index in the tape."""
        return self.tape.ops[number]

    def execution_at(self, node: int, position: int) -> Execution | None:
        """Return the latest run of a node among the first ``position`` events."""
        runs = self.node_runs.get(node, [])
        found = bisect_left(runs, (position, -1))
        return self.tape.executions[runs[found - 1][1]] if found else None

    def execution_in_pass(self, node: int | None, run: int) -> Execution | None:
        """Return the execution of a node in one pass; None if it did not run."""
        for _, number in self.node_runs.get(node, ()) if node is not None else ():
            if self.tape.executions[number].run == run:
                return self.tape.executions[number]
        return None

    def gradient(self, value: int, position: int) -> GradientState:
        """Return the state of a value's gradient after the first ``position`` events."""
        made = self.values[value]
        key = (self.first_version(value), 0) if made.node is None else (made.node, made.output_nr)
        latest = self._latest(key, position)
        shares = tuple(arrival.snapshot for arrival in latest)
        since = latest[0].event if latest else -1
        running = bool(latest) and self.passes.get(latest[0].run, (0, 0))[1] >= position
        if made.node is None:
            run = latest[0].run if latest else -1
            return self._leaf_gradient(key[0], position, shares, since, running, run)
        runs = self.node_runs.get(made.node, [])
        found = bisect_left(runs, (position, -1))
        if not found or runs[found - 1][0] < since:
            return GradientState(
                shares[0] if len(shares) == 1 and not running else None, shares, running
            )
        received = self.tape.executions[runs[found - 1][1]].received
        got = received[made.output_nr] if made.output_nr < len(received) else None
        return GradientState(got, shares)

    def _latest(self, key: tuple[int, int], position: int) -> list[Arrival]:
        """Return the arrivals of the latest pass that had any."""
        arrivals = self.arrivals.get(key, [])
        stop = bisect_left(arrivals, position, key=lambda arrival: arrival.event)
        start = stop
        while start and arrivals[start - 1].run == arrivals[stop - 1].run:
            start -= 1
        return arrivals[start:stop]

    def _leaf_gradient(
        self, leaf: int, position: int, shares: tuple[int, ...], since: int, running: bool, run: int
    ) -> GradientState:
        grads = self.grads.get(leaf, [])
        found = bisect_left(grads, position, key=lambda grad: grad.event)
        last = grads[found - 1] if found else LeafGrad(-1, None)
        if not shares or last.event >= since:
            shares = shares if last.snapshot is not None and not last.written else ()
            return GradientState(last.snapshot, shares, False, last.zeros)
        returned = None if running else self.cached("returned", _returned).get((leaf, run))
        return GradientState(last.snapshot, shares, running, last.zeros, returned)


def _kinds(tape: Tape, index: Index) -> list[OpKind]:
    """Classify every op: forward computation, inside backward, or an update of leaves."""
    kinds: list[OpKind] = [
        "forward" if op.phase == "forward" else op.phase  # keeps the literal type
        for op in tape.ops
    ]
    parameters = {v.storage for v in tape.values if v.role == "parameter"}
    after = (index.values[change.after] for write in tape.writes for change in write)
    written = {value.storage for value in after if value.role == "parameter"}
    for number in reversed(range(len(tape.ops))):
        op = tape.ops[number]
        if kinds[number] != "forward" or not op.outputs or number in index.collectives:
            continue
        made = [index.values[o] for o in op.outputs]
        if op.inplace and all(v.storage in parameters and v.node is None for v in made):
            kinds[number] = "update"
        elif op.inplace and all(v.maker == ".grad" for v in made):
            kinds[number] = "update"  # gradient clipping and the like, before the optimizer step
        elif op.inplace and op.call is not None and all(v.dtype.startswith("int") for v in made):
            kinds[number] = "update"  # batch norm's batch counter is not part of the graph
        elif any(v.requires_grad for v in made):
            continue
        else:
            users = [user for v in made for user in index.users[v.id]]
            if op.op == "data":
                # ``w.grad.data.zero_()`` is a reset, and no op uses its ``.data``.
                ends = all(index.values[i].maker == ".grad" for i in op.inputs)
            else:
                # The new value of a parameter's ``.data``.
                ends = any(v.storage in written and v.base is None for v in made)
            if (users or ends) and all(kinds[user] == "update" for user in users):
                kinds[number] = "update"
    return kinds


_recent = RecentCache[Index](4)


def index_of(tape: Tape | Index) -> Index:
    """Return the index of a tape; the latest few are cached, by identity."""
    if isinstance(tape, Index):
        return tape
    for index in _recent:
        if index.tape is tape:
            return index
    index = Index(tape)
    for old in _recent.add(index, len(tape.events)):
        old.clear_cache()
    return index


def _returned(index: Index) -> dict[tuple[int, int], int]:
    """Return (leaf, pass) -> the snapshot of what the pass returned for the leaf."""
    found: dict[tuple[int, int], int] = {}
    for run, row in enumerate(index.tape.passes):
        for target, value in zip(row.inputs, row.results, strict=False):
            if target is None or value is None or target[0] in index.nodes:
                continue
            snapshot = index.values[value].snapshot
            if snapshot is not None:
                found[index.first_version(target[0]), run] = snapshot
    return found


def _expected(index: Index) -> Counter[tuple[tuple[int, int], int]]:
    return Counter((key, arrival.run) for key, all_ in index.arrivals.items() for arrival in all_)
