"""Doors of libraries that stand open to every program, shut once for the whole process.

Some lead from a value to any name or address of the program's choice: nobody could look at that on
its way. What is shut has no good use; it is shut for trusted programs too, and tells them so.
The frames of these functions do not show in a program's tracebacks: see `engine.record.tracebacks`.
"""

import typing
from collections.abc import Callable

import torch
from torch import nn

ASKED = ("__array_interface__", "__array_struct__", "__cuda_array_interface__", "__deepcopy__")
"""What NumPy, torch and copying ask an object itself for: an address, or what it is made from."""


class Closed:
    """An attribute that is not there, whatever an object's own dict says."""

    def __get__(self, one: object, owner: type | None = None) -> object:
        raise AttributeError("closed by the policy")

    def __set__(self, one: object, value: object) -> None:
        raise AttributeError("closed by the policy")


def close(made: type) -> None:
    """Keep the objects of a new class from telling NumPy and torch of an address."""
    if typing.Protocol in made.__mro__:
        # It would count them among what it asks for, but for those of the first of all protocols.
        made = typing.Protocol
    for name in ASKED:
        if not hasattr(made, name):
            type.__setattr__(made, name, Closed())


def _modules() -> None:
    """Let no module answer for names that Python, NumPy and copying ask for.

    A part may be called anything. Called ``__array_interface__`` or ``__deepcopy__``, it would tell
    NumPy where to read, or copying what to make; and no part has such a name for a good reason.
    """
    ask = nn.Module.__getattr__

    def __getattr__(self: nn.Module, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return ask(self, name)

    nn.Module.__getattr__ = __getattr__  # type: ignore[method-assign, assignment]


def without_address(make: Callable[..., object]) -> Callable[..., object]:
    """Return a maker of tensors that takes no address of one for granted.

    Torch's old constructors make a tensor of whatever lies at ``cdata``.
    """

    def made(*args: object, **words: object) -> object:
        if "cdata" in words:
            raise TypeError("a tensor is not made from an address")
        return make(*args, **words)

    return made


def _tensors() -> None:
    torch.Tensor.__new__ = without_address(torch.Tensor.__new__)  # type: ignore[method-assign, assignment]


_modules()
_tensors()
