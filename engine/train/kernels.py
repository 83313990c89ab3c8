"""Benchmark torch's tanh against NumPy's on this machine."""

import time
from collections.abc import Callable

import numpy as np
import torch

FEWEST = 4096
"""Minimum size for which it matters."""
TIMES = 2.5
"""Minimum speedup by NumPy, whose tanh may differ from torch's in the last bit."""
ROUNDS = 5


def numpy_pays(given: torch.Tensor, made: torch.Tensor) -> bool:
    """Return whether NumPy's tanh of a tensor is much faster than torch's; writes into ``made``.

    torch uses Intel's MKL, which does not use the vector instructions of other makers' processors.
    """
    if given.numel() < FEWEST or given.dtype not in (torch.float32, torch.float64):
        return False
    if not given.is_contiguous() or not made.is_contiguous():
        return False
    ours, theirs = given.numpy(), made.numpy()
    by_numpy = _seconds(lambda: np.tanh(ours, theirs))
    return TIMES * by_numpy < _seconds(lambda: torch.tanh(given, out=made))


def _seconds(work: Callable[[], object]) -> float:
    """Return the minimum time of `ROUNDS` runs."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)
