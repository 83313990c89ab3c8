"""Bypass the profiler annotations that torch puts around an optimizer's calls.

They take about a fifth of a small model's step (docs/BENCH.md), and do not affect the results.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import torch
from torch.optim import Optimizer
from torch.optim import optimizer as optim

Call = Callable[..., object]


@contextmanager
def unprofiled(optimizer: Optimizer) -> Iterator[None]:
    """Remove profiler annotations from ``optimizer.step()`` and ``zero_grad()`` within the context.

    The update is torch's own function without its wrapper. Anything observable is preserved: hooks,
    a running profiler, the step counter of a schedule.
    """
    kind, attributes = type(optimizer), vars(optimizer)
    replaced: dict[str, Call] = {}
    # torch's wrapper is marked as such; another wrapper, as a schedule's, is left in place.
    if "step" not in attributes and getattr(kind.step, "hooked", False):
        replaced["step"] = _step(optimizer)
    if "zero_grad" not in attributes and kind.zero_grad is Optimizer.zero_grad:
        replaced["zero_grad"] = _zero_grad(optimizer)
    attributes.update(replaced)
    try:
        yield
    finally:
        for name in replaced:
            attributes.pop(name, None)


def _step(optimizer: Optimizer) -> Call:
    annotated = cast("Call", type(optimizer).step)
    update = cast("Call", annotated.__wrapped__)  # type: ignore[attr-defined]
    hooks = (optimizer._optimizer_step_pre_hooks, optimizer._optimizer_step_post_hooks)
    every = (optim._global_optimizer_pre_hooks, optim._global_optimizer_post_hooks)
    records = torch.autograd._profiler_enabled  # type: ignore[attr-defined]

    def step(*args: object, **kwargs: object) -> object:
        if any(hooks) or any(every) or records():
            return annotated(optimizer, *args, **kwargs)
        return update(optimizer, *args, **kwargs)

    return step


def _zero_grad(optimizer: Optimizer) -> Call:
    records = torch.autograd._profiler_enabled  # type: ignore[attr-defined]

    def zero_grad(*args: object, **kwargs: object) -> None:
        if args or kwargs or records():
            Optimizer.zero_grad(optimizer, *args, **kwargs)  # type: ignore[arg-type]
            return
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    return zero_grad
