"""What ``torch.compile`` gives while a program is recorded: the same, computed as plain code.

Compiled code cannot be watched. What is compiled looks to the program as ever: a function as
itself, a module is held by one of another class, under another name.
"""

from collections.abc import Callable, Sized

import torch
from torch import nn

from engine.untouched import keep_builtins

keep_builtins(globals())


class OptimizedModule(nn.Module):
    """Stands for a module as torch's class of this name does, but calls it as it is."""

    # Not the one that the recorder puts in its place: the module's own call is what is watched.
    _call_impl = nn.Module._call_impl
    _orig_mod: nn.Module

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._modules["_orig_mod"] = module

    def forward(self, *args: object, **kwargs: object) -> object:
        """Call the module."""
        return self._orig_mod(*args, **kwargs)

    @property
    def training(self) -> bool:
        """The module's own."""
        return bool(self._orig_mod.training)

    @training.setter
    def training(self, value: bool) -> None:
        # The base class sets it first of all, when there is no module yet.
        if "_modules" in self.__dict__:
            self._orig_mod.training = value

    def __getattr__(self, name: str) -> torch.Tensor | nn.Module:
        module = self.__dict__.get("_modules", {}).get("_orig_mod")
        if module is None:
            raise AttributeError(name)
        found: torch.Tensor | nn.Module = module if name == "_orig_mod" else getattr(module, name)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(type(self), name):
            super().__setattr__(name, value)  # type: ignore[arg-type]
        else:
            setattr(self._orig_mod, name, value)

    def __len__(self) -> int:
        if isinstance(self._orig_mod, Sized):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._orig_mod,)


class Compiled:
    """Replaces ``torch.compile`` for one recording."""

    def __init__(self) -> None:
        self._plain = torch.compile, nn.Module.compile

    def start(self) -> None:
        """Begin to hand out what can be watched."""
        self._plain = torch.compile, nn.Module.compile
        torch.compile = _compile  # type: ignore[assignment]
        nn.Module.compile = lambda *_args, **_options: None  # type: ignore[method-assign]

    def stop(self) -> None:
        """Leave torch as it was."""
        torch.compile, nn.Module.compile = self._plain  # type: ignore[method-assign]


def _compile(model: object = None, **options: object) -> object:
    """Stand in for ``torch.compile``, which without a model gives a decorator."""
    if model is None:
        decorator: Callable[[object], object] = lambda function: _compile(function, **options)  # noqa: E731
        return decorator
    return OptimizedModule(model) if isinstance(model, nn.Module) else model
