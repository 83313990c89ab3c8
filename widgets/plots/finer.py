"""A grid of numbers made finer, for colours: between them, not between their colours.

Where a colour turns, as from one side of a boundary to the other, a picture that is only scaled has
steps as big as the grid's cells.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", np.float32, np.float64)


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
