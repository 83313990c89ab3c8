"""Measurements of one training step, by hooks that the modules have for that step alone."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import torch
from torch import nn

from gradscribe.engine.protocol.watch_file import WatchSample

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle

MOST_OUTPUT = 1 << 16
"""Most elements of an output that are measured: the first."""
MOST_UPDATED = 1 << 22
"""Most elements that are copied in a step to measure updates; other parameters follow in turn."""
MOST_PARAMETERS = 4096
MOST_MODULES = 512


class StepSampler:
    """Measures a step between `arm` and `finish`; in between the modules have hooks.

    All numbers stay on their device until `finish`, so that nothing waits for an accelerator.
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer | None) -> None:
        self._optimizer = optimizer
        inner = _inside(model)
        named = ((name.replace("_orig_mod.", ""), p) for name, p in inner.named_parameters())
        found = [(name, p) for name, p in named if p.requires_grad and not _is_lazy(p)]
        self.left_out = max(0, len(found) - MOST_PARAMETERS)
        """Parameters that are not measured, as there are too many."""
        self.parameters = found[:MOST_PARAMETERS]
        self.modules = list(_measured(inner))[:MOST_MODULES]
        self._handles: list[RemovableHandle] = []
        self._optimizer_handles: list[RemovableHandle] = []
        self._lasting: list[RemovableHandle] = []
        self._is_armed = False
        self._stepped: Callable[[], None] | None = None
        self._outputs: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._norms: tuple[list[torch.Tensor], list[torch.Tensor]] | None = None
        self._before: dict[int, torch.Tensor] = {}
        self._updates: dict[int, torch.Tensor] = {}
        self._turn = 0
        self.time: Callable[[Callable[[], None]], None] = lambda work: work()
        """Runs the work of a hook, and counts the time that it takes."""

    @property
    def is_armed(self) -> bool:
        """True while a step is being measured."""
        return self._is_armed

    def count(self, stepped: Callable[[], None]) -> None:
        """Call a function after each step of the optimizer, until `count_no_more`."""
        self._stepped = stepped
        if self._optimizer is not None:
            self._unhook()
            self._lasting = self._follow(self._optimizer)

    def count_no_more(self) -> None:
        """Follow the steps of the optimizer only while one is measured. Not for its hooks."""
        self._stepped = None
        for handle in self._lasting:
            handle.remove()
        self._lasting = []
        if self._is_armed:
            self._hook()

    @property
    def is_counting(self) -> bool:
        """True while the steps of the optimizer count."""
        return self._stepped is not None

    def stop(self) -> None:
        """Leave torch as it was."""
        self.disarm()
        self.count_no_more()

    def arm(self) -> None:
        """Measure the step that begins."""
        self._is_armed = True
        self._outputs, self._norms, self._updates, self._before = {}, None, {}, {}
        for number, (_, module) in enumerate(self.modules):
            self._handles.append(module.register_forward_hook(self._output_hook(number)))
        self._hook()

    def _hook(self) -> None:
        # Hooks that last are there already; within a hook of the optimizer none may be added.
        if self._optimizer is not None and not self._lasting:
            self._optimizer_handles = self._follow(self._optimizer)

    def _unhook(self) -> None:
        handles, self._optimizer_handles = self._optimizer_handles, []
        for handle in handles:
            handle.remove()

    def _follow(self, optimizer: torch.optim.Optimizer) -> "list[RemovableHandle]":
        before = optimizer.register_step_pre_hook(self._before_update)
        return [before, optimizer.register_step_post_hook(self._after_update)]

    def disarm(self) -> None:
        """Measure no more; torch has no hook of this any more, unless the steps count."""
        self._is_armed = False
        self._unhook()
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.remove()

    def finish(self, step: int) -> Callable[[], WatchSample | None]:
        """End the measurement; return a function that gives it once the device has it, else None.

        Nothing waits for it: ask again at a later step.
        """
        self.disarm()
        if self._norms is None:
            self.time(self._read_norms)
        gradients, weights = self._norms or ([], [])
        nothing = float("nan")
        updates = [self._updates.get(at, nothing) for at in range(len(self.parameters))]
        outputs = [self._outputs.get(at) for at in range(len(self.modules))]
        means = [nothing if pair is None else pair[1] for pair in outputs]
        spreads = [nothing if pair is None else pair[0] for pair in outputs]
        rows = [_Column(column) for column in (gradients, weights, updates, means, spreads)]
        rate = self.rate
        self._outputs, self._norms, self._updates, self._before = {}, None, {}, {}

        def sample() -> WatchSample | None:
            if not all(row.is_there for row in rows):
                return None
            return WatchSample(step, rate, *(row.data() for row in rows))

        return sample

    @property
    def rate(self) -> float:
        """The learning rate of the first parameter group; NaN without an optimizer."""
        groups = self._optimizer.param_groups if self._optimizer is not None else []
        rate = groups[0].get("lr") if groups else None
        if isinstance(rate, torch.Tensor):
            return float(rate) if rate.device.type == "cpu" else float("nan")
        return float(rate) if isinstance(rate, int | float) else float("nan")

    def _output_hook(self, number: int) -> Callable[[nn.Module, object, object], None]:
        def hook(_module: nn.Module, _args: object, output: object) -> None:
            if number not in self._outputs and not _is_special():
                self.time(lambda: self._read_output(number, output))

        return hook

    def _read_output(self, number: int, output: object) -> None:
        found = _first_tensor(output)
        if found is None or not found.numel():
            return
        with _unseen():
            some = _some(found.detach())
            some = some.abs() if some.is_complex() else some
            self._outputs[number] = torch.std_mean(some.float(), correction=0)

    def _before_update(self, *_: object) -> None:
        if self._is_armed and not _is_special():
            self.time(self._read_norms)
            self.time(self._copy_some)

    def _after_update(self, *_: object) -> None:
        if self._before and not _is_special():
            self.time(self._compare)
        if self._stepped is not None:
            self._stepped()

    def _read_norms(self) -> None:
        """Measure all gradients and parameters, in a call of torch for each device and dtype."""
        with _unseen():
            plain = [p.detach() for _, p in self.parameters]
            scale = getattr(self._optimizer, "grad_scale", None)
            grads = [p.grad for _, p in self.parameters]
            norms = _norms(grads)
            if isinstance(scale, torch.Tensor):
                norms = [norm / scale.to(norm.device) for norm in norms]
            self._norms = norms, _norms(plain)

    def _copy_some(self) -> None:
        """Copy as many parameters as a step may, after those of the step before."""
        with _unseen():
            room, self._before = MOST_UPDATED, {}
            for _ in self.parameters:
                at = self._turn % len(self.parameters)
                part = _flat(self.parameters[at][1])
                if self._before and part.numel() > room:
                    break
                room -= part.numel()
                self._before[at] = part.clone()
                self._turn = at + 1

    def _compare(self) -> None:
        before, self._before = self._before, {}
        with _unseen():
            now = [_flat(self.parameters[at][1]) for at in before]
            old = list(before.values())
            changes = _norms([new - was for new, was in zip(now, old, strict=True)])
            for at, change, size in zip(before, changes, _norms(old), strict=True):
                self._updates[at] = change / size


class _Column:
    """Numbers of tensors on several devices, on their way to the processor."""

    def __init__(self, numbers: "list[torch.Tensor] | list[torch.Tensor | float]") -> None:
        self._size = len(numbers)
        self._parts: list[tuple[list[int], torch.Tensor]] = []
        self._events: list[torch.cuda.Event] = []
        by_device: dict[torch.device, list[int]] = {}
        for at, number in enumerate(numbers):
            if isinstance(number, torch.Tensor):
                by_device.setdefault(number.device, []).append(at)
        with _unseen():
            for device, places in by_device.items():
                stacked = torch.stack([numbers[at].float() for at in places])  # type: ignore[union-attr]
                if device.type == "cuda":
                    pinned = torch.empty(len(places), pin_memory=True)
                    stacked = pinned.copy_(stacked, non_blocking=True)
                    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
                    event.record(torch.cuda.current_stream(device))
                    self._events.append(event)
                self._parts.append((places, stacked))

    @property
    def is_there(self) -> bool:
        """True once every number has arrived."""
        return all(event.query() for event in self._events)  # type: ignore[no-untyped-call]

    def data(self) -> bytes:
        """Return the numbers as little-endian float32."""
        import numpy as np

        row = np.full(self._size, np.nan, "<f4")
        for places, numbers in self._parts:
            row[places] = numbers.cpu().numpy()
        return row.tobytes()


def _measured(model: nn.Module, path: str = "") -> Iterator[tuple[str, nn.Module]]:
    """Yield the modules without modules of their own; what is compiled or scripted is taken whole.

    Hooks inside of it would be compiled as well, or never be called.
    """
    is_whole = isinstance(model, torch.jit.ScriptModule) or is_compiled(model)
    children = [] if is_whole else list(model.named_children())
    if not children or isinstance(model, nn.MultiheadAttention):
        yield path or type(getattr(model, "_orig_mod", model)).__name__, model
        return
    for name, child in children:
        yield from _measured(child, f"{path}.{name}" if path else name)


def _inside(model: nn.Module) -> nn.Module:
    """Return the model that a wrapper for several devices has inside."""
    kinds = ("DistributedDataParallel", "DataParallel")
    inside = getattr(model, "module", None)
    is_wrapper = type(model).__name__ in kinds and isinstance(inside, nn.Module)
    return inside if is_wrapper and isinstance(inside, nn.Module) else model


def is_compiled(module: nn.Module) -> bool:
    """Return whether a module was given to ``torch.compile``."""
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None


def _norms(tensors: "list[torch.Tensor | None] | list[torch.Tensor]") -> list[torch.Tensor]:
    """Return the norm of each tensor; NaN where there is none, or where it is sparse."""
    found = [torch.full((), float("nan")) for _ in tensors]
    groups: dict[tuple[torch.device, torch.dtype], list[int]] = {}
    for at, tensor in enumerate(tensors):
        if tensor is not None and tensor.layout is torch.strided and tensor.device.type != "meta":
            groups.setdefault((tensor.device, tensor.dtype), []).append(at)
    for (_, dtype), places in groups.items():
        same = [t for at in places if (t := tensors[at]) is not None]
        if dtype in (torch.float16, torch.bfloat16):
            norms = [torch.linalg.vector_norm(t, dtype=torch.float32) for t in same]
        else:
            norms = list(torch._foreach_norm(same))
        for at, norm in zip(places, norms, strict=True):
            found[at] = norm
    return found


def _flat(parameter: torch.Tensor) -> torch.Tensor:
    """Return the first elements of a parameter, as many as may be copied."""
    plain = parameter.detach()
    if plain.layout is not torch.strided:
        return plain.new_empty(0)
    return plain.view(-1)[:MOST_UPDATED] if plain.is_contiguous() else _some(plain)


def _some(tensor: torch.Tensor) -> torch.Tensor:
    """Return at most `MOST_OUTPUT` of the first elements, without copying all."""
    while tensor.numel() > MOST_OUTPUT and tensor.dim() and not tensor.is_contiguous():
        if len(tensor) == 1:
            tensor = tensor[0]
        else:
            tensor = tensor[: max(1, len(tensor) * MOST_OUTPUT // tensor.numel())]
    return tensor.reshape(-1)[:MOST_OUTPUT]


def _first_tensor(output: object) -> torch.Tensor | None:
    if isinstance(output, torch.Tensor):
        is_plain = output.layout is torch.strided and not output.is_nested
        return output if is_plain and output.device.type != "meta" else None
    parts = output.values() if isinstance(output, dict) else output
    if not isinstance(output, tuple | list | dict):
        return None
    return next((t for part in parts if (t := _first_tensor(part)) is not None), None)  # type: ignore[attr-defined]


def _is_lazy(parameter: torch.Tensor) -> bool:
    return nn.parameter.is_lazy(parameter)


def _is_special() -> bool:
    """Return whether torch compiles or captures what runs here, which is then not measured."""
    if torch.compiler.is_compiling():
        return True
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


class _unseen:
    """No gradients, no autocast, and no modes of the user's or of a recording."""

    def __enter__(self) -> None:
        self._function = torch._C.DisableTorchFunction()
        self._function.__enter__()
        self._grad = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def __exit__(self, *_: object) -> None:
        torch.set_grad_enabled(self._grad)
        self._function.__exit__(None, None, None)
