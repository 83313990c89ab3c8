"""Lines of equal numbers on a grid, by marching squares."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def isolines(grid: NDArray[np.floating], level: float) -> Floats:
    """Return line segments on which a grid has the number ``level``.

    Args:
        grid: (H, W) numbers at the centres of cells; cells next to one that is not finite are left
            out.
        level: a finite number.

    Returns:
        (n, 4): column and row of the begin, column and row of the end, in cells. The grid is
        interpolated linearly along the edges between four neighbours.
    """
    numbers = np.asarray(grid, np.float64)
    if min(numbers.shape, default=0) < 2:
        return np.empty((0, 4))
    # In shares of the largest number: differences of large numbers would overflow.
    finite = np.isfinite(numbers)
    size = max(float(np.abs(numbers[finite]).max(initial=0.0)), abs(level)) or 1.0
    height = np.where(finite, numbers, np.nan) / size - level / size
    a, b, c, d = height[:-1, :-1], height[:-1, 1:], height[1:, 1:], height[1:, :-1]
    known = ~np.isnan(a + b + c + d)
    places_of_cells: Floats = np.indices(a.shape).astype(np.float64)
    y, x = places_of_cells[0], places_of_cells[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        edges: tuple[tuple[Floats, Floats, NDArray[np.bool_]], ...] = (
            (x + a / (a - b), y, (a > 0) != (b > 0)),
            (x + 1, y + b / (b - c), (b > 0) != (c > 0)),
            (x + d / (d - c), y + 1, (d > 0) != (c > 0)),
            (x, y + a / (a - d), (a > 0) != (d > 0)),
        )
    cells, places = [], []
    for across, up, crosses in edges:
        where = crosses & known
        cells.append(np.flatnonzero(where))
        places.append(np.stack([across[where], up[where]], axis=1))
    cell, place = np.concatenate(cells), np.concatenate(places)
    # An even number of the edges of a cell is crossed: in this order, neighbours are a line.
    order = np.argsort(cell, kind="stable")
    return place[order].reshape(-1, 4)
