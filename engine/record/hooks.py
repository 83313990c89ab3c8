"""Hooks on the backward nodes: what arrived at each, and what it sent along each of its edges.

One hook per node, called by the engine just after the node ran: with the gradients it was given
and one gradient per edge, already reduced and cast as the engine hands them on. Hooks never raise,
never return anything and never hold a node, whose saved tensors they would keep alive.
"""

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch.autograd.graph import Node

from engine.record.log import ExecutionRow, NodeRow
from engine.record.nodes import is_accumulate, metadata, variable
from engine.record.source import Where
from engine.record.tensors import same_numbers, version
from engine.tape import INLINE_ELEMENTS, Accumulation, Edge

if TYPE_CHECKING:
    from engine.record.recorder import Recorder

Grads = Sequence[torch.Tensor | None]
Target = tuple[int, int]
"""A node id and its input, or a leaf's value id and 0."""


class Hooks:
    """Writes executions, edges and accumulations into the log."""

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder = recorder
        self.log = recorder.log
        self.runs: list[int] = []
        """The passes that are running, the innermost last: a node may start one of its own."""
        self._reached: dict[int, list[tuple[int, NodeRow]]] = {}
        self._arrived: dict[Target, list[tuple[weakref.ref[torch.Tensor], int, int]]] = {}
        self._grads: dict[int, tuple[weakref.ref[torch.Tensor], int, int]] = {}
        """Each leaf's ``.grad`` by tensor number: the tensor, its version, its snapshot."""

    def begin(self, run: int) -> None:
        """Start a pass."""
        if not self.runs:
            self._arrived.clear()
            self._reached.clear()
        self.runs.append(run)

    def reach(self, nodes: list[Node]) -> None:
        """Give a hook to every node that can be reached and has none yet."""
        recorder = self.recorder
        reached = self._reached[self.runs[-1]] = []
        stack, seen = list(nodes), set[int]()
        while stack:
            node = stack.pop()
            if is_accumulate(node):
                self._reach_leaf(node)
                continue
            row = recorder.nodes.row(node)
            if row.id in seen:
                continue
            seen.add(row.id)
            reached.append((node._sequence_nr(), row))
            recorder.nodes.read_edges(node, row)
            if not row.hooked:
                row.hooked = True
                node.register_hook(self._after_node(row))
            stack.extend([n for n, _ in node.next_functions if n is not None])

    def unfinished(self, run: int) -> NodeRow | None:
        """Return the node that a failed pass stopped in.

        It is the one that had all it waits for and did not run; of several the youngest, which is
        the one the engine takes first.
        """
        rows = self._reached.get(run, [])
        ran = {e.node for e in self.log.executions if e.run == run}
        waiting = {
            target[0]
            for _, row in rows
            if row.id not in ran
            for target in row.next or ()
            if target is not None
        }
        ready = [(n, i) for i, (n, row) in enumerate(rows) if row.id not in ran | waiting]
        return rows[max(ready)[1]][1] if ready else None

    def sent(
        self,
        execution: int | None,
        slot: int,
        target: Target,
        kept: int | None,
        grad: object,
        run: int,
    ) -> int:
        """Write down a gradient on its way; returns the edge's index."""
        self.log.edges.append(Edge(execution, slot, target[0], target[1], kept, run))
        if kept is not None and isinstance(grad, torch.Tensor):
            entry = (weakref.ref(grad), version(grad), kept)
            arrived = self._arrived.get(target)
            if arrived is None:
                self._arrived[target] = [entry]
            else:
                arrived.append(entry)
        return len(self.log.edges) - 1

    def _after_node(self, row: NodeRow) -> Callable[[Grads, Grads], None]:
        def after(sent: Grads, received: Grads) -> None:
            if self._watching():
                with torch._C.DisableTorchFunction():
                    self._ran(row, sent, received)

        return after

    def _ran(self, row: NodeRow, sent: Grads, received: Grads) -> None:
        log, run = self.log, self.runs[-1]
        index = len(log.executions)
        execution = ExecutionRow(
            id=row.id if row.runs == 0 else next(log.ids), node=row.id, order=index, run=run
        )
        row.runs += 1
        log.executions.append(execution)
        kept_of: dict[int, int | None] = {}
        for nr, grad in enumerate(received):
            kept, hooked = self._arrival((row.id, nr), grad)
            execution.received.append(kept)
            execution.hooked |= hooked
            if kept is not None:
                # A gradient passed through untouched is the same snapshot.
                kept_of[id(grad)] = kept
        for slot, (target, grad) in enumerate(zip(row.next or (), sent, strict=False)):
            if target is None or grad is None:
                continue
            number = id(grad)
            if number not in kept_of:
                kept_of[number] = self._copy(grad, received, execution.received)
            execution.edges.append(self.sent(index, slot, target, kept_of[number], grad, run))
        log.tell("node", index, self._where(row))
        if row.freed is None and not log.passes[run].retain_graph:
            row.freed = len(log.events)

    def _copy(self, grad: torch.Tensor, received: Grads, kept: list[int | None]) -> int | None:
        """Keep a gradient that is sent; a big one that is a view of what came in is not copied."""
        copies = self.recorder.copies
        if grad.numel() > INLINE_ELEMENTS:
            for whole, number in zip(received, kept, strict=True):
                if whole is not None and number is not None:
                    shared = copies.share(grad, whole, number)
                    if shared is not None:
                        return shared
        return copies.keep(grad)

    def _arrival(self, target: Target, grad: torch.Tensor | None) -> tuple[int | None, bool]:
        """Return the snapshot of what arrived, and whether a hook made it differ from the sum.

        A single gradient that was handed on untouched shares the sender's snapshot.
        """
        sent = self._arrived.pop(target, ())
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
        copies = [self.log.snapshots[i] for i in [arrived, *sent]]
        tensors = [c for c in copies if isinstance(c, torch.Tensor)]
        if len(tensors) < len(copies) or any(t.layout is not torch.strided for t in tensors):
            return True
        total = tensors[1]
        for t in tensors[2:]:
            total = total + t
        return same_numbers(total, tensors[0])

    def _where(self, row: NodeRow) -> Where:
        if row.op is not None:
            return self.log.ops[row.op].where
        return self.log.passes[self.runs[-1]].where

    def _reach_leaf(self, accumulate: Node) -> None:
        """Note the ``.grad`` that a leaf has before the pass, and hook it once."""
        t = variable(accumulate)
        tensors = self.recorder.tensors
        number, grad = tensors.value(t, None).tensor, t.grad
        known = self._grads.get(number)
        if grad is None:
            self._grads.pop(number, None)
        elif known is None or known[0]() is not grad or self._overwritten(grad, *known[1:]):
            kept = self.recorder.copies.keep(grad)
            if kept is not None:
                self._grads[number] = (weakref.ref(grad), version(grad), kept)
        held = metadata(accumulate)
        if self not in held:
            held[self] = True
            accumulate.register_hook(self._after_leaf(weakref.ref(t)))

    def _overwritten(self, grad: torch.Tensor, counted: int, kept: int) -> bool:
        """Tell whether a ``.grad`` changed since its copy: ``grad.data.zero_()`` is not counted."""
        copy = self.log.snapshots[kept]
        if version(grad) != counted:
            return True
        return isinstance(copy, torch.Tensor) and not same_numbers(copy, grad)

    def _after_leaf(self, leaf: "weakref.ref[torch.Tensor]") -> Callable[[Grads, Grads], None]:
        def after(_sent: Grads, received: Grads) -> None:
            t = leaf()
            if t is not None and self._watching():
                with torch._C.DisableTorchFunction():
                    self._accumulated(t, received[0])

        return after

    def _accumulated(self, t: torch.Tensor, grad: torch.Tensor | None) -> None:
        tensors, log = self.recorder.tensors, self.log
        row = tensors.value(t, None)
        held = self._grads.get(row.tensor)
        before = held[2] if held is not None else None
        arrived, _ = self._arrival((row.id, 0), grad)
        now, after = t.grad, None
        if now is not None:
            if before is None and grad is not None and _same_memory(now, grad):
                after = arrived
            else:
                after = self.recorder.copies.keep(now)
        if now is not None and after is not None:
            self._grads[row.tensor] = (weakref.ref(now), version(now), after)
        log.accumulations.append(Accumulation(row.id, before, arrived, after, self.runs[-1]))
        log.tell("accumulate", len(log.accumulations) - 1, row.where)

    def _watching(self) -> bool:
        return bool(self.runs) and self.recorder.active and not self.log.truncated


def _same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Tell whether autograd took ``b`` over as ``a`` instead of copying it."""
    return (
        a.layout is torch.strided
        and b.layout is torch.strided
        and a.data_ptr() == b.data_ptr()
        and a.shape == b.shape
        and a.stride() == b.stride()
    )
