"""Stand-in for ``torch.compile`` while a program is recorded: nothing is compiled.

Compiled code cannot be recorded. The results look to the program as usual: a function is returned
as it is, a module is wrapped in a module of another class under the name ``_orig_mod``.
"""

import sys
from collections.abc import Callable, Sized

import torch
from torch import nn

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())


_NEEDED_BY = ("torch._higher_order_ops.", "torch.nn.attention.")
"""Modules of torch whose results depend on it that the program's functions are compiled."""


class OptimizedModule(nn.Module):
    """Wrapper with the interface of torch's class of this name that calls the plain module."""

    # Not the recorder's replacement: only the wrapped module's own call is recorded.
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
        """The mode of the wrapped module."""
        return bool(self._orig_mod.training)

    @training.setter
    def training(self, value: bool) -> None:
        # The base class sets it first, before there is a module.
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


class CompileStub:
    """Replacement of ``torch.compile`` for one recording."""

    def start(self) -> None:
        """Replace torch's functions."""
        self._originals = torch.compile, nn.Module.compile
        torch.compile = _stand_in(torch.compile)  # type: ignore[assignment]
        nn.Module.compile = lambda *_args, **_options: None  # type: ignore[method-assign]

    def stop(self) -> None:
        """Restore torch's functions."""
        torch.compile, nn.Module.compile = self._originals  # type: ignore[method-assign]


def _stand_in(original: Callable[..., object]) -> Callable[..., object]:
    """Return a function that calls torch's own ``torch.compile`` only where torch calls it."""

    def stand_in(model: object = None, **options: object) -> object:
        caller = sys._getframe(1).f_globals.get("__name__")
        if isinstance(caller, str) and caller.startswith(_NEEDED_BY):
            return original(model, **options)
        return _compile(model, **options)

    return stand_in


def _compile(model: object = None, **options: object) -> object:
    """Stand in for ``torch.compile``, which returns a decorator if there is no model."""
    if model is None:
        decorator: Callable[[object], object] = lambda function: _compile(function, **options)  # noqa: E731
        return decorator
    return OptimizedModule(model) if isinstance(model, nn.Module) else model
