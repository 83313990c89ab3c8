"""Which of two libraries computes something sooner on this machine."""

import time
from collections.abc import Callable

import numpy as np
import torch

FEWEST = 4096
"""Numbers from which on it can matter."""
TIMES = 2.5
"""So many times as quick NumPy must be: its tanh may differ from torch's in the last bit."""
ROUNDS = 5


def numpy_pays(given: torch.Tensor, made: torch.Tensor) -> bool:
    """Whether NumPy's tanh of a tensor is much quicker than torch's; ``made`` takes its numbers.

    torch leaves it to Intel's MKL, which on processors of other makers does without their vector
    instructions.
    """
    if given.numel() < FEWEST or given.dtype not in (torch.float32, torch.float64):
        return False
    if not given.is_contiguous() or not made.is_contiguous():
        return False
    ours, theirs = given.numpy(), made.numpy()
    by_numpy = _seconds(lambda: np.tanh(ours, theirs))
    return TIMES * by_numpy < _seconds(lambda: torch.tanh(given, out=made))


def _seconds(work: Callable[[], object]) -> float:
    """Return how long something takes at least."""
    found = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return min(found)
