"""Recording of steps by a few numbers each, while torch has all its own functions.

What stays: the engine's single entry for backward passes is wrapped for the loss and the norms of
the gradients, ``Tensor.item`` for what the program reads, and torch's list of optimizer hooks for
the learning rate.
"""

import sys
import weakref
from collections.abc import Callable
from time import perf_counter_ns
from types import FrameType

import torch
from torch import autograd
from torch.optim import Optimizer
from torch.optim import optimizer as hooks

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.record.loops.columns import StepNumbers, is_bad
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.values.raw_reads import dispatch_mode_count
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

UPDATES_EVERY = 16
"""Steps between two whose updates are measured, which needs a copy of the parameters."""

_after: dict[object, object] = hooks._global_optimizer_post_hooks  # type: ignore[assignment]
_item = torch.Tensor.item
EngineCall = Callable[..., tuple[torch.Tensor, ...]]
Parameter = tuple[int, str, "weakref.ref[torch.Tensor]"]
"""Value id, name and tensor of a parameter that receives gradients."""


class LightMode:
    """The numbers of one loop's steps, while they are not recorded in full."""

    def __init__(self, source: Source, numbers: StepNumbers, parameters: list[Parameter]) -> None:
        self._source, self._numbers = source, numbers
        self._refs = [ref for _, _, ref in parameters]
        named = [(value, name) for value, name, _ in parameters]
        self._gradients = numbers.norms("gradient", named) if named else None
        self._updates = numbers.norms("update", named) if named else None
        self._old: list[torch.Tensor] = []
        """Copies of the parameters before the update of this step, if it is measured."""
        self._rates: dict[int, float] = {}
        """The rate that each optimizer, by ``id()``, had last; only another is noted."""
        self._engine: EngineCall = autograd.graph._engine_run_backward
        self._running = 0
        self._began = 0
        self.step = 0
        """The step that is running."""
        self.found_bad = False
        """True once a loss was NaN or infinite."""

    def start(self, step: int) -> None:
        """Begin with a step."""
        self.step, self._began = step, perf_counter_ns()
        autograd.graph._engine_run_backward = self._run_backward  # type: ignore[assignment]
        autograd._engine_run_backward = self._run_backward  # type: ignore[attr-defined,assignment]
        _after[self] = self._after_optimizer
        _watch_items(self._item_read)

    def stop(self) -> None:
        """Give torch its functions back."""
        _unwatch_items()
        _after.pop(self, None)
        autograd._engine_run_backward = self._engine  # type: ignore[attr-defined]
        autograd.graph._engine_run_backward = self._engine

    def end_step(self) -> None:
        """Note the numbers of the step that has ended, and begin the next."""
        now = perf_counter_ns()
        if self._old:
            self._measure_updates()
        self._numbers.time(self.step, (now - self._began) * 1e-9)
        self.step += 1
        self.restart_clock()

    def restart_clock(self) -> None:
        """Time the present step from now on."""
        self._began = perf_counter_ns()

    def _run_backward(self, outputs: object, *args: object, **kwargs: object) -> object:
        self._running += 1
        try:
            result = self._engine(outputs, *args, **kwargs)
        finally:
            self._running -= 1
        if not self._running and not dispatch_mode_count():
            grad_mode = torch.is_grad_enabled()
            torch._C._set_grad_enabled(False)
            try:
                with torch._C.DisableTorchFunction():
                    self._note_pass(outputs, sys._getframe(1))
            finally:
                torch._C._set_grad_enabled(grad_mode)
        return result

    def _note_pass(self, outputs: object, frame: FrameType) -> None:
        root = outputs[0] if isinstance(outputs, tuple | list) and outputs else outputs
        try:
            if isinstance(root, torch.Tensor) and root.numel() == 1 and not root.is_complex():
                where, _ = self._source.locate(frame)
                if root.is_cpu:
                    number = float(_item(root))
                    self._numbers.scalar("loss", where, self.step, number)
                    self.found_bad = self.found_bad or is_bad(number)
                else:
                    self._numbers.device_scalar("loss", where, self.step, root)
        except (RuntimeError, OverflowError):
            return
        if self._gradients is not None and self.step % self._numbers.norm_stride == 0:
            try:
                self._measure_gradients()
            except (RuntimeError, NotImplementedError):
                # Sparse gradients, or parameters on several devices.
                self._gradients = self._updates = None
                self._old = []

    def _measure_gradients(self) -> None:
        assert self._gradients is not None
        parameters = [t for ref in self._refs if (t := ref()) is not None]
        grads = [grad for t in parameters if (grad := t.grad) is not None]
        if len(grads) < len(self._refs):
            return
        self._gradients.add(self.step, torch._foreach_norm(grads))
        if self.step % UPDATES_EVERY == 0:
            self._old = [t.detach().clone() for t in parameters]

    def _measure_updates(self) -> None:
        old, self._old = self._old, []
        parameters = [t.detach() for ref in self._refs if (t := ref()) is not None]
        if self._updates is None or len(parameters) < len(old) or dispatch_mode_count():
            return
        try:
            with torch._C.DisableTorchFunction(), torch.no_grad():
                moved = torch._foreach_norm(torch._foreach_sub(parameters, old))
                self._updates.add(self.step, torch._foreach_div(moved, torch._foreach_norm(old)))
        except (RuntimeError, NotImplementedError):
            self._updates = None

    def _after_optimizer(self, optimizer: Optimizer, _args: object, _kwargs: object) -> None:
        try:
            groups = optimizer.param_groups
            rate = groups[0]["lr"]
            if rate == self._rates.get(id(optimizer)) and len(groups) == 1:
                return
            rates = {float(group["lr"]) for group in groups}
        except (LookupError, TypeError, ValueError, RuntimeError):
            return
        if len(rates) == 1:
            where, _ = self._source.locate(sys._getframe(1))
            self._rates[id(optimizer)] = rate = rates.pop()
            self._numbers.scalar("rate", where, self.step, rate)
            self._numbers.name("rate", where, type_name(type(optimizer)))

    def _item_read(self, number: object, frame: FrameType | None) -> None:
        if type(number) is not float and type(number) is not int:
            return
        if frame is not None and frame.f_code.co_name == "__format__":
            frame = frame.f_back
        if frame is not None and frame.f_code.co_filename == self._source.filename:
            try:
                where = frame.f_code, frame.f_lasti
                self._numbers.scalar("scalar", where, self.step, float(number))
            except OverflowError:
                return


def _watch_items(note: Callable[[object, FrameType | None], None]) -> None:
    def item(t: torch.Tensor) -> object:
        number = _item(t)
        note(number, sys._getframe(1))
        return number

    torch.Tensor.item = item  # type: ignore[method-assign,assignment]


def _unwatch_items() -> None:
    if "item" in torch.Tensor.__dict__:
        del torch.Tensor.item
