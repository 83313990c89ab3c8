"""The backward pass: what each node received, and what it sent along each edge.

The engine's single entry (``_engine_run_backward``) is wrapped. Before the pass every node that can
be reached gets two hooks: one just before it runs (the arriving gradients) and one just after (one
gradient per edge, as the engine itself hands it on). Hooks never raise, never return anything,
never hold a node.
"""

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch.autograd.graph import GradientEdge, Node, get_gradient_edge
from torch.overrides import _get_current_function_mode

from engine.record.log import ExecutionRow, NodeRow, PassRow
from engine.record.nodes import is_accumulate, metadata, variable
from engine.record.source import Where
from engine.record.tensors import same_numbers, version
from engine.tape import Accumulation, Edge

if TYPE_CHECKING:
    from engine.record.recorder import Recorder

Run = Callable[..., tuple[torch.Tensor, ...]]
Grads = Sequence[torch.Tensor | None]


class PassReached(BaseException):
    """Ends a program at the pass it was run for; see `Recorder.until_pass`."""


class Backward:
    """Records the passes of one run."""

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder = recorder
        self.log = recorder.log
        self._running: list[int] = []
        self._befores: list[tuple[int, int | None, int | None]] = []
        self._runs: list[int] = []
        self._arrived: dict[tuple[int, int], list[tuple[weakref.ref[torch.Tensor], int, int]]] = {}
        self.failed: NodeRow | None = None
        """The node whose run raised, after a pass that failed."""
        self._key = object()

    @property
    def running(self) -> bool:
        """True while a backward node runs."""
        return bool(self._running)

    def run(
        self, original: Run, outputs: object, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[torch.Tensor, ...]:
        """Run one pass under observation; arguments are those of the engine's entry."""
        recorder = self.recorder
        roots = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
        seeds = list(args[0]) if args and isinstance(args[0], tuple | list) else [None] * len(roots)
        with torch._C.DisableTorchFunction():
            recorder.quiet += 1
            try:
                edges = self._begin(roots, seeds, args, kwargs)
            finally:
                recorder.quiet -= 1
        depth = len(self._running)
        try:
            if _get_current_function_mode() is recorder.mode:  # type: ignore[no-untyped-call]
                result = original(outputs, *args, **kwargs)
            else:
                with recorder.mode:
                    result = original(outputs, *args, **kwargs)
        except BaseException:
            self._note_failure(depth)
            raise
        finally:
            del edges
            number = self._runs.pop()
        where = self.log.passes[number].where
        self.log.tell("end", number, where)
        if self.log.passes[number].kind == "grad":
            for t in result:
                if isinstance(t, torch.Tensor):
                    recorder.tensors.value(t, where, maker="grad")
        return result

    def _note_failure(self, depth: int) -> None:
        if len(self._running) > depth:
            node = self.log.executions[self._running[-1]].node
            self.failed = next(n for n in self.log.nodes if n.id == node)
        del self._running[depth:]

    def _begin(
        self,
        roots: list[object],
        seeds: list[object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> list[GradientEdge]:
        """Write the pass down, hook its nodes, and return edges that keep leaf roots alive."""
        recorder, log = self.recorder, self.log
        where, _ = recorder.source.here(recorder.source.user_frame())
        number = len(log.passes)
        flags = [*args[1:3], False, False]
        row = PassRow(
            kind="backward" if kwargs.get("accumulate_grad") else "grad",
            where=where,
            roots=[
                recorder.tensors.value(r, where).id if isinstance(r, torch.Tensor) else None
                for r in roots
            ],
            seeds=[
                recorder.tensors.keep(s) if isinstance(s, torch.Tensor) else None for s in seeds
            ],
            retain_graph=bool(flags[0]),
            create_graph=bool(flags[1]),
        )
        log.passes.append(row)
        log.tell("backward", number, where)
        if recorder.until_pass is not None and number == recorder.until_pass:
            recorder.reached_roots = [r for r in roots if isinstance(r, torch.Tensor)]
            raise PassReached
        if not self._runs:
            self._arrived.clear()
        self._runs.append(number)
        edges = [_edge(r) for r in roots]
        present = [e for e in edges if e is not None]
        for edge, seed, tensor in zip(edges, row.seeds, seeds, strict=True):
            if edge is not None:
                self._sent(None, 0, edge.node, edge.output_nr, seed, tensor, number)
        self._hook([e.node for e in present])
        return present

    def _sent(
        self,
        execution: int | None,
        slot: int,
        node: Node,
        nr: int,
        kept: int | None,
        grad: object,
        run: int,
    ) -> None:
        leaf = is_accumulate(node)
        nodes = self.recorder.nodes
        target = (nodes.leaf(node), 0) if leaf else (nodes.of(node), nr)
        self._add_edge(execution, slot, target, kept, grad, run)

    def _add_edge(
        self,
        execution: int | None,
        slot: int,
        target: tuple[int, int],
        kept: int | None,
        grad: object,
        run: int,
    ) -> int:
        self.log.edges.append(Edge(execution, slot, *target, kept, run))
        if kept is not None and isinstance(grad, torch.Tensor):
            entry = (weakref.ref(grad), version(grad), kept)
            self._arrived.setdefault(target, []).append(entry)
        return len(self.log.edges) - 1

    def _hook(self, nodes: list[Node]) -> None:
        """Put hooks on every node that can be reached and has none yet."""
        recorder = self.recorder
        stack, seen = list(nodes), set[int]()
        while stack:
            node = stack.pop()
            if is_accumulate(node):
                if self._key not in metadata(node):
                    metadata(node)[self._key] = True
                    self._hook_leaf(node)
                continue
            row = recorder.nodes.row(node)
            if row.id in seen:
                continue
            seen.add(row.id)
            recorder.nodes.read_edges(node, row)
            if not row.hooked:
                row.hooked = True
                node.register_prehook(self._before_node(row))
                node.register_hook(self._after_node(row))
            stack.extend(n for n, _ in node.next_functions if n is not None)

    def _before_node(self, row: NodeRow) -> Callable[[Grads], None]:
        def before(received: Grads) -> None:
            if not self._watching():
                return
            with torch._C.DisableTorchFunction(), self.recorder.unseen():
                first = row.runs == 0
                row.runs += 1
                execution = ExecutionRow(
                    id=row.id if first else next(self.log.ids),
                    node=row.id,
                    order=len(self.log.executions),
                    run=self._runs[-1],
                    received=[],
                )
                for nr, grad in enumerate(received):
                    kept, hooked = self._arrival((row.id, nr), grad)
                    execution.received.append(kept)
                    execution.hooked |= hooked
                self._running.append(len(self.log.executions))
                self.log.executions.append(execution)

        return before

    def _arrival(
        self, target: tuple[int, int], grad: torch.Tensor | None
    ) -> tuple[int | None, bool]:
        """Return the snapshot of what arrived, and whether a hook made it differ from the sum.

        A single gradient that was handed on untouched shares the sender's snapshot.
        """
        sent = self._arrived.pop(target, [])
        if grad is None:
            return None, False
        if len(sent) == 1 and sent[0][0]() is grad and sent[0][1] == version(grad):
            return sent[0][2], False
        kept = self.recorder.tensors.keep(grad)
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

    def _after_node(self, row: NodeRow) -> Callable[[Grads, Grads], None]:
        def after(sent: Grads, received: Grads) -> None:
            if not self._watching() or not self._running:
                return
            with torch._C.DisableTorchFunction(), self.recorder.unseen():
                index = self._close(row)
                execution = self.log.executions[index]
                same: dict[int, int | None] = {}
                for slot, target in enumerate(row.next or ()):
                    grad = sent[slot] if slot < len(sent) else None
                    if target is None or grad is None:
                        continue
                    if id(grad) not in same:
                        same[id(grad)] = self._shared(grad, received, execution.received)
                    edge = self._add_edge(index, slot, target, same[id(grad)], grad, execution.run)
                    execution.edges.append(edge)
                self.log.tell("node", index, self._where(row))
                if row.freed is None and not self.log.passes[execution.run].retain_graph:
                    row.freed = len(self.log.events)

        return after

    def _shared(self, grad: torch.Tensor, received: Grads, kept: list[int | None]) -> int | None:
        """Keep a gradient, unless it is one of those received, passed through untouched."""
        for one, snapshot in zip(received, kept, strict=False):
            if one is grad and snapshot is not None:
                return snapshot
        return self.recorder.tensors.keep(grad)

    def _close(self, row: NodeRow) -> int:
        """Take the execution of ``row`` off the stack; re-entrant passes interleave them."""
        for at in range(len(self._running) - 1, -1, -1):
            if self.log.executions[self._running[at]].node == row.id:
                return self._running.pop(at)
        return self._running.pop()

    def _where(self, row: NodeRow) -> Where:
        if row.op is not None:
            return self.log.ops[row.op].where
        return self.log.passes[self._runs[-1]].where if self._runs else None

    def _hook_leaf(self, accumulate: Node) -> None:
        leaf = weakref.ref(variable(accumulate))

        def before(received: Grads) -> None:
            t = leaf()
            if not self._watching() or t is None:
                return
            with torch._C.DisableTorchFunction(), self.recorder.unseen():
                tensors = self.recorder.tensors
                row = tensors.value(t, None)
                grad = received[0]
                held = tensors.keep(t.grad) if t.grad is not None else None
                sent, _ = self._arrival((row.id, 0), grad)
                self._befores.append((row.id, held, sent))

        def after(_sent: Grads, _received: Grads) -> None:
            t = leaf()
            if not self._watching() or t is None or not self._befores:
                return
            with torch._C.DisableTorchFunction(), self.recorder.unseen():
                value, held, arrived = self._befores.pop()
                now = self.recorder.tensors.keep(t.grad) if t.grad is not None else None
                run = self._runs[-1]
                self.log.accumulations.append(Accumulation(value, held, arrived, now, run))
                row = self.recorder.tensors.known(t)
                where = row.where if row is not None else None
                self.log.tell("accumulate", len(self.log.accumulations) - 1, where)

        accumulate.register_prehook(before)
        accumulate.register_hook(after)

    def _watching(self) -> bool:
        return self.recorder.active and bool(self._runs) and not self.log.truncated


def _edge(root: object) -> GradientEdge | None:
    if isinstance(root, GradientEdge):
        return root
    if isinstance(root, torch.Tensor) and root.requires_grad:
        return get_gradient_edge(root)
    return None
