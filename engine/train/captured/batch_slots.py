"""Gather the full batches of an epoch at once into fixed memory.

Gathering each batch separately costs as much as a small model's forward pass.
"""

import torch

from gradscribe.engine.train.batches import ALIGNED, Batches, aligned_rows, row_bytes

MOST_BYTES = 16 << 20


class BatchSlots:
    """Fixed memory for the full batches of an epoch."""

    def __init__(self, batches: Batches, size: int) -> None:
        self._batches, self._size = batches, size
        self._count = batches.rows // size
        self._length = aligned_rows(size, batches.x, batches.y)
        rows = self._count * self._length
        self._rows = torch.zeros(rows, dtype=torch.int64)
        self._x = batches.x.new_zeros((rows, *batches.x.shape[1:]))
        self._y = batches.y.new_zeros((rows, *batches.y.shape[1:]))
        self._order: torch.Tensor | None = None
        self._base = 0

    @classmethod
    def fits(cls, batches: Batches, size: int) -> bool:
        """Return whether the batches fit into `MOST_BYTES`."""
        length = size + ALIGNED
        return batches.rows // size * length * sum(row_bytes(batches.x, batches.y)) <= MOST_BYTES

    def pairs(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return the memory of each batch: (inputs, targets)."""
        starts = range(0, self._count * self._length, self._length)
        return [(self._x[at : at + self._size], self._y[at : at + self._size]) for at in starts]

    def next(self, left: int) -> tuple[int, int]:
        """Gather missing batches for the ``left`` rows of the epoch; return first slot and end."""
        batches = self._batches
        assert batches.order is not None
        done = batches.at - self._base
        if batches.order is not self._order or done < 0 or done % self._size:
            self._order, self._base, done = batches.order, batches.at, 0
            self._gather(batches.order[batches.at :])
        first = done // self._size
        return first, first + left // self._size

    def _gather(self, rows: torch.Tensor) -> None:
        count, size = len(rows) // self._size, self._size
        table = self._rows.view(self._count, self._length)
        table[:count, :size] = rows[: count * size].view(count, size)
        torch.index_select(self._batches.x, 0, self._rows, out=self._x)
        torch.index_select(self._batches.y, 0, self._rows, out=self._y)
