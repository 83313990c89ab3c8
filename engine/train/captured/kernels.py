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


def is_numpy_faster(operand: torch.Tensor, buffer: torch.Tensor) -> bool:
    """Return whether NumPy's tanh of a tensor is much faster than torch's; writes into ``made``.

    torch uses Intel's MKL, which does not use the vector instructions of other makers' processors.
    """
    if operand.numel() < FEWEST or operand.dtype not in (torch.float32, torch.float64):
        return False
    if not operand.is_contiguous() or not buffer.is_contiguous():
        return False
    array, result = operand.numpy(), buffer.numpy()
    by_numpy = _seconds(lambda: np.tanh(array, result))
    return TIMES * by_numpy < _seconds(lambda: torch.tanh(operand, out=buffer))


def _seconds(work: Callable[[], object]) -> float:
    """Return the minimum time of `ROUNDS` runs."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)
