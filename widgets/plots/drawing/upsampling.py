"""Refinement of a grid by interpolating its numbers instead of its colours.

Where the colour changes abruptly, as at a decision boundary, an image that is only scaled shows
the cells of the grid.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", np.float32, np.float64)
LEAST = np.float32(1e-37)
"""Least probability of which the logarithm is taken."""


def upsample(grid: NDArray[T], times: int) -> NDArray[T]:
    """Return ``times`` as many rows and columns, bilinear between the centres of the cells.

    ``times`` is odd, so that the centre of each cell keeps its number. A grid that is not finite
    is returned unchanged, as NaN and infinities would spread.
    """
    if not np.isfinite(grid).all():
        return grid
    return _along(_along(grid, times, 0), times, 1)


def _along(grid: NDArray[T], times: int, axis: int) -> NDArray[T]:
    edge = [(0, 0)] * grid.ndim
    edge[axis] = (1, 1)
    # With the axis moved to the front: the cells before, at and after each cell.
    wide: NDArray[T] = np.moveaxis(np.pad(grid, edge, mode="edge"), axis, 0)
    before, after = wide[:-2], wide[2:]
    here: NDArray[T] = wide[1:-1]
    fine: NDArray[T] = np.empty((times * len(here), *here.shape[1:]), grid.dtype)
    for phase in range(times):
        away = (phase - times // 2) / times
        neighbour = after if away > 0 else before
        fine[phase::times] = here + np.float32(abs(away)) * (neighbour - here)
    return np.moveaxis(fine, 0, axis)


def upsample_logits(logits: NDArray[np.float32], times: int) -> NDArray[np.float32]:
    """Return tanh(finer logits / 2), from -1 to 1.

    Where a model is confident, tanh is -1 or 1 in every cell: interpolating that would put the
    boundary at the middle between cells, with a step at each.
    """
    made: NDArray[np.float32] = np.tanh(upsample(logits, times) / 2)
    return made


def upsample_probabilities(chances: NDArray[np.float32], times: int) -> NDArray[np.float32]:
    """Return the finer (H, W, K) probabilities of K classes, interpolated as logarithms."""
    chances = np.asarray(chances, np.float32)
    made: NDArray[np.float32] = np.exp(upsample(np.log(np.maximum(chances, LEAST)), times))
    total: NDArray[np.float32] = made.sum(axis=2, keepdims=True)
    return np.divide(made, total, out=made)
