"""Tensor-like objects: no tensors, but with a ``__torch_function__`` of their own.

Torch calls the recorder's mode first and disables the mode while it handles the call, so that calls
made by the objects' ``__torch_function__`` would not be recorded. So it is called from here, with
the mode enabled.
"""

from collections.abc import Callable, Iterator

import torch
from torch.overrides import TorchFunctionMode

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

Types = tuple[type, ...]
"""Types of a call's arguments that override torch functions."""


def are_tensor_likes(types: Types) -> bool:
    """Return whether no tensor type is among the overriding types."""
    return not any(issubclass(kind, torch.Tensor) for kind in types)


def dispatch_to_tensor_like(
    mode: TorchFunctionMode,
    func: Callable[..., object],
    types: Types,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """Return the result of the first argument whose ``__torch_function__`` handles the call.

    If none does, torch raises its own error; for that it calls them once more.
    """
    called: set[type] = set()
    for thing in _overriding((args, kwargs), types):
        if type(thing) not in called:
            called.add(type(thing))
            handler: Callable[..., object] = thing.__torch_function__  # type: ignore[attr-defined]
            with mode:
                out = handler(func, types, args, kwargs)
            if out is not NotImplemented:
                return out
    return func(*args, **kwargs)


def _overriding(thing: object, types: Types, depth: int = 0) -> Iterator[object]:
    """Yield arguments of these types as torch looks for them: in lists, but not deeper."""
    if type(thing) in types:
        yield thing
    elif depth < 3 and isinstance(thing, tuple | list):
        for item in thing:
            yield from _overriding(item, types, depth + 1)
    elif depth < 2 and isinstance(thing, dict):
        yield from _overriding(list(thing.values()), types, depth)
