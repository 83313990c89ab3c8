"""What a module of the user's keeps in plain attributes: counters, warm-ups, a state between steps.

They decide the run as weights do, and no ``state_dict`` has them.
"""

import copy
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from engine.train.program import Program

Kept = list[dict[str, object]]
"""By module, in the order of ``modules()``: attributes and what they are."""
MOST_ITEMS = 10_000
"""Longer lists are left alone: each checkpoint would copy them."""
_TORCHS = frozenset(vars(nn.Module()))
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_HOLDS = (list, tuple, set, frozenset, dict, deque)


def kept(program: Program) -> Kept:
    """Return the attributes of the run's modules; none of a model of ours, which has none."""
    return of(program.model) if program.setup.model.name == "own" else []


def of(model: nn.Module) -> Kept:
    """Return the attributes of a model's modules: plain values, lists of such, loose tensors."""
    found = []
    for module in model.modules():
        items = [item for item in vars(module).items() if item[0] not in _TORCHS]
        found.append({name: _copied(value) for name, value in items if _is_kept(value)})
    return found


def _is_kept(value: object) -> bool:
    if isinstance(value, torch.Tensor):
        # One that belongs to a graph would hold all of it in memory.
        return not value.requires_grad
    return _size(value, MOST_ITEMS) <= MOST_ITEMS


def _size(value: object, most: int) -> int:
    """Return how many plain values there are, more than ``most`` where others are among them."""
    if isinstance(value, _PLAIN):
        return 1
    if not isinstance(value, _HOLDS) or len(value) > most:
        return most + 1
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    size = 1
    for part in parts:
        size += _size(part, most - size)
        if size > most:
            break
    return size


def _copied(value: object) -> object:
    return copy.deepcopy(value) if isinstance(value, _HOLDS) else value


def put_back(model: nn.Module, saved: Kept) -> None:
    """Give the modules the attributes that they had; nothing was saved of a model of ours."""
    for module, before in zip(model.modules(), saved, strict=False):
        now = vars(module)
        for name in [name for name in now if name not in _TORCHS and name not in before]:
            if _is_kept(now[name]):
                del now[name]
        now.update({name: _copied(value) for name, value in before.items()})


def changed(before: Kept, after: Kept) -> str:
    """Return the first plain attribute that is another now; empty where there is none.

    Tensors do not count: to keep a layer's output in one, to look at it, changes nothing.
    """
    for one, other in zip(before, after, strict=True):
        for name in sorted(one.keys() | other.keys()):
            pair = one.get(name), other.get(name)
            if not any(isinstance(v, torch.Tensor) for v in pair) and repr(pair[0]) != repr(
                pair[1]
            ):
                return name
    return ""


Buffers = list[tuple[nn.Module, str, torch.Tensor, torch.Tensor]]


def buffers_of(model: nn.Module) -> Buffers:
    """Return each buffer with its module and name, and a copy of its numbers."""
    return [
        (module, name, buffer, buffer.detach().clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]


@torch.no_grad()
def put_buffers_back(saved: Buffers) -> None:
    """Give modules the very buffers that they had: a forward may have put others in their place.

    Those may be of a transform that has ended (``vmap``), and hold no numbers any more.
    """
    for module, name, buffer, before in saved:
        module._buffers[name] = buffer
        buffer.copy_(before)


@contextmanager
def untouched(program: Program) -> Iterator[None]:
    """Leave attributes and buffers of the user's modules as they are, whatever runs them."""
    attributes = kept(program)
    is_own = program.setup.model.name == "own"
    buffers = buffers_of(program.model) if is_own else []
    try:
        yield
    finally:
        put_back(program.model, attributes)
        put_buffers_back(buffers)
