"""One recording: ``with Recorder(text, filename) as recorder: exec(code)``, then `freeze` it.

Data flow: torch function -> `forward` -> rows in `log`; backward pass -> `backward` hooks -> rows
in `log`; at the end `freeze` turns the log into a tape. The recorder computes nothing that torch
did not compute, and keeps no reference that would delay the release of the program's memory.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import autograd

from gradscribe.engine.protocol.figures import MAX_FIGURES, MAX_TOTAL_BYTES, Figure
from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.engine.record.backward.backward_pass import Backward, EngineEntry
from gradscribe.engine.record.backward.hooks import NodeHooks
from gradscribe.engine.record.backward.nodes import Nodes
from gradscribe.engine.record.backward.passes import PassReader
from gradscribe.engine.record.forward.collectives import Collectives
from gradscribe.engine.record.forward.compiled import CompileStub
from gradscribe.engine.record.forward.ddp_buckets import DdpBuckets
from gradscribe.engine.record.forward.dynamo import DynamoCalls
from gradscribe.engine.record.forward.failure import FailurePoint
from gradscribe.engine.record.forward.function_mode import ForwardMode
from gradscribe.engine.record.forward.modules import Modules
from gradscribe.engine.record.forward.op_recorder import OpRecorder
from gradscribe.engine.record.forward.optimizers import Optimizers
from gradscribe.engine.record.forward.scripted import ScriptedCalls
from gradscribe.engine.record.log import Log
from gradscribe.engine.record.loops.plan import StepPlan
from gradscribe.engine.record.loops.recorder import LoopRecorder
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.record.tracebacks import TracebackFilter
from gradscribe.engine.record.values.copies import BUDGET, SnapshotStore
from gradscribe.engine.record.values.snapshots import concrete_sizes, dtype_name
from gradscribe.engine.record.values.tensors import Tensors
from gradscribe.engine.record.warning_frames import WarningFrames
from gradscribe.engine.record.writes import Writes
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_has_torch_function = torch.overrides.has_torch_function
_CALLERS = frozenset((ForwardMode._op.__code__, OpRecorder.record_opaque_call.__code__))
"""The functions that note a call that raised."""


class Recorder:
    """Recorder of torch calls between ``__enter__`` and ``__exit__``; the rows are in `log`."""

    def __init__(
        self,
        text: str,
        filename: str,
        event_limit: int = 40_000,
        memory: int = BUDGET,
        plan: StepPlan | None = None,
    ) -> None:
        self.log = log = Log(event_limit)
        self.source = source = Source(text, filename)
        log.user_line = source.user_line
        self.threads = threads = RecordedThreads(log)
        self.passes = PassReader(log)
        self.copies = copies = SnapshotStore(log, memory, self.passes.process_notes)
        self.tensors = tensors = Tensors(log, copies)
        self.hooks = hooks = NodeHooks(log, threads, copies, tensors)
        tensors.nodes = nodes = Nodes(log, tensors, hooks)
        self.backward = Backward(log, source, threads, copies, tensors, hooks, nodes)
        self.unnamed: set[str] = set()
        """Variables that refer to modules and dicts when the program has ended, not to tensors."""
        self.writes = writes = Writes(log, source, threads, tensors, hooks)
        self.failure = FailurePoint(tensors, self.backward, _CALLERS)
        self.ops = OpRecorder(log, source, threads, tensors, nodes, writes, self.failure)
        self.modules = Modules(log, source, threads, tensors)
        self.scripted = ScriptedCalls(threads, self.ops)
        self.optimizers = Optimizers(log, source, threads, copies, tensors, writes)
        self.collectives = Collectives(log, source, threads, tensors, writes)
        self.buckets = DdpBuckets(self.collectives, self.backward)
        self.compiled = CompileStub()
        self.dynamo = DynamoCalls(threads, self.ops, self.without_replacements)
        self._is_replaced = self._was_replaced = False
        self.loops = LoopRecorder(
            log,
            source,
            threads,
            tensors,
            hooks,
            plan or StepPlan(event_limit),
            self._replace,
            self._restore,
        )
        self._aside = 0
        self.tracebacks = TracebackFilter()
        self.warning_frames = WarningFrames()
        self._engine: EngineEntry = autograd.graph._engine_run_backward
        self._apply: object = None

    def __enter__(self) -> "Recorder":
        self._replace()
        self.dynamo.start()
        self.hooks.start()
        self.tracebacks.start()
        self.warning_frames.start()
        self.collectives.start()
        self.buckets.start()
        self.threads.start(lambda: ForwardMode(self.ops).thread)
        self.log.is_recording = True
        return self

    def __exit__(self, *_: object) -> None:
        self.loops.finish()
        self.threads.stop()
        self.log.is_recording = self.log.open = False
        self.buckets.stop()
        self.collectives.stop()
        self.warning_frames.stop()
        self.tracebacks.stop()
        self.hooks.stop()
        self.dynamo.stop()
        self._restore()

    @contextmanager
    def without_replacements(self) -> Iterator[None]:
        """Give torch its own functions back for a while, in all threads."""
        with self.threads.lock:
            self._aside += 1
            if self._aside == 1:
                self._was_replaced = self._is_replaced
                self._restore()
        try:
            yield
        finally:
            with self.threads.lock:
                self._aside -= 1
                if self._aside == 0 and self.log.open and self._was_replaced:
                    self._replace()

    def _replace(self) -> None:
        """Replace the functions of torch that have to be watched and bypass function modes."""
        if self._is_replaced:
            return
        self._is_replaced = True
        autograd.graph._engine_run_backward = self._run_backward  # type: ignore[assignment]
        autograd._engine_run_backward = self._run_backward  # type: ignore[attr-defined,assignment]
        self._patch_apply()
        self.compiled.start()
        torch.overrides.has_torch_function = _is_overridden  # type: ignore[assignment]
        self.modules.start()
        self.scripted.start()
        self.writes.start()
        self.optimizers.start()

    def _restore(self) -> None:
        if not self._is_replaced:
            return
        self._is_replaced = False
        self.optimizers.stop()
        self.writes.stop()
        self.scripted.stop()
        self.modules.stop()
        torch.overrides.has_torch_function = _has_torch_function
        self.compiled.stop()
        autograd.Function.apply = self._apply  # type: ignore[assignment,method-assign]
        autograd._engine_run_backward = self._engine  # type: ignore[attr-defined]
        autograd.graph._engine_run_backward = self._engine

    def release(self) -> None:
        """Free all copies now: its parts are in a reference cycle, which waits for the GC."""
        self.copies.release()

    def drop_lost_copies(self) -> None:
        """Replace copies on a lost device, which cannot be read, by their shape and dtype."""
        kept = self.log.snapshots
        for index, copy in enumerate(kept):
            if isinstance(copy, torch.Tensor) and not is_in_host_memory(copy):
                kept[index] = Snapshot(concrete_sizes(copy.shape), dtype_name(copy.dtype))

    def record_print(self, line: str) -> None:
        """Record a printed line."""
        if not (self.log.is_recording or self.loops.is_light):
            return
        if len(self.log.prints) >= self.log.print_limit:
            self.log.omitted_prints += 1
            return
        if self.loops.note_print(line):
            return
        with self.threads.lock:
            try:
                where, _ = self.source.locate(self.source.user_frame())
                self.log.print(line, where)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)

    def record_figure(self, figure: Figure) -> bool:
        """Record a figure that the program shows; return False if it is beyond the limits."""
        kept = self.log.figures
        total = figure.size + sum(item.size for item in kept)
        if len(kept) >= MAX_FIGURES or total > MAX_TOTAL_BYTES:
            return False
        if self.log.is_recording or self.loops.is_light:
            try:
                span = self.source.span(self.source.locate(self.source.user_frame())[0])
                kept.append(replace(figure, line=span[0] if span is not None else 0))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
        return True

    def _run_backward(self, outputs: object, *args: object, **kwargs: object) -> object:
        thread = self.threads.current()
        if thread is None:
            return self._engine(outputs, *args, **kwargs)
        return self.backward.run(thread, self._engine, outputs, args, kwargs)

    def _patch_apply(self) -> None:
        """Wrap ``Function.apply``, which bypasses function modes."""
        # A class method, since torch 2.14 one that is written in C.
        self._apply = original = autograd.Function.__dict__["apply"]

        def apply(cls: type[autograd.Function], *args: object, **kwargs: object) -> object:
            thread = self.threads.current()
            if thread is None or thread.is_inside_torch_function():
                return original.__get__(None, cls)(*args, **kwargs)
            bound = original.__get__(None, cls)
            return self.ops.record_opaque_call(thread, type_name(cls), bound, args, kwargs)

        autograd.Function.apply = classmethod(apply)  # type: ignore[assignment,method-assign,arg-type]


def is_in_host_memory(t: torch.Tensor) -> bool:
    """Return whether the data of ``t`` is in host memory."""
    return t.is_cpu


def _is_overridden(relevant: Iterable[object]) -> bool:
    """Return whether an argument, not only the recorder's mode, overrides torch functions.

    The transformer modules check this before they take their fast path, whose last digits differ;
    a program must take the same path with a recorder as without.
    """
    plain = torch._C._disabled_torch_function_impl
    return any(
        isinstance(arg, torch.Tensor)
        and type(arg) is not torch.Tensor
        and type(arg).__torch_function__ is not plain
        for arg in relevant
    )
