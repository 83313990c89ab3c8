"""Queries of a tape for the detectors: dependencies, and the history of each parameter."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Literal, NamedTuple

from gradscribe.engine.doctor.program_tree import ProgramTree
from gradscribe.engine.protocol.tape import Call, Op, Place, Snapshot, Step, Tape, Value

PASSES_ON = frozenset(
    "view reshape squeeze unsqueeze flatten contiguous clone to float double half bfloat16 T mT "
    "transpose permute getitem chunk dropout identity".split()
)
"""Ops that do not change the meaning of their input."""


class LeafEvent(NamedTuple):
    """An event of a leaf: an accumulation, an update or a reset.

    ``ref`` is an index in accumulations, steps or resets; a manual update has -1 and its ``op``.
    """

    position: int
    kind: Literal["add", "update", "reset"]
    ref: int
    op: int | None = None


class Evidence:
    """A tape and its program; derived tables are computed once, on demand."""

    def __init__(self, tape: Tape, source: str) -> None:
        self.tape = tape
        self.program = ProgramTree(source)

    @cached_property
    def values(self) -> dict[int, Value]:
        """Values by id."""
        return {v.id: v for v in self.tape.values}

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """For each value the ops that use it."""
        found: dict[int, list[int]] = defaultdict(list)
        for index, op in enumerate(self.tape.ops):
            for value in op.inputs:
                found[value].append(index)
        return found

    @cached_property
    def versions(self) -> dict[int, list[Value]]:
        """For each tensor its values, in order."""
        found: dict[int, list[Value]] = defaultdict(list)
        for value in self.tape.values:
            found[value.tensor].append(value)
        return found

    @cached_property
    def op_at(self) -> dict[int, int]:
        """The position of each op's event; ops inside backward have none."""
        return {e.ref: at for at, e in enumerate(self.tape.events) if e.kind == "op"}

    @cached_property
    def pass_at(self) -> dict[int, int]:
        """The position at which each pass began."""
        return {e.ref: at for at, e in enumerate(self.tape.events) if e.kind == "backward"}

    @cached_property
    def step_at(self) -> dict[int, int]:
        """The position of each step's event."""
        return {e.ref: at for at, e in enumerate(self.tape.events) if e.kind == "step"}

    @cached_property
    def call_at(self) -> dict[int, int]:
        """The position at which each module call was entered."""
        return {e.ref: at for at, e in enumerate(self.tape.events) if e.kind == "enter"}

    @cached_property
    def _ids_at(self) -> tuple[list[int], list[int]]:
        pairs = [(self.tape.ops[ref].id, at) for ref, at in self.op_at.items()]
        pairs += [(e.ref, at) for at, e in enumerate(self.tape.events) if e.kind == "leaf"]
        pairs.sort()
        return [i for i, _ in pairs], [at for _, at in pairs]

    def position(self, number: int) -> int:
        """Return the event position at which a value existed; ids grow with time."""
        ids, positions = self._ids_at
        index = bisect_right(ids, number)
        return positions[index - 1] if index else 0

    def creator(self, value: int) -> Op | None:
        """Return the op that created a value."""
        made = self.values[value].op if value in self.values else None
        return self.tape.ops[made] if made is not None else None

    def snapshot(self, value: int) -> Snapshot | None:
        """Return a value's snapshot."""
        index = self.values[value].snapshot if value in self.values else None
        return self.tape.snapshots[index] if index is not None else None

    # Dependencies

    def dependencies(self, values: Iterable[int | None]) -> set[int]:
        """Return ``values`` and all values they depend on, also through detach and the like."""
        seen, stack = set[int](), [v for v in values if v is not None]
        while stack:
            value = stack.pop()
            if value in seen or value not in self.values:
                continue
            seen.add(value)
            op = self.creator(value)
            if op is not None:
                stack.extend(op.inputs)
        return seen

    @cached_property
    def roots(self) -> list[int]:
        """The distinct values that passes began at, in order."""
        found = (root for p in self.tape.passes for root in p.roots if root is not None)
        return list(dict.fromkeys(found))

    @cached_property
    def root_set(self) -> frozenset[int]:
        """The same without an order."""
        return frozenset(self.roots)

    @cached_property
    def root_dependencies(self) -> set[int]:
        """All values that the root of a pass depends on."""
        return self.dependencies(self.roots)

    def before_pass_through(self, value: int) -> int:
        """Return the value before ops of `PASSES_ON`: reshaping, casting, dropout."""
        for _ in range(50):
            op = self.creator(value)
            if op is None or op.op not in PASSES_ON or not op.inputs:
                return value
            value = op.inputs[0]
        return value

    # Leaves

    @cached_property
    def leaves(self) -> dict[int, Value]:
        """The leaves that require a gradient, by tensor: the first value of each."""
        found: dict[int, Value] = {}
        for value in self.tape.values:
            if value.is_leaf and value.requires_grad:
                found.setdefault(value.tensor, value)
        return found

    @cached_property
    def optimized(self) -> set[int]:
        """The parameters of the optimizers that stepped, as tensor numbers."""
        numbers = {step.held for step in self.tape.steps if step.held >= 0}
        return {tensor for n in numbers for tensor in self.tape.held[n]}

    @cached_property
    def received(self) -> set[int]:
        """The tensors that were sent a gradient, by ``backward`` or by ``autograd.grad``."""
        sent = {edge.target for edge in self.tape.edges if edge.gradient is not None}
        return {self.values[target].tensor for target in sent if target in self.values}

    @cached_property
    def stepped(self) -> set[int]:
        """The tensors that a step changed."""
        changes = (c for step in self.tape.steps for c in step.changes)
        return {self.values[c.before].tensor for c in changes if c.before in self.values}

    @cached_property
    def updated(self) -> set[int]:
        """The tensors that were changed after they had been sent a gradient."""
        found = set()
        for tensor, moments in self.leaf_events.items():
            kinds = [m.kind for m in moments]
            if "add" in kinds and "update" in kinds[kinds.index("add") :]:
                found.add(tensor)
        return found

    @cached_property
    def leaf_events(self) -> dict[int, list[LeafEvent]]:
        """The history of each leaf that was sent a gradient, in order."""
        found: dict[int, list[LeafEvent]] = defaultdict(list)
        for at, event in enumerate(self.tape.events):
            if event.kind == "accumulate":
                leaf = self.values.get(self.tape.accumulations[event.ref].leaf)
                if leaf is not None:
                    found[leaf.tensor].append(LeafEvent(at, "add", event.ref))
            elif event.kind == "step":
                for change in self.tape.steps[event.ref].changes:
                    tensor = self.values[change.before].tensor
                    found[tensor].append(LeafEvent(at, "update", event.ref))
            elif event.kind == "zero_grad":
                for value in self.tape.resets[event.ref].leaves:
                    tensor = self.values[value].tensor
                    found[tensor].append(LeafEvent(at, "reset", event.ref))
            elif event.kind == "gap":
                # What was done to its gradient meanwhile is not known.
                gap = self.tape.gaps[event.ref]
                leaves = {c.before for c in gap.changes} | {leaf for leaf, _ in gap.gradients}
                for value in leaves:
                    found[self.values[value].tensor].append(LeafEvent(at, "reset", event.ref))
        for tensor, moment in self._by_hand():
            found[tensor].append(moment)
        for moments in found.values():
            moments.sort(key=lambda m: m.position)
        return found

    def _by_hand(self) -> Iterable[tuple[int, LeafEvent]]:
        """Yield manual updates: in-place ops on a leaf's memory, and ``.data =``."""
        memory = {v.storage: tensor for tensor, v in self.leaves.items() if v.storage >= 0}
        for index, at in self.op_at.items():
            op = self.tape.ops[index]
            if op.inplace and op.outputs:
                tensor = memory.get(self.values[op.outputs[-1]].storage)
                if tensor is not None:
                    yield tensor, LeafEvent(at, "update", -1, index)
        by_steps = {c.after for step in self.tape.steps for c in step.changes}
        by_steps |= {c.after for gap in self.tape.gaps for c in gap.changes}
        for tensor in self.leaves:
            for value in self.versions[tensor][1:]:
                if value.op is None and value.id not in by_steps:
                    yield tensor, LeafEvent(self.position(value.id), "update", -1, None)

    # Places and names

    def pass_place(self, number: int) -> Place:
        """Return the place of the call that began a pass."""
        return self.program.line(self.tape.passes[number].line)

    def step_place(self, step: Step) -> Place:
        """Return the place of a step's call."""
        return self.program.line(step.line)

    def place_of(self, value: int) -> Place:
        """Return the place where a value was created: its op's, or its own."""
        op = self.creator(value)
        return op.place if op is not None and op.place.line else self.values[value].place

    def name(self, value: int, otherwise: str = "this tensor") -> str:
        """Return a value's name, or a description by its op."""
        known = self.values.get(value)
        if known is None:
            return otherwise
        if known.name:
            return known.name
        op = self.creator(value)
        return f"the result of {op.op}" if op is not None else otherwise

    def outermost_call_of(self, op: Op) -> Call | None:
        """Return the outermost module call around an op."""
        return self.outermost_call(op.call)

    def outermost_call(self, number: int | None) -> Call | None:
        """Return the outermost call around a module call."""
        call = self.tape.calls[number] if number is not None else None
        while call is not None and call.parent is not None:
            call = self.tape.calls[call.parent]
        return call

    def named(self, name: str) -> list[Value]:
        """Return the values of variables of a name, in order."""
        return self._by_name.get(name, [])

    def latest(self, name: str, before: int | None = None) -> Value | None:
        """Return a variable's last value, or its last before an event position."""
        found = None
        for value in self._by_name.get(name, ()):
            if before is not None and self.position(value.id) >= before:
                break
            found = value
        return found

    @cached_property
    def _by_name(self) -> dict[str, list[Value]]:
        found: dict[str, list[Value]] = defaultdict(list)
        for value in self.tape.values:
            if value.name:
                found[value.name].append(value)
        return found

    @cached_property
    def losses(self) -> dict[int, list[tuple[int, float]]]:
        """For each line that calls backward the passes and the values of their scalar roots."""
        found: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for number, current in enumerate(self.tape.passes):
            if (
                current.kind == "backward"
                and len(current.roots) == 1
                and current.roots[0] is not None
            ):
                snapshot = self.snapshot(current.roots[0])
                item = snapshot.item() if snapshot is not None else None
                if isinstance(item, int | float):
                    found[current.line].append((number, float(item)))
        return found
