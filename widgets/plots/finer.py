"""A grid of numbers made finer, for colours: between them, not between their colours.

Where a colour turns, as from one side of a boundary to the other, a picture that is only scaled has
steps as big as the grid's cells.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", np.float32, np.float64)
LEAST = np.float32(1e-37)
"""A probability below it is taken for it: of 0 there is no logarithm."""


def finer(grid: NDArray[T], times: int) -> NDArray[T]:
    """Return ``times`` as many rows and columns, bilinear between the middles of the cells.

    ``times`` is odd: the middle of each cell is as it was. A grid with anything that is not finite
    stays as coarse as it is: that would spread.
    """
    if not np.isfinite(grid).all():
        return grid
    return _along(_along(grid, times, 0), times, 1)


def _along(grid: NDArray[T], times: int, axis: int) -> NDArray[T]:
    edge = [(0, 0)] * grid.ndim
    edge[axis] = (1, 1)
    # Along the axis as the first one: before, in and after each cell.
    wide: NDArray[T] = np.moveaxis(np.pad(grid, edge, mode="edge"), axis, 0)
    before, after = wide[:-2], wide[2:]
    here: NDArray[T] = wide[1:-1]
    made: NDArray[T] = np.empty((times * len(here), *here.shape[1:]), grid.dtype)
    for phase in range(times):
        away = (phase - times // 2) / times
        beside = after if away > 0 else before
        made[phase::times] = here + np.float32(abs(away)) * (beside - here)
    return np.moveaxis(made, 0, axis)


def finer_logits(logits: NDArray[np.float32], times: int) -> NDArray[np.float32]:
    """Return the tanh of half the finer logits, from -1 to 1.

    Where a model is sure, the tanh of every cell is one of the ends: between two of them it would
    be 0 in the middle, wherever the boundary lies, and that would have a step at each cell.
    """
    made: NDArray[np.float32] = np.tanh(finer(logits, times) / 2)
    return made


def finer_chances(chances: NDArray[np.float32], times: int) -> NDArray[np.float32]:
    """Return the finer (H, W, K) probabilities of K classes, interpolated as logarithms."""
    chances = np.asarray(chances, np.float32)
    made: NDArray[np.float32] = np.exp(finer(np.log(np.maximum(chances, LEAST)), times))
    total: NDArray[np.float32] = made.sum(axis=2, keepdims=True)
    return np.divide(made, total, out=made)
