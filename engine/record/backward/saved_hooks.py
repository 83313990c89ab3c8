"""The program's hooks on saved tensors, which some releases of torch do not tell of.

Before 2.7 torch has no function that returns the hooks that are active; they are counted as they
are set instead, in each thread, as torch does.
"""

import threading
from collections.abc import Callable
from typing import Any

import torch

_C: Any = torch._C._autograd


class _Count(threading.local):
    """Number of hooks that are active in a thread."""

    active = 0


_count = _Count()


def _count_hooks() -> None:
    push: Callable[..., None] = _C._push_saved_tensors_default_hooks
    pop: Callable[[], None] = _C._pop_saved_tensors_default_hooks

    def counted_push(*hooks: object) -> None:
        push(*hooks)
        _count.active += 1

    def counted_pop() -> None:
        pop()
        _count.active -= 1

    _C._push_saved_tensors_default_hooks = counted_push
    _C._pop_saved_tensors_default_hooks = counted_pop


if hasattr(_C, "_top_saved_tensors_default_hooks"):

    def has_saved_hooks() -> bool:
        """Return whether hooks on saved tensors are active in this thread."""
        found: object = _C._top_saved_tensors_default_hooks(True)
        return found is not None

else:
    _count_hooks()

    def has_saved_hooks() -> bool:
        """Return whether hooks on saved tensors are active in this thread."""
        return _count.active > 0
