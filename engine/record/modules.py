"""Which module an op ran in: each thread keeps a stack of the module calls that are running."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import torch
from msgspec import Struct
from torch import nn
from torch.nn.parameter import is_lazy

from engine.record.log import CallRow
from engine.untouched import keep_builtins

if TYPE_CHECKING:
    from engine.record.lanes import Lane
    from engine.record.recorder import Recorder

keep_builtins(globals())

Call = Callable[..., object]


class _Known(Struct, gc=False, eq=False):
    """A module that was called: its number, and what is told of it as it was at its first call."""

    module: nn.Module
    """Held, for a module that dies would leave its ``id()`` to another one."""
    number: int
    parameters: int
    about: str
    inside: dict[int, str] | None = None
    """The way from it down to each module in it, by ``id()``."""


class Modules:
    """The module calls of one run."""

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder = recorder
        self._known: dict[int, _Known] = {}
        self._call = _call_of(nn.Module)

    def start(self) -> None:
        """Begin to watch every module of the process."""
        self._call = original = _call_of(nn.Module)
        enter, leave, here = self._enter, self._leave, self.recorder.lanes.here

        def call(module: nn.Module, *args: object, **kwargs: object) -> object:
            lane = here()
            if lane is None:
                return original(module, *args, **kwargs)
            with torch._C.DisableTorchFunction():
                index = enter(lane, module)
            out: object = None
            try:
                out = original(module, *args, **kwargs)
            finally:
                leave(lane, index, out)
            return out

        nn.Module._call_impl = call  # type: ignore[method-assign,assignment]

    def stop(self) -> None:
        """Let modules be."""
        nn.Module._call_impl = self._call  # type: ignore[method-assign]

    def _enter(self, lane: "Lane", module: nn.Module) -> int:
        recorder = self.recorder
        known = self._known.get(id(module))
        if known is None:
            # Outside the lock: these may be the program's own code.
            count, about = _count(module), module.extra_repr()
        where, _ = recorder.source.here(sys._getframe(2))
        with recorder.lanes.lock:
            name = self._path(lane, module)
            if known is None:
                known = self._known[id(module)] = _Known(module, len(self._known), count, about)
                self._name_parameters(module, name)
            calls = recorder.log.calls
            index = len(calls)
            calls.append(
                CallRow(
                    name,
                    type(module).__name__,
                    lane.calls[-1][0] if lane.calls else None,
                    known.number,
                    module.training,
                    known.parameters,
                    known.about,
                    where,
                )
            )
            lane.calls.append((index, module))
            recorder.log.tell("enter", index, where)
            return index

    def _leave(self, lane: "Lane", index: int, out: object) -> None:
        recorder = self.recorder
        lane.calls.pop()
        if recorder.writing():
            with recorder.lanes.lock:
                row = recorder.log.calls[index]
                if isinstance(out, torch.Tensor):
                    known = recorder.tensors.known(out)
                    row.result = known.id if known is not None else None
                recorder.log.tell("leave", index, row.where)

    def _path(self, lane: "Lane", module: nn.Module) -> str:
        """Return ``net.0``: the outermost module's variable and the way down from it."""
        for index, outer in reversed(lane.calls):
            name = self._inside(outer, module)
            if name is not None:
                base = self.recorder.log.calls[index].name
                return f"{base}.{name}" if name else base
        frame = self.recorder.source.user_frame()
        while frame is not None:
            for scope in (frame.f_locals, frame.f_globals):
                for name, thing in list(scope.items()):
                    if thing is module and name not in ("self", "module", "__class__"):
                        return name
            frame = frame.f_back if frame.f_code.co_name != "<module>" else None
        return type(module).__name__

    def _inside(self, outer: nn.Module, module: nn.Module) -> str | None:
        """Return the way from one module down to another; None where there is none."""
        known = self._known[id(outer)]
        if known.inside is None or id(module) not in known.inside:
            known.inside = {id(m): n for n, m in outer.named_modules()}
        return known.inside.get(id(module))

    def _name_parameters(self, module: nn.Module, path: str) -> None:
        """Give the module's own parameters and buffers their full names before they are used."""
        tensors = self.recorder.tensors
        for kind in (module._parameters, module._buffers):
            for name, t in kind.items():
                if isinstance(t, torch.Tensor) and not is_lazy(t):
                    row = tensors.known(t)
                    if row is None:
                        tensors.names[id(t)] = f"{path}.{name}"
                    elif not row.name:
                        row.name = f"{path}.{name}"


def _call_of(kind: type[nn.Module]) -> Call:
    return cast("Call", kind._call_impl)


def _count(module: nn.Module) -> int:
    """Return how many elements a module's parameters have; shared ones count once."""
    own = module._parameters.values() if not module._modules else module.parameters()
    return sum({id(p): p.numel() for p in own if p is not None and not is_lazy(p)}.values())
