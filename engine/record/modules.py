"""Which module an op ran in: torch's global module hooks keep a stack of calls."""

import sys
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.modules import module as hooks

from engine.record.log import CallRow

if TYPE_CHECKING:
    from engine.record.recorder import Recorder


class Modules:
    """The module calls of one run."""

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder = recorder
        self._stack: list[tuple[int, nn.Module]] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[nn.Module] = []
        self._names: dict[int, dict[int, str]] = {}
        self._counts: dict[int, int] = {}
        self._abouts: dict[int, str] = {}
        self._named: set[int] = set()
        self._handles: list[torch.utils.hooks.RemovableHandle] = []

    def start(self) -> None:
        """Begin to watch every module of the process."""
        self._handles = [
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
        ]

    def stop(self) -> None:
        """Take the hooks back."""
        for handle in self._handles:
            handle.remove()
        self._stack.clear()

    def scope(self) -> tuple[str, int | None]:
        """Return the path of the module that is running, and the index of its call."""
        if not self._stack:
            return "", None
        call = self._stack[-1][0]
        return self.recorder.log.calls[call].name, call

    def _enter(self, module: nn.Module, _args: object) -> None:
        recorder = self.recorder
        if recorder.blind():
            return
        with torch._C.DisableTorchFunction():
            where, _ = recorder.source.here(sys._getframe(1))
            number = self._number(module)
            row = CallRow(
                name=self._path(module),
                kind=type(module).__name__,
                parent=self._stack[-1][0] if self._stack else None,
                module=number,
                training=module.training,
                parameters=self._count(number, module),
                about=self._about(number, module),
                where=where,
            )
            index = len(recorder.log.calls)
            recorder.log.calls.append(row)
            self._stack.append((index, module))
            if number not in self._named:
                self._named.add(number)
                self._name_parameters(module, row.name)
            recorder.log.tell("enter", index, where)

    def _leave(self, module: nn.Module, _args: object, out: object) -> None:
        if not self._stack or self._stack[-1][1] is not module:
            return
        index, _ = self._stack.pop()
        row = self.recorder.log.calls[index]
        if isinstance(out, torch.Tensor):
            known = self.recorder.tensors.known(out)
            row.result = known.id if known is not None else None
        self.recorder.log.tell("leave", index, row.where)

    def _number(self, module: nn.Module) -> int:
        number = self._numbers.get(id(module))
        if number is None:
            number = self._numbers[id(module)] = len(self._kept)
            # A module that dies would leave its id() to another one.
            self._kept.append(module)
        return number

    def _path(self, module: nn.Module) -> str:
        """Return ``net.0``: the outermost module's variable and the way down from it."""
        for index, outer in reversed(self._stack):
            name = self._inside(self.recorder.log.calls[index].module, outer, module)
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

    def _inside(self, number: int, outer: nn.Module, module: nn.Module) -> str | None:
        """Return the way from one module down to another; None where there is none."""
        names = self._names.get(number)
        if names is None or id(module) not in names:
            names = self._names[number] = {id(m): n for n, m in outer.named_modules()}
        return names.get(id(module))

    def _count(self, number: int, module: nn.Module) -> int:
        count = self._counts.get(number)
        if count is None:
            parameters = [p for p in module.parameters() if not nn.parameter.is_lazy(p)]
            count = self._counts[number] = sum(p.numel() for p in parameters)
        return count

    def _about(self, number: int, module: nn.Module) -> str:
        about = self._abouts.get(number)
        if about is None:
            about = self._abouts[number] = module.extra_repr()
        return about

    def _name_parameters(self, module: nn.Module, path: str) -> None:
        """Give the module's own parameters and buffers their full names before they are used."""
        tensors = self.recorder.tensors
        for kind in (module._parameters, module._buffers):
            for name, t in kind.items():
                if isinstance(t, torch.Tensor) and not nn.parameter.is_lazy(t):
                    row = tensors.known(t)
                    if row is None:
                        tensors.names[id(t)] = f"{path}.{name}"
                    elif not row.name:
                        row.name = f"{path}.{name}"
