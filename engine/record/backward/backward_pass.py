"""Recording of backward passes.

The engine's single entry (``_engine_run_backward``) is wrapped: the pass is recorded, nodes that
have no hook yet get one (`hooks`), and the engine runs as usual. The node that raised is found
afterwards, from the nodes that ran and those that did not.
"""

import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.overrides import _get_current_function_mode

from gradscribe.engine.record.backward.hooks import NodeHooks
from gradscribe.engine.record.backward.nodes import Nodes
from gradscribe.engine.record.log import CodeLocation, Log, NodeRow, PassRow, Target
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.thread_state import RunningPass, ThreadState
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.record.values.copies import SnapshotStore
from gradscribe.engine.record.values.tensors import Tensors, grad_fn, version
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

EngineEntry = Callable[..., tuple[torch.Tensor, ...]]


class PassReached(BaseException):
    """Raised to stop a program at a given pass or function: `Backward.stop_at_pass`."""


@dataclass(eq=False)
class Backward:
    """Recorder of the backward passes of a run."""

    log: Log
    source: Source
    threads: RecordedThreads
    copies: SnapshotStore
    tensors: Tensors
    hooks: NodeHooks
    nodes: Nodes
    failed: NodeRow | None = None
    """The node that the last failed pass stopped in."""
    failed_by: BaseException | None = None
    """The exception that this pass raised."""
    stop_at_pass: int | None = None
    """Stop the program, by raising `PassReached`, just before this backward pass."""
    reached_roots: list[torch.Tensor] = field(default_factory=list)
    pass_begins: Callable[[RunningPass, CodeLocation], None] | None = None
    """Called with each pass before the engine runs."""
    pass_ends: Callable[[RunningPass], None] | None = None
    """Called with each pass after its last event, unless it raised."""

    def run(
        self,
        thread: ThreadState,
        original: EngineEntry,
        outputs: object,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> tuple[torch.Tensor, ...]:
        """Run and record a pass; the arguments are those of the engine's entry."""
        roots = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
        seeds = list(args[0]) if args and isinstance(args[0], tuple | list) else [None] * len(roots)
        with torch._C.DisableTorchFunction(), self.threads.lock:
            thread.quiet += 1
            run: RunningPass | None = None
            edges: list[GradientEdge] = []
            try:
                run, edges = self._begin(thread, roots, seeds, args, kwargs)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
            finally:
                thread.quiet -= 1
        if run is None:
            return original(outputs, *args, **kwargs)
        try:
            if _get_current_function_mode() is thread.mode:  # type: ignore[no-untyped-call]
                result = original(outputs, *args, **kwargs)
            else:
                with thread.mode:
                    result = original(outputs, *args, **kwargs)
        except BaseException as error:
            try:
                self.failed = self.hooks.find_failed_node(run)
                self.failed_by = error
            except Exception as fault:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(fault)
            raise
        finally:
            del edges
            thread.runs.remove(run)
            self.hooks.running.remove(run)
        with torch._C.DisableTorchFunction(), self.threads.lock:
            try:
                self._end(run, result)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
        return result

    def _end(self, run: RunningPass, result: tuple[torch.Tensor, ...]) -> None:
        row = self.log.passes[run.number]
        if run.creates_graph:
            for t in result or ():
                if isinstance(t, torch.Tensor) and (fn := grad_fn(t)) is not None:
                    self.nodes.read_graph(fn)
        self.log.add_event("end", run.number, row.where)
        if row.kind == "grad":
            row.results = [
                self._result(row, t) if isinstance(t, torch.Tensor) else None for t in result
            ]
        if self.pass_ends is not None:
            self.pass_ends(run)

    def _result(self, row: PassRow, t: torch.Tensor) -> int:
        """Return the value id of a gradient that a pass returned."""
        known = self.tensors.known(t)
        value = self.tensors.value(t, row.where, maker="grad")
        if value is known and value.maker == "grad" and value.where is None:
            # It is a value since the node that computed it ran; the program has it from here on.
            value.where = row.where
            self.log.add_event("leaf", value.id, row.where)
        return value.id

    def _asked_target(self, asked: object) -> Target | None:
        """Return the target of the gradient of an input, without a node made for it."""
        if isinstance(asked, GradientEdge):
            return self.nodes.target(*asked[:2])
        if not isinstance(asked, torch.Tensor) or not asked.requires_grad:
            return None
        fn = grad_fn(asked)
        if fn is not None:
            return self.nodes.row(fn).id, asked.output_nr
        return self.tensors.value(asked, None).id, 0

    def _begin(
        self,
        thread: ThreadState,
        roots: list[object],
        seeds: list[object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> tuple[RunningPass, list[GradientEdge]]:
        """Record the pass, hook its nodes, and return edges that keep leaf roots alive."""
        log, tensors = self.log, self.tensors
        where, _ = self.source.locate(sys._getframe(1))
        number = len(log.passes)
        flags = [*args[1:3], False, False]
        row = PassRow(
            kind="backward" if kwargs.get("accumulate_grad") else "grad",
            where=where,
            roots=[
                tensors.value(r, where).id if isinstance(r, torch.Tensor) else None for r in roots
            ],
            seeds=[self.copies.keep(s) if isinstance(s, torch.Tensor) else None for s in seeds],
            retain_graph=bool(flags[0]),
            create_graph=bool(flags[1]),
        )
        edges = [_edge(r) for r in roots]
        row.targets = [None if e is None else self.nodes.target(*e[:2]) for e in edges]
        if len(args) > 3 and isinstance(args[3], tuple):
            row.inputs = [self._asked_target(t) for t in args[3]]
        log.passes.append(row)
        log.add_event("backward", number, where)
        if number == self.stop_at_pass:
            self.reached_roots = [r for r in roots if isinstance(r, torch.Tensor)]
            raise PassReached
        run = RunningPass(number, row.targets, row.create_graph)
        for seed, tensor in zip(row.seeds, seeds, strict=True):
            if isinstance(tensor, torch.Tensor):
                run.sent_gradients[id(tensor)] = weakref.ref(tensor), version(tensor), seed
        present = [e for e in edges if e is not None]
        self.nodes.hook_reachable(number, [e.node for e in present])
        thread.runs.append(run)
        self.hooks.running.append(run)
        if self.pass_begins is not None:
            self.pass_begins(run, where)
        return run, present


def _edge(root: object) -> GradientEdge | None:
    if isinstance(root, GradientEdge):
        return root
    if isinstance(root, torch.Tensor) and root.requires_grad:
        return get_gradient_edge(root)
    return None
