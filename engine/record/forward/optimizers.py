"""Optimizer steps and gradient resets, recorded as single events instead of many small ops."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer
from torch.optim import optimizer as hooks

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.tape import Change, Memory, Reset
from gradscribe.engine.record.log import CodeLocation, Log, StepRow, ValueRow
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.record.values.copies import SnapshotStore
from gradscribe.engine.record.values.tensors import Tensors
from gradscribe.engine.record.writes import Writes
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_before: dict[object, object] = hooks._global_optimizer_pre_hooks  # type: ignore[assignment]
_after: dict[object, object] = hooks._global_optimizer_post_hooks  # type: ignore[assignment]
"""Called before and after each step of any optimizer."""
MOST_STATE_ELEMENTS = 2048
"""Maximum number of elements of an optimizer's state that are copied at each step."""


@dataclass(eq=False)
class Optimizers:
    """The optimizer steps of one run."""

    log: Log
    source: Source
    threads: RecordedThreads
    copies: SnapshotStore
    tensors: Tensors
    writes: Writes
    _restore: list[tuple[type, Callable[..., None]]] = field(default_factory=list)

    def start(self) -> None:
        """Begin to watch every optimizer of the process.

        Not by torch's API: its handles take a tenth of the time of an empty recording.
        """
        _before[self], _after[self] = self._pre, self._post
        for kind in (Optimizer, nn.Module):
            self._restore.append((kind, kind.zero_grad))
            kind.zero_grad = self._wrapped(kind.zero_grad)  # type: ignore[method-assign]

    def stop(self) -> None:
        """Remove the hooks."""
        del _before[self], _after[self]
        for kind, original in self._restore:
            kind.zero_grad = original  # type: ignore[attr-defined]
        self._restore.clear()

    def _pre(self, optimizer: Optimizer, _args: object, _kwargs: object) -> None:
        thread = self.threads.current()
        if thread is None:
            return
        with torch._C.DisableTorchFunction(), self.threads.lock:
            try:
                tensors, owned = self.tensors, _parameters(optimizer)
                thread.steps.append([(p, tensors.value(p, None)) for p in owned])
                if self.log.is_recording:
                    where, _ = self.source.locate(sys._getframe(1))
                    self.writes.gradients([(p, None) for p in owned], where)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)

    def _post(self, optimizer: Optimizer, _args: object, _kwargs: object) -> None:
        thread = self.threads.current()
        if thread is None or not thread.steps:
            return
        with torch._C.DisableTorchFunction(), self.threads.lock:
            try:
                where, _ = self.source.locate(sys._getframe(1))
                self._stepped(optimizer, thread.steps.pop(), where)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)

    def _stepped(
        self, optimizer: Optimizer, owned: list[tuple[torch.Tensor, ValueRow]], where: CodeLocation
    ) -> None:
        """Record a step; ``owned`` has the parameters and their values before it."""
        changes: list[Change] = []
        for p, before in owned:
            row = self.tensors.known(p)
            if row is not None and self.tensors.differs(p, row):
                row = self.tensors.add(p, row.where, maker=row.maker)
            # The step's closure may have recorded the new value already.
            if row is not None and row.id != before.id:
                changes.append(Change(before.id, row.id))
        rates = {float(g["lr"]) for g in optimizer.param_groups if "lr" in g}
        lr = rates.pop() if len(rates) == 1 else None
        parameters = tuple(row.tensor for _, row in owned)
        number = self.log.optimized_tensors.setdefault(parameters, len(self.log.optimized_tensors))
        memory = self._memory(optimizer, [p for p, _ in owned])
        step = StepRow(type_name(type(optimizer)), where, changes, lr, number, memory)
        self.log.steps.append(step)
        self.log.add_event("step", len(self.log.steps) - 1, where)

    def _memory(self, optimizer: Optimizer, owned: list[torch.Tensor]) -> list[Memory]:
        """Copy the optimizer's state of its parameters, up to `MOST_STATE_ELEMENTS` elements."""
        found: list[Memory] = []
        left = MOST_STATE_ELEMENTS
        for p in owned:
            row = self.tensors.known(p)
            kept = optimizer.state.get(p) if row is not None else None
            if row is None or not isinstance(kept, dict):
                continue
            for name, t in kept.items():
                if isinstance(name, str) and isinstance(t, torch.Tensor) and t.numel() <= left:
                    left -= t.numel()
                    found.append((row.id, name, self.copies.keep(t)))
        return found

    def _wrapped(self, original: Callable[..., None]) -> Callable[..., None]:
        def zero_grad(owner: Optimizer | nn.Module, set_to_none: bool = True) -> None:
            thread = self.threads.current()
            if thread is None:
                return original(owner, set_to_none=set_to_none)
            with torch._C.DisableTorchFunction(), self.threads.lock:
                try:
                    with_grad = [p for p in _parameters(owner) if p.grad is not None]
                    leaves = tuple(self.tensors.value(p, None).id for p in with_grad)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                    self.log.stop_on_error(error)
                    return original(owner, set_to_none=set_to_none)
            thread.quiet += 1
            try:
                original(owner, set_to_none=set_to_none)
            finally:
                thread.quiet -= 1
            # Regardless of the argument: without gradients torch does not use it.
            to_none = bool(with_grad) and bool(set_to_none)
            with torch._C.DisableTorchFunction():
                try:
                    where, _ = self.source.locate(sys._getframe(1))
                    self.writes.record_reset(
                        Reset(leaves, to_none), where, () if to_none else with_grad
                    )
                except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                    self.log.stop_on_error(error)
            return None

        return zero_grad


def _parameters(owner: Optimizer | nn.Module) -> list[torch.Tensor]:
    if isinstance(owner, nn.Module):
        return [p for p in owner.parameters() if not is_lazy(p)]
    groups: Iterable[dict[str, list[torch.Tensor]]] = owner.param_groups
    return [p for group in groups for p in group["params"] if not is_lazy(p)]
