"""Things that are no tensors but stand for some: they have a ``__torch_function__`` of their own.

Torch asks the recorder's mode before them and has put the mode aside while it deals with the call;
what they in turn call would not be heard. So they are asked from here, with the mode in force.
"""

from collections.abc import Callable, Iterator

import torch
from torch.overrides import TorchFunctionMode

from engine.untouched import keep_builtins

keep_builtins(globals())

Types = tuple[type, ...]
"""Those among a call's arguments that override torch's functions."""


def are_lookalikes(types: Types) -> bool:
    """Tell whether no tensor has a say in a call."""
    return not any(issubclass(one, torch.Tensor) for one in types)


def ask(
    mode: TorchFunctionMode,
    func: Callable[..., object],
    types: Types,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """Return what the first of a call's arguments that answers makes of it.

    Raises torch's own error where none does; for that they are asked again.
    """
    asked: set[type] = set()
    for one in _given((args, kwargs), types):
        if type(one) not in asked:
            asked.add(type(one))
            answer: Callable[..., object] = one.__torch_function__  # type: ignore[attr-defined]
            with mode:
                out = answer(func, types, args, kwargs)
            if out is not NotImplemented:
                return out
    return func(*args, **kwargs)


def _given(thing: object, types: Types, depth: int = 0) -> Iterator[object]:
    """Yield what is of one of these types, the way torch looks for it: into lists, not deeper."""
    if type(thing) in types:
        yield thing
    elif depth < 3 and isinstance(thing, tuple | list):
        for one in thing:
            yield from _given(one, types, depth + 1)
    elif depth < 2 and isinstance(thing, dict):
        yield from _given(list(thing.values()), types, depth)
