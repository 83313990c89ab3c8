"""Hooks on the backward nodes: what arrived at each, and what it sent along each of its edges.

One hook per node, called by the engine just after the node ran: with the gradients it was given
and one gradient per edge, already reduced and cast as the engine hands them on. Hooks never raise,
never return anything and never hold a node, whose saved tensors they would keep alive.
"""

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from msgspec import Struct
from torch.autograd.graph import Node

from engine.record.copies import SHARED_ELEMENTS
from engine.record.log import ExecutionRow, NodeRow
from engine.record.nodes import AccumulateGrad, variable
from engine.record.source import Where
from engine.record.tensors import same_numbers, version
from engine.record.unseen import has_numbers, is_watched, unwatched
from engine.tape import Accumulation, Edge
from engine.untouched import keep_builtins

if TYPE_CHECKING:
    from engine.record.lanes import Lane
    from engine.record.recorder import Recorder

keep_builtins(globals())

Grads = Sequence[torch.Tensor | None]
Hook = Callable[[Grads, Grads], None]
Target = tuple[int, int]
"""A node id and its input, or a leaf's value id and 0."""


class Run:
    """A backward pass while it runs."""

    def __init__(self, number: int, lane: "Lane") -> None:
        self.number = number
        self.lane = lane
        self.reached: list[NodeRow] = []
        """Every node that it can reach."""
        self.arrived: dict[Target, list[tuple[weakref.ref[torch.Tensor], int, int]]] = {}
        """What is on its way to a target: the gradient, its version, its snapshot."""


class Hooks:
    """Writes executions, edges and accumulations into the log."""

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder = recorder
        self.log = recorder.log
        self.running: list[Run] = []
        """The passes that are running in all threads, in the order in which they began."""
        self._grads: dict[int, tuple[weakref.ref[torch.Tensor], int, int]] = {}
        """Each leaf's ``.grad`` by tensor number: the tensor, its version, its snapshot."""
        self._register: Callable[..., object] = _Mixin.__dict__["_register_hook"].__func__

    def start(self) -> None:
        """Let torch take the recorder's own hooks without a handle to remove them by.

        A handle costs as much as all the rest of a hook; it stays for everybody else's.
        """
        plain = self._register

        def register(hooks: "OrderedDict[object, Hook] | None", hook: Hook) -> object:
            if type(hook) is not _AfterNode and type(hook) is not _AfterLeaf:
                return plain(hooks, hook)
            # A user's handle may refer to it later, so no plain dict.
            hooks = OrderedDict() if hooks is None else hooks
            hooks[hook] = hook
            return hooks, None

        _Mixin._register_hook = staticmethod(register)  # type: ignore[method-assign]

    def stop(self) -> None:
        """Let torch take hooks as before."""
        _Mixin._register_hook = staticmethod(self._register)  # type: ignore[method-assign]

    def reach(self, run: Run, nodes: list[Node]) -> None:
        """Give a hook to every node that can be reached and has none yet."""
        row_of, read_edges = self.recorder.nodes.row, self.recorder.nodes.read_edges
        stack, number, reached = list(nodes), run.number, run.reached
        while stack:
            node = stack.pop()
            if type(node) is AccumulateGrad:
                self._reach_leaf(node)
                continue
            row = row_of(node)
            if row.reached == number:
                continue
            if row.reached < 0:
                node.register_hook(_AfterNode(self, row))
            row.reached = number
            reached.append(row)
            after = node.next_functions
            if row.next is None:
                read_edges(row, after)
            for one, _ in after:
                if one is not None:
                    stack.append(one)

    def unfinished(self, run: Run) -> NodeRow | None:
        """Return the node that a failed pass stopped in.

        It is the one that had all it waits for and did not run; of several the youngest, which is
        the one the engine takes first.
        """
        ran = {e.node for e in self.log.executions if e.run == run.number}
        left = [row for row in run.reached if row.id not in ran]
        waiting = {target[0] for row in left for target in row.next or () if target is not None}
        ready = [(r.number, i) for i, r in enumerate(left) if r.id not in waiting]
        return left[max(ready)[1]] if ready else None

    def sent(
        self,
        run: Run,
        execution: int | None,
        slot: int,
        target: Target,
        kept: int | None,
        grad: object,
    ) -> int:
        """Write down a gradient on its way; returns the edge's index."""
        edges = self.log.edges
        edges.append(Edge(execution, slot, target[0], target[1], kept, run.number))
        if kept is not None and isinstance(grad, torch.Tensor):
            entry = (weakref.ref(grad), version(grad), kept)
            arrived = run.arrived.get(target)
            if arrived is None:
                run.arrived[target] = [entry]
            else:
                arrived.append(entry)
        return len(edges) - 1

    def ran(self, row: NodeRow, sent: Grads, received: Grads) -> None:
        """Write down that a node ran: what it was given, what it sent."""
        run, log = self._run(), self.log
        if run is None:
            return
        index = len(log.executions)
        execution = ExecutionRow(
            row.id if row.runs == 0 else next(log.ids), row.id, index, run.number
        )
        row.runs += 1
        log.executions.append(execution)
        kept_of: dict[int, int | None] = {}
        for nr, grad in enumerate(received):
            kept, hooked = self._arrival(run, (row.id, nr), grad)
            execution.received.append(kept)
            if hooked:
                execution.hooked = True
            if kept is not None:
                # A gradient passed through untouched is the same snapshot.
                kept_of[id(grad)] = kept
        for slot, (target, grad) in enumerate(zip(row.next or (), sent, strict=False)):
            if target is None or grad is None:
                continue
            number = id(grad)
            if number not in kept_of:
                kept_of[number] = self._copy(grad, received, execution.received)
            execution.edges.append(self.sent(run, index, slot, target, kept_of[number], grad))
        log.tell("node", index, self._where(row, run))
        if row.freed is None and not log.passes[run.number].retain_graph:
            row.freed = len(log.events)

    def accumulated(self, t: torch.Tensor, grad: torch.Tensor | None) -> None:
        """Write down that a gradient was added to a leaf's ``.grad``."""
        run, log, copies = self._run(), self.log, self.recorder.copies
        if run is None:
            return
        row = self.recorder.tensors.value(t, None)
        held = self._grads.get(row.tensor)
        before = held[2] if held is not None else None
        arrived, _ = self._arrival(run, (row.id, 0), grad)
        now, after = t.grad, None
        if now is not None:
            taken_over = before is None and grad is not None and _same_memory(now, grad)
            after = arrived if taken_over else copies.keep(now)
            if after is not None:
                self._grads[row.tensor] = (weakref.ref(now), version(now), after)
        log.accumulations.append(Accumulation(row.id, before, arrived, after, run.number))
        log.tell("accumulate", len(log.accumulations) - 1, row.where)

    def _run(self) -> Run | None:
        """Return the pass whose node ran; None where nothing is to be written down.

        A node runs in the thread that began the pass, or in one that torch's engine has for it.
        """
        if not self.running or not self.recorder.writing():
            return None
        if len(self.running) > 1:
            lane = self.recorder.lanes.here()
            if lane is not None and lane.runs:
                return lane.runs[-1]
        return self.running[-1]

    def _copy(self, grad: torch.Tensor, received: Grads, kept: list[int | None]) -> int | None:
        """Keep a gradient that is sent; a big one that is a view of what came in is not copied."""
        copies = self.recorder.copies
        if grad.numel() >= SHARED_ELEMENTS:
            for whole, number in zip(received, kept, strict=True):
                if whole is not None and number is not None:
                    shared = copies.share(grad, whole, number)
                    if shared is not None:
                        return shared
        return copies.keep(grad)

    def _arrival(
        self, run: Run, target: Target, grad: torch.Tensor | None
    ) -> tuple[int | None, bool]:
        """Return the snapshot of what arrived, and whether a hook made it differ from the sum.

        A single gradient that was handed on untouched shares the sender's snapshot.
        """
        sent = run.arrived.pop(target, ())
        if grad is None:
            return None, False
        if len(sent) == 1 and sent[0][0]() is grad and sent[0][1] == version(grad):
            return sent[0][2], False
        kept = self.recorder.copies.keep(grad)
        return kept, not self._adds_up(kept, [s[2] for s in sent])

    def _adds_up(self, arrived: int | None, sent: list[int]) -> bool:
        """Tell whether the shares, added in the order they came, are what arrived.

        Only copies can be compared; of summaries no difference is claimed.
        """
        if arrived is None or not sent:
            return arrived is None
        if is_watched():
            with unwatched():
                return self._adds_up(arrived, sent)
        copies = [self.log.snapshots[i] for i in [arrived, *sent]]
        tensors = [c for c in copies if isinstance(c, torch.Tensor)]
        if len(tensors) < len(copies) or any(t.layout is not torch.strided for t in tensors):
            return True
        total = tensors[1]
        for t in tensors[2:]:
            total = total + t
        return same_numbers(total, tensors[0])

    def _where(self, row: NodeRow, run: Run) -> Where:
        if row.op is not None:
            return self.log.ops[row.op].where
        return self.log.passes[run.number].where

    def _reach_leaf(self, accumulate: Node) -> None:
        """Note the ``.grad`` that a leaf has before the pass, and hook it once."""
        t = variable(accumulate)
        number, grad = self.recorder.tensors.value(t, None).tensor, t.grad
        known = self._grads.get(number)
        if grad is None:
            self._grads.pop(number, None)
        elif known is None or known[0]() is not grad or self._overwritten(grad, *known[1:]):
            kept = self.recorder.copies.keep(grad)
            if kept is not None:
                self._grads[number] = (weakref.ref(grad), version(grad), kept)
        held: dict[object, object] = accumulate.metadata  # type: ignore[assignment]
        if self not in held:
            held[self] = True
            accumulate.register_hook(_AfterLeaf(self, weakref.ref(t)))

    def _overwritten(self, grad: torch.Tensor, counted: int, kept: int) -> bool:
        """Tell whether a ``.grad`` changed since its copy: ``grad.data.zero_()`` is not counted."""
        copy = self.log.snapshots[kept]
        if version(grad) != counted:
            return True
        return isinstance(copy, torch.Tensor) and not same_numbers(copy, grad)


class _AfterNode(Struct, gc=False, eq=False):
    """Called after a node ran."""

    hooks: Hooks
    row: NodeRow

    def __call__(self, sent: Grads, received: Grads) -> None:
        hooks = self.hooks
        if hooks.running:
            with torch._C.DisableTorchFunction(), hooks.recorder.lanes.lock:
                hooks.ran(self.row, sent, received)


class _AfterLeaf(Struct, gc=False, eq=False):
    """Called after a gradient was added to a leaf's."""

    hooks: Hooks
    leaf: "weakref.ref[torch.Tensor]"

    def __call__(self, _sent: Grads, received: Grads) -> None:
        hooks, t = self.hooks, self.leaf()
        if hooks.running and t is not None:
            with torch._C.DisableTorchFunction(), hooks.recorder.lanes.lock:
                hooks.accumulated(t, received[0])


_Mixin = torch.autograd.function._HookMixin


def _same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Tell whether autograd took ``b`` over as ``a`` instead of copying it."""
    return (
        a.layout is torch.strided
        and b.layout is torch.strided
        and has_numbers(a)
        and has_numbers(b)
        and a.data_ptr() == b.data_ptr()
        and a.shape == b.shape
        and a.stride() == b.stride()
    )
