"""Recording of backward passes.

The engine's single entry (``_engine_run_backward``) is wrapped: the pass is recorded, nodes that
have no hook yet get one (`hooks`), and the engine runs as usual. The node that raised is found
afterwards, from the nodes that ran and those that did not.
"""

import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.overrides import _get_current_function_mode

from gradscribe.engine.record.backward.hooks import NodeHooks, RunningPass
from gradscribe.engine.record.log import NodeRow, PassRow
from gradscribe.engine.record.values.tensors import version
from gradscribe.engine.sandbox.builtins import use_original_builtins

if TYPE_CHECKING:
    from gradscribe.engine.record.recorder import Recorder
    from gradscribe.engine.record.threads import ThreadState

use_original_builtins(globals())

EngineEntry = Callable[..., tuple[torch.Tensor, ...]]


class PassReached(BaseException):
    """Raised to stop a program at a given pass; see `Recorder.until_pass`."""


class Backward:
    """Recorder of the backward passes of a run."""

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder = recorder
        self.log = recorder.log
        self.hooks = NodeHooks(recorder)
        self.failed: NodeRow | None = None
        """The node that the last failed pass stopped in."""
        self.failed_by: BaseException | None = None
        """The exception that this pass raised."""

    def run(
        self,
        lane: "ThreadState",
        original: EngineEntry,
        outputs: object,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> tuple[torch.Tensor, ...]:
        """Run and record a pass; the arguments are those of the engine's entry."""
        recorder = self.recorder
        roots = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
        seeds = list(args[0]) if args and isinstance(args[0], tuple | list) else [None] * len(roots)
        with torch._C.DisableTorchFunction(), recorder.threads.lock:
            lane.quiet += 1
            run: RunningPass | None = None
            edges: list[GradientEdge] = []
            try:
                run, edges = self._begin(lane, roots, seeds, args, kwargs)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
            finally:
                lane.quiet -= 1
        if run is None:
            return original(outputs, *args, **kwargs)
        try:
            if _get_current_function_mode() is lane.mode:  # type: ignore[no-untyped-call]
                result = original(outputs, *args, **kwargs)
            else:
                with lane.mode:
                    result = original(outputs, *args, **kwargs)
        except BaseException as error:
            self.failed = self.hooks.find_failed_node(run)
            self.failed_by = error
            raise
        finally:
            del edges
            lane.runs.remove(run)
            self.hooks.running.remove(run)
        with torch._C.DisableTorchFunction(), recorder.threads.lock:
            try:
                self._end(run, result)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
        return result

    def _end(self, run: RunningPass, result: tuple[torch.Tensor, ...]) -> None:
        row = self.log.passes[run.number]
        self.log.add_event("end", run.number, row.where)
        if row.kind == "grad":
            for t in result:
                if isinstance(t, torch.Tensor):
                    self.recorder.tensors.value(t, row.where, maker="grad")

    def _begin(
        self,
        lane: "ThreadState",
        roots: list[object],
        seeds: list[object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> tuple[RunningPass, list[GradientEdge]]:
        """Record the pass, hook its nodes, and return edges that keep leaf roots alive."""
        recorder, log = self.recorder, self.log
        where, _ = recorder.source.locate(sys._getframe(1))
        number = len(log.passes)
        flags = [*args[1:3], False, False]
        row = PassRow(
            kind="backward" if kwargs.get("accumulate_grad") else "grad",
            where=where,
            roots=[
                recorder.tensors.value(r, where).id if isinstance(r, torch.Tensor) else None
                for r in roots
            ],
            seeds=[recorder.copies.keep(s) if isinstance(s, torch.Tensor) else None for s in seeds],
            retain_graph=bool(flags[0]),
            create_graph=bool(flags[1]),
        )
        edges = [_edge(r) for r in roots]
        row.targets = [None if e is None else recorder.nodes.target(*e[:2]) for e in edges]
        log.passes.append(row)
        log.add_event("backward", number, where)
        if recorder.stop_at_pass is not None and number == recorder.stop_at_pass:
            recorder.reached_roots = [r for r in roots if isinstance(r, torch.Tensor)]
            raise PassReached
        run = RunningPass(number, lane, row.targets)
        for seed, tensor in zip(row.seeds, seeds, strict=True):
            if isinstance(tensor, torch.Tensor):
                run.sent_gradients[id(tensor)] = weakref.ref(tensor), version(tensor), seed
        present = [e for e in edges if e is not None]
        recorder.nodes.hook_reachable(number, [e.node for e in present])
        lane.runs.append(run)
        self.hooks.running.append(run)
        return run, present


def _edge(root: object) -> GradientEdge | None:
    if isinstance(root, GradientEdge):
        return root
    if isinstance(root, torch.Tensor) and root.requires_grad:
        return get_gradient_edge(root)
    return None
