"""Original functions of torch behind a program's monkeypatches.

Torch's functions pass themselves to the recorder by their public names. After ``F.relu = counted``
the original, called by ``counted``, passes ``counted``: calling that would run it again.
"""

from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    FrameType,
    FunctionType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)

import torch
from torch import nn

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_PACKAGE = torch.__path__[0]
_IN_C = (BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType)
_OPS = torch._ops.__file__
_HANDLE_TORCH_FUNCTION = torch.overrides.handle_torch_function.__code__
_BEFORE = [
    (owner, dict(vars(owner)))
    for owner in (torch.Tensor, nn.functional, torch.functional, nn.init, torch.autograd, torch)
]
"""Namespaces in which torch looks its functions up, with their original contents."""


def is_torch_function(func: Callable[..., object]) -> bool:
    """Return whether a function is part of torch."""
    if isinstance(func, FunctionType):
        return func.__code__.co_filename.startswith(_PACKAGE)
    return isinstance(func, _IN_C)


def original_of(func: Callable[..., object], caller: FrameType) -> Callable[..., object]:
    """Return the function of torch that ``func``, which is not part of torch, replaces.

    It is ``func`` itself if it replaces none, or passes itself to the mode. ``caller`` is the frame
    that called the recorder's mode.
    """
    if caller.f_code.co_filename == _OPS:
        # A member of ``torch.ops``, as optimizers call at each step: it passes itself.
        return func
    by = caller.f_back if caller.f_code is _HANDLE_TORCH_FUNCTION else None
    if by is not None and isinstance(func, FunctionType) and by.f_code is func.__code__:
        return func
    for owner, before in _BEFORE:
        for name, current in list(vars(owner).items()):
            if current is func:
                found: object = before.get(name) or getattr(torch._C.TensorBase, name, None)
                return found if callable(found) else func
    return func
