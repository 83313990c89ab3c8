"""Which function torch means, where the program has put one of its own into torch.

Torch's functions hand themselves to the recorder by their public names. After ``F.relu = counted``
the original, called by ``counted``, hands over ``counted``: to call that would run it again.
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

from engine.untouched import keep_builtins

keep_builtins(globals())

_PACKAGE = torch.__path__[0]
_IN_C = (BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType)
_OPS = torch._ops.__file__
_HANDS_OVER = torch.overrides.handle_torch_function.__code__
_BEFORE = [
    (owner, dict(vars(owner)))
    for owner in (torch.Tensor, nn.functional, torch.functional, nn.init, torch.autograd, torch)
]
"""Where torch looks its functions up by name, and what stood there."""


def is_own(func: Callable[..., object]) -> bool:
    """Tell whether a function is torch's own."""
    if isinstance(func, FunctionType):
        return func.__code__.co_filename.startswith(_PACKAGE)
    return isinstance(func, _IN_C)


def meant(func: Callable[..., object], caller: FrameType) -> Callable[..., object]:
    """Return the function of torch's that ``func``, which is not torch's own, stands in for.

    It is ``func`` itself if it replaces none, or hands itself over. ``caller`` is the frame that
    called the recorder's mode.
    """
    if caller.f_code.co_filename == _OPS:
        # One of ``torch.ops``, optimizers call some at each step: it hands itself over.
        return func
    by = caller.f_back if caller.f_code is _HANDS_OVER else None
    if by is not None and isinstance(func, FunctionType) and by.f_code is func.__code__:
        return func
    for owner, before in _BEFORE:
        for name, one in list(vars(owner).items()):
            if one is func:
                found: object = before.get(name) or getattr(torch._C.TensorBase, name, None)
                return found if callable(found) else func
    return func
