"""Numbers of tensors as exact text, and as the cells of a thumbnail."""

import numpy as np

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.playback.graph import number_grid
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.text import formatting

SHADES = 25
"""Colours of a thumbnail's cells; the middle one is zero."""
CELLS = (20, 38)
"""Most rows and columns of a thumbnail."""
NOT_FINITE = "z"


def exact_texts(snapshot: Snapshot, most: int) -> list[str]:
    """Return the first elements, each as the shortest text that reads as the same number.

    A float32 is ``0.1`` and not ``0.10000000149011612``: read as a float32 it is the same.
    """
    array = snapshot.array()
    if array is None:
        return []
    return [_exact(number) for number in array.reshape(-1)[:most]]


def _exact(number: np.generic) -> str:
    if isinstance(number, np.complexfloating):
        return str(number).strip("()")
    return str(number)


def facts(snapshot: Snapshot) -> list[list[str]]:
    """Return statistics of a tensor with their names: torch's own where it was too big to send."""
    named = (
        ("mean", snapshot.mean),
        ("std", snapshot.std),
        ("min", snapshot.min),
        ("max", snapshot.max),
        ("norm", snapshot_text.norm(snapshot)),
    )
    return [[name, formatting.number(x)] for name, x in named if x is not None]


def cells(grid: number_grid.Grid | None) -> str:
    """Return a matrix as rows of letters, one a cell, from A (negative) on; ``z`` is no number."""
    if grid is None:
        return ""
    small = number_grid.thin(grid, *CELLS)
    scale = number_grid.scale_of(grid) or 1.0
    finite = np.isfinite(small)
    with np.errstate(over="ignore", invalid="ignore"):
        share = np.clip(np.where(finite, small, 0.0) / scale, -1.0, 1.0)
    shades = np.where(finite, np.round((share + 1) / 2 * (SHADES - 1)), SHADES).astype(np.intp)
    return "/".join("".join(map(_LETTERS.__getitem__, row)) for row in shades.tolist())


def shade(x: float) -> str:
    """Return the letter for a number's colour on a scale of -1 to 1."""
    return _LETTERS[round((max(-1.0, min(1.0, x)) + 1) / 2 * (SHADES - 1))]


_LETTERS = "".join(chr(ord("A") + n) for n in range(SHADES)) + NOT_FINITE
