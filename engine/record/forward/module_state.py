"""The state of a module as its API reports it: parameters, buffers, and the hooks on it."""

from collections.abc import Callable, Mapping
from functools import cache

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.tape import StateEntry

MAX_ENTRIES = 1000
"""Most tensors that are listed of a module; a larger one is listed once, and cut."""
MAX_HOOKS = 20
HOOKS = {
    "_forward_pre_hooks": "forward_pre",
    "_forward_hooks": "forward",
    "_backward_pre_hooks": "full_backward_pre",
    "_backward_hooks": "full_backward",
}
"""Attribute of a module -> the name in ``register_..._hook``."""


def entries(module: nn.Module) -> tuple[StateEntry, ...]:
    """Return the parameters and buffers of a module and of those inside it, as in `state_dict`."""
    found: list[StateEntry] = []
    for prefix, inner in module.named_modules():
        path = f"{prefix}." if prefix else ""
        unsaved = inner._non_persistent_buffers_set
        tensors = [(name, t, "parameter") for name, t in inner._parameters.items()]
        tensors += [
            (name, t, "unsaved buffer" if name in unsaved else "buffer")
            for name, t in inner._buffers.items()
        ]
        for name, tensor, kind in tensors:
            if tensor is None or is_lazy(tensor):
                continue
            if len(found) >= MAX_ENTRIES:
                return tuple(found)
            found.append(
                StateEntry(
                    path + name,
                    kind,
                    tuple(tensor.shape),
                    _dtype(tensor.dtype),
                    _device(tensor.device),
                    tensor.requires_grad,
                )
            )
    return tuple(found)


@cache
def _dtype(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@cache
def _device(device: torch.device) -> str:
    return str(device)


def hooks(module: nn.Module) -> tuple[str, ...]:
    """Return the hooks on a module by what they are called after: ``forward: log_shape``."""
    found = []
    for attribute, kind in HOOKS.items():
        registered: Mapping[int, Callable[..., object]] = getattr(module, attribute, None) or {}
        found += [f"{kind}: {_name(hook)}" for hook in registered.values()]
    return tuple(found[:MAX_HOOKS])


def _name(hook: Callable[..., object]) -> str:
    name = getattr(hook, "__name__", None)
    return name if isinstance(name, str) else type_name(type(hook))
