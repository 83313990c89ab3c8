"""One recording: ``with Recorder(text, filename) as recorder: exec(code)``, then `freeze` it.

Data flow: torch function -> `forward` -> rows in `log`; backward pass -> `backward` hooks -> rows
in `log`; at the end `freeze` turns the log into a tape. The recorder computes nothing that torch
did not compute, and keeps no reference that would delay the release of the program's memory.
"""

import functools
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

import torch
from msgspec.structs import replace
from torch import autograd

from engine.errors import name_of
from engine.figures import MOST_FIGURES, Figure
from engine.record.backward import Backward, Engine
from engine.record.compiled import Compiled
from engine.record.copies import BUDGET, Copies
from engine.record.failed import Failed
from engine.record.forward import record_custom
from engine.record.lanes import Lanes
from engine.record.log import Log
from engine.record.modules import Modules
from engine.record.nodes import Nodes
from engine.record.optimizers import Optimizers
from engine.record.passes import Passes
from engine.record.scripted import Scripted
from engine.record.source import Source, Where
from engine.record.tensors import Tensors
from engine.record.tracebacks import Tracebacks
from engine.record.warned import Warned
from engine.record.writes import Writes
from engine.tape import Reset, Snapshot
from engine.untouched import keep_builtins
from engine.values import dtype_name, sizes

keep_builtins(globals())

_has_torch_function = torch.overrides.has_torch_function


class Recorder:
    """Recorder of torch calls between ``__enter__`` and ``__exit__``; the rows are in `log`."""

    def __init__(
        self, text: str, filename: str, event_limit: int = 40_000, memory: int = BUDGET
    ) -> None:
        self.log = Log(event_limit)
        self.source = Source(text, filename)
        self.copies = Copies(self.log, memory)
        self.tensors = Tensors(self.log, self.copies)
        self.nodes = Nodes(self.log, self.tensors)
        self.tensors.nodes = self.nodes
        self.lanes = Lanes(self)
        self.backward = Backward(self)
        self.nodes.hooks = self.backward.hooks
        self.writes = Writes(self)
        self.passes = Passes(self.log)
        self.copies.about_to_drop = self.passes.settle
        self.modules = Modules(self)
        self.scripted = Scripted(self)
        self.optimizers = Optimizers(self)
        self.failed = Failed(self)
        self.compiled = Compiled()
        self.tracebacks = Tracebacks()
        self.warned = Warned()
        self.until_pass: int | None = None
        """Stop the program, by raising `PassReached`, just before this backward pass."""
        self.reached_roots: list[torch.Tensor] = []
        self.at_function: tuple[int, Callable[..., None]] | None = None
        """(index of an op, callback that gets a custom Function and its arguments): the program is
        stopped, by raising `PassReached`, in place of that op."""
        self._engine: Engine = autograd.graph._engine_run_backward
        self._apply: object = None

    def __enter__(self) -> Self:
        autograd.graph._engine_run_backward = self._run_backward  # type: ignore[assignment]
        autograd._engine_run_backward = self._run_backward  # type: ignore[attr-defined,assignment]
        self._patch_apply()
        self.compiled.start()
        torch.overrides.has_torch_function = _is_overridden  # type: ignore[assignment]
        self.modules.start()
        self.scripted.start()
        self.writes.start()
        self.optimizers.start()
        self.backward.hooks.start()
        self.tracebacks.start()
        self.warned.start()
        self.lanes.start()
        self.log.writing = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.lanes.stop()
        self.log.writing = self.log.open = False
        self.warned.stop()
        self.tracebacks.stop()
        self.backward.hooks.stop()
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
        """Free all copies now: the recorder is in a reference cycle, which waits for the GC."""
        self.copies.release()

    def forget_devices(self) -> None:
        """Replace copies on a lost device, which cannot be read, by their shape and dtype."""
        kept = self.log.snapshots
        for index, copy in enumerate(kept):
            if isinstance(copy, torch.Tensor) and not is_near(copy):
                kept[index] = Snapshot(sizes(copy.shape), dtype_name(copy.dtype))

    def reset(
        self, reset: Reset, where: Where, zeroed: "Iterable[torch.Tensor | None]" = ()
    ) -> None:
        """Record that gradients were cleared; those of ``zeroed`` contain zeros from now on."""
        with self.lanes.lock:
            for t in zeroed:
                if t is not None:
                    self.backward.hooks.rewritten(t)
            self.log.resets.append(reset)
            self.log.tell("zero_grad", len(self.log.resets) - 1, where)

    def printed(self, line: str) -> None:
        """Record a printed line."""
        if not self.log.writing:
            return
        if len(self.log.prints) >= self.log.print_limit:
            self.log.unprinted += 1
            return
        where, _ = self.source.here(self.source.user_frame())
        with self.lanes.lock:
            self.log.print(line, where)

    def plotted(self, figure: Figure) -> None:
        """Record a figure that the program shows."""
        if self.log.writing and len(self.log.figures) < MOST_FIGURES:
            span = self.source.span(self.source.here(self.source.user_frame())[0])
            self.log.figures.append(replace(figure, line=span[0] if span is not None else 0))

    def _run_backward(self, outputs: object, *args: object, **kwargs: object) -> object:
        lane = self.lanes.here()
        if lane is None:
            return self._engine(outputs, *args, **kwargs)
        return self.backward.run(lane, self._engine, outputs, args, kwargs)

    def _patch_apply(self) -> None:
        """Wrap ``Function.apply``, which bypasses function modes."""
        self._apply = autograd.Function.__dict__["apply"]
        original = autograd.Function.__dict__["apply"].__func__

        def apply(cls: type[autograd.Function], *args: object, **kwargs: object) -> object:
            lane = self.lanes.here()
            if lane is None or lane.is_inside():
                return original(cls, *args, **kwargs)
            bound = functools.partial(original, cls)
            return record_custom(self, lane, name_of(cls), bound, args, kwargs)

        autograd.Function.apply = classmethod(apply)  # type: ignore[assignment,method-assign,arg-type]


def is_near(t: torch.Tensor) -> bool:
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
