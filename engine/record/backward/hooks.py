"""Hooks on the backward nodes: the gradients each received, and those it sent along its edges.

A node gets its hook when it is first seen, mostly just after the op that created it. The engine
calls the hook when the node has run: with the gradients that the node received and one gradient per
edge, already reduced and cast as the engine passes them on. Hooks only note which snapshots these
are; `passes` reads the notes later. They never raise (a failure ends the recording, see
`Log.stop_on_error`), never return anything and never reference a node, which would keep its saved
tensors alive.
"""

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence

import torch
from msgspec import Struct
from torch.autograd.graph import Node

from gradscribe.engine.protocol.tape import Accumulation
from gradscribe.engine.record.log import (
    NO_GRADIENT,
    EventRow,
    Log,
    NodeRanNote,
    NodeRow,
    ValueRow,
)
from gradscribe.engine.record.thread_state import NotedGradient, RunningPass
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.record.values.copies import SHARED_ELEMENTS, SnapshotStore
from gradscribe.engine.record.values.raw_reads import WithoutFunctionModes, is_plain_strided
from gradscribe.engine.record.values.tensors import Tensors, grad_fn, same_elements, version
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

Grads = Sequence[torch.Tensor | None]
_ref = weakref.ref


class NodeHooks:
    """Notes of what backward nodes received and sent, and of what leaves accumulated."""

    def __init__(
        self, log: Log, threads: RecordedThreads, copies: SnapshotStore, tensors: Tensors
    ) -> None:
        self.log = log
        self.threads = threads
        self.copies = copies
        self.tensors = tensors
        self.running: list[RunningPass] = []
        """The passes that are running in all threads, in the order in which they began."""
        self.lock = threads.lock
        self.keep = copies.keep
        self._grads: dict[int, NotedGradient] = {}
        """Each leaf's ``.grad`` by tensor number."""
        self._register: Callable[..., object] = _Mixin.__dict__["_register_hook"].__func__

    def start(self) -> None:
        """Make torch register the recorder's hooks without a removal handle.

        A handle costs as much as all the rest of a hook; other hooks still get theirs. Those may
        change what a node sends, so the recorder's hook stays last.
        """
        plain = self._register

        def register(hooks: "OrderedDict[object, object] | None", hook: object) -> object:
            if type(hook) in _RECORDER_HOOKS:
                # A user's handle may refer to it later, so no plain dict.
                hooks = OrderedDict() if hooks is None else hooks
                hooks[hook] = hook
                return hooks, None
            result = plain(hooks, hook)
            for own in [h for h in hooks or () if type(h) in _RECORDER_HOOKS]:
                hooks[own] = hooks.pop(own)  # type: ignore[index,union-attr]
            return result

        _Mixin._register_hook = staticmethod(register)  # type: ignore[method-assign]

    def stop(self) -> None:
        """Restore torch's own registration."""
        _Mixin._register_hook = staticmethod(self._register)  # type: ignore[method-assign]

    def hook_leaf(self, accumulate: Node, t: torch.Tensor, number: int) -> "AfterLeaf":
        """Register hooks on the AccumulateGrad of ``t``, tensor ``number``; return the second."""
        leaf = weakref.ref(t)
        hook = AfterLeaf(self, leaf)
        accumulate.register_prehook(BeforeLeaf(self, leaf, number))
        accumulate.register_hook(hook)
        return hook

    def changed_gradient(self, t: torch.Tensor, kept: int | None = None) -> tuple[int, int] | None:
        """Return the value of a leaf and the snapshot of its ``.grad``, if that was written to.

        None if it is unchanged. ``kept``: its snapshot, if there is already one.
        """
        row, grad = self.tensors.value(t, None), t.grad
        known = self._grads.get(row.tensor)
        if grad is None or (known is not None and self._holds(grad, known)):
            return None
        kept = self.keep(grad) if kept is None else kept
        if kept is None:
            return None
        self._grads[row.tensor] = (weakref.ref(grad), version(grad), kept)
        return row.id, kept

    def gradient_after_gap(self, t: torch.Tensor, row: ValueRow) -> tuple[int | None] | None:
        """Return the snapshot of a leaf's ``.grad`` if that changed unseen, in a tuple.

        ``row`` is the leaf's value. A ``.grad`` that is gone is a tuple of None.
        """
        known, grad = self._grads.get(row.tensor), t.grad
        if grad is None:
            return (None,) if self._grads.pop(row.tensor, None) is not None else None
        if known is not None and self._holds(grad, known):
            return None
        kept = self.keep(grad)
        self._grads[row.tensor] = (weakref.ref(grad), version(grad), kept)
        return (kept,)

    def find_failed_node(self, run: RunningPass) -> NodeRow | None:
        """Return the node that a failed pass stopped in.

        It had all its inputs and did not run; of several such nodes the engine runs the youngest
        first.
        """
        rows = {row.id: row for row in self.log.nodes}
        # Nodes whose notes `passes` has read, and nodes whose notes it has yet to read.
        ran = {e.node for e in self.log.executions if e.run == run.number}
        ran |= {
            e.node.id for e in self.log.events if type(e) is NodeRanNote and e.run == run.number
        }
        left: dict[int, NodeRow] = {}
        stack, seen = [t[0] for t in run.targets if t is not None], set[int]()
        while stack:
            row = rows.get(stack.pop())
            if row is None or row.id in seen:
                continue
            seen.add(row.id)
            if row.id not in ran:
                left[row.id] = row
            stack += [target[0] for target in row.next or () if target is not None]
        waiting = {t[0] for row in left.values() for t in row.next or () if t is not None}
        ready = [(row.number, i) for i, row in left.items() if i not in waiting]
        return left[max(ready)[1]] if ready else None

    def on_node_ran(self, row: NodeRow, sent: Grads, received: Grads) -> None:
        """Note that a node ran, what it received and what it sent."""
        run = self.running[0] if len(self.running) == 1 else self._innermost()
        way, keep = run.sent_gradients, self.keep
        if run.creates_graph:
            self._note_graph(run, (*received, *sent))
        given: list[int | None] = []
        arrived: list[int | None] = []
        for grad in received:
            if grad is None:
                arrived.append(None)
                continue
            key = id(grad)
            known = way.get(key)
            if known is None or known[0]() is not grad or known[1] != version(grad):
                known = way[key] = (_ref(grad), version(grad), keep(grad))
            arrived.append(known[2])
        for target, grad in zip(row.next or (), sent):  # noqa: B905 (a keyword costs as much again)
            if target is None or grad is None:
                given.append(NO_GRADIENT)
                continue
            key = id(grad)
            known = way.get(key)
            # A gradient passed through unchanged, or sent twice, is the same snapshot.
            if known is None or known[0]() is not grad or known[1] != version(grad):
                kept = None
                if grad._base is not None and grad.numel() >= SHARED_ELEMENTS:
                    kept = self._shared(grad, received, arrived)
                if kept is None:
                    kept = keep(grad)
                known = way[key] = (_ref(grad), version(grad), kept)
            given.append(known[2])
        self.log.write(NodeRanNote(row, run.number, arrived, given))

    def before_accumulation(self, t: torch.Tensor, number: int) -> None:
        """Note the ``.grad`` that a leaf, tensor ``number``, has before the accumulation."""
        grad = t.grad
        if grad is None:
            self._grads.pop(number, None)
            return
        known = self._grads.get(number)
        if known is None or known[0]() is not grad or self._overwritten(grad, known):
            kept = self.keep(grad)
            if kept is not None:
                self._grads[number] = (_ref(grad), version(grad), kept)

    def after_accumulation(self, t: torch.Tensor, grad: torch.Tensor | None) -> None:
        """Record that a gradient was added to a leaf's ``.grad``."""
        run = self.running[0] if len(self.running) == 1 else self._innermost()
        log, row = self.log, self.tensors.value(t, None)
        noted = self._grads.get(row.tensor)
        before = noted[2] if noted is not None else None
        now, after, arrived = t.grad, None, None
        if grad is not None:
            known = run.sent_gradients.get(id(grad))
            if known is None or known[0]() is not grad or known[1] != version(grad):
                known = run.sent_gradients[id(grad)] = (_ref(grad), version(grad), self.keep(grad))
            arrived = known[2]
        if now is not None:
            if run.creates_graph and grad_fn(now) is not None:
                self.tensors.mark_gradient(now, row)
                self._note_graph(run, (now,))
            taken_over = before is None and arrived is not None and _same_memory(now, grad)
            after = arrived if taken_over else self.keep(now)
            if after is not None:
                self._grads[row.tensor] = (_ref(now), version(now), after)
        accumulations = log.accumulations
        accumulations.append(Accumulation(row.id, before, arrived, after, run.number))
        log.write(EventRow("accumulate", len(accumulations) - 1, row.where))

    def _note_graph(self, run: RunningPass, grads: Grads) -> None:
        """Record gradients that can be differentiated again as values, with their nodes."""
        for grad in grads:
            if grad is None or (fn := grad_fn(grad)) is None:
                continue
            row = self.tensors.value(grad, None, maker="grad")
            self.tensors.nodes.read_graph(fn)
            run.sent_gradients[id(grad)] = _ref(grad), version(grad), row.snapshot

    def _innermost(self) -> RunningPass:
        """Return the pass whose node ran, if several are running.

        A node runs in the thread that began the pass, or in a worker thread of torch's engine.
        """
        thread = self.threads.current()
        return thread.runs[-1] if thread is not None and thread.runs else self.running[-1]

    def _shared(self, grad: torch.Tensor, received: Grads, kept: list[int | None]) -> int | None:
        """Return a snapshot that shares memory if a gradient is a view of a received one."""
        for whole, number in zip(received, kept):  # noqa: B905
            if whole is not None and number is not None:
                shared = self.copies.share(grad, whole, number)
                if shared is not None:
                    return shared
        return None

    def _holds(self, grad: torch.Tensor, known: NotedGradient) -> bool:
        """Return whether a ``.grad``, even if a new tensor, has the data last noted for it."""
        copy = self.log.snapshots[known[2]] if known[2] is not None else None
        if isinstance(copy, torch.Tensor) and copy.layout is torch.strided is grad.layout:
            return same_elements(copy, grad)
        return known[0]() is grad and version(grad) == known[1]

    def _overwritten(self, grad: torch.Tensor, known: NotedGradient) -> bool:
        """Return whether a ``.grad`` changed since its copy, even with the same version."""
        copy = self.log.snapshots[known[2]] if known[2] is not None else None
        if version(grad) != known[1]:
            return True
        return isinstance(copy, torch.Tensor) and not same_elements(copy, grad)


class AfterNode(Struct, gc=False, eq=False):
    """Post hook of a node, owned by it: also notes when the node is freed."""

    hooks: NodeHooks
    row: NodeRow

    def __call__(self, sent: Grads, received: Grads) -> None:
        """Note what the node received and what it sent."""
        hooks = self.hooks
        if hooks.running and hooks.log.is_recording:
            with WithoutFunctionModes(), hooks.lock:
                try:
                    hooks.on_node_ran(self.row, sent, received)
                except Exception as error:  # noqa: BLE001 - it would end the program's pass
                    hooks.log.stop_on_error(error)

    def __del__(self) -> None:
        row, log = self.row, self.hooks.log
        if row.freed is None and log.open:
            row.freed = len(log.events)


class BeforeLeaf(Struct, gc=False, eq=False):
    """Pre-hook of an AccumulateGrad node."""

    hooks: NodeHooks
    leaf: "weakref.ref[torch.Tensor]"
    number: int
    """The tensor number of the leaf."""

    def __call__(self, _received: Grads) -> None:
        """Note the leaf's ``.grad`` before the accumulation."""
        hooks, t = self.hooks, self.leaf()
        if hooks.running and hooks.log.is_recording and t is not None:
            with WithoutFunctionModes(), hooks.lock:
                try:
                    hooks.before_accumulation(t, self.number)
                except Exception as error:  # noqa: BLE001 - it would end the program's pass
                    hooks.log.stop_on_error(error)


class AfterLeaf(Struct, gc=False, eq=False):
    """Post hook of an AccumulateGrad node."""

    hooks: NodeHooks
    leaf: "weakref.ref[torch.Tensor]"

    def __call__(self, _sent: Grads, received: Grads) -> None:
        """Record the accumulation."""
        hooks, t = self.hooks, self.leaf()
        if hooks.running and hooks.log.is_recording and t is not None:
            with WithoutFunctionModes(), hooks.lock:
                try:
                    hooks.after_accumulation(t, received[0])
                except Exception as error:  # noqa: BLE001 - it would end the program's pass
                    hooks.log.stop_on_error(error)


_Mixin = torch.autograd.function._HookMixin
_RECORDER_HOOKS = frozenset((AfterNode, BeforeLeaf, AfterLeaf))


def _same_memory(a: torch.Tensor, b: torch.Tensor | None) -> bool:
    """Return whether autograd reused ``b``, which has a snapshot, as ``a``."""
    return (
        b is not None
        and is_plain_strided(a)
        and is_plain_strided(b)
        and a.data_ptr() == b.data_ptr()
    )
