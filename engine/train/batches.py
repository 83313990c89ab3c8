"""Draw the batches of each step like the script's generator, with restorable state."""

from typing import cast

import torch

from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.train.source import steps
from gradscribe.engine.train.source.program import Batch, TrainingProgram

ALIGNED = 64
"""Alignment in bytes of a batch, that of a separately allocated tensor: kernels may round
differently at other alignments."""
AT_ONCE = 1 << 20
"""Bytes of batches to gather at once: gathering a single batch costs as much as a small model's
forward pass."""


class Batches:
    """Batch sampler of a run; `state` and `put_back` save and restore its position."""

    def __init__(self, program: TrainingProgram) -> None:
        self.x, self.y = program.tensor("x_train"), program.tensor("y_train")
        self.rows = len(self.x)
        self._rng = torch.Generator().manual_seed(program.setup.seed)
        self.order: torch.Tensor | None = None
        """The row order of this epoch; None before the first."""
        self.at = 0
        """The number of rows drawn in this epoch."""
        self._waiting: list[Batch] = []
        """The batches that were gathered but not drawn, the next batch last."""
        self._gathered_rows = AT_ONCE // max(1, sum(row_bytes(self.x, self.y)))
        # A user's module may write into its batch, which must not share memory with others.
        is_own = program.setup.model.name == "own"
        elsewhere = program.setup.device != "cpu"
        if is_own or elsewhere or not (self.x.is_contiguous() and self.y.is_contiguous()):
            self._gathered_rows = 1
        self._exposed = [program.tensor(name) for name in ("x_train", "x_val") if is_own]
        """Data passed to the user's `forward` uncopied, which may write into it."""
        self._original = [tensor.clone() for tensor in self._exposed]
        self.seen = 0
        self.change(program.setup)

    def change(self, setup: Setup) -> None:
        """Apply batch size and shuffling from the next batch on."""
        self.size = steps.batch_size(setup, self.rows)
        self._shuffle, self._drop = setup.shuffle, setup.drop_last
        self.is_whole = self.size == self.rows
        if self.is_whole:
            self.order, self.at = None, 0
        self._waiting = []

    def left(self) -> int:
        """Return how many rows of the epoch are left for batches, starting an epoch if none are."""
        left = self.rows - self.at
        if self.order is None or left == 0 or (self._drop and left < self.size):
            self.order = (
                torch.randperm(self.rows, generator=self._rng)
                if self._shuffle
                else torch.arange(self.rows)
            )
            self.at, self._waiting, left = 0, [], self.rows
        return left - left % self.size if self._drop else left

    def skip(self, rows: int) -> None:
        """Advance by a number of rows without drawing them."""
        if not self.is_whole:
            self.at += rows
            self._waiting = []
        self.seen += rows

    def draw(self) -> Batch:
        """Return the next batch and advance."""
        if self.is_whole:
            self.seen += self.rows
            return self.x, self.y
        if not self._waiting:
            self._waiting = self._gather()
        batch = self._waiting.pop()
        count = len(batch[1])
        self.at += count
        self.seen += count
        return batch

    def _gather(self) -> list[Batch]:
        """Return the next batches of this epoch in reverse order."""
        left, size = self.left(), self.size
        assert self.order is not None
        rows = self.order[self.at : self.at + min(left, max(1, self._gathered_rows // size) * size)]
        whole, rest = divmod(len(rows), size)
        if whole == 0 or len(rows) == size:
            return [(self.x[rows], self.y[rows])]
        length = aligned_rows(size, self.x, self.y)
        table = torch.zeros(whole + (rest > 0), length, dtype=torch.int64)
        table[:whole, :size] = rows[: whole * size].view(whole, size)
        table[whole:, :rest] = rows[whole * size :]
        pairs = list(zip(*(_cut(t, table, size) for t in (self.x, self.y)), strict=True))
        if rest:
            x, y = pairs[-1]
            pairs[-1] = x[:rest], y[:rest]
        return pairs[::-1]

    def state(self) -> tuple[object, ...]:
        """Return the sampler's state, and the data if `forward` has modified it."""
        return self._rng.get_state(), self.order, self.at, self.seen, self._written()

    def _written(self) -> tuple[torch.Tensor, ...] | None:
        """Return copies of the data that `forward` may write into; None if it is unmodified."""
        pairs = zip(self._exposed, self._original, strict=True)
        if all(torch.equal(tensor, original) for tensor, original in pairs):
            return None
        return tuple(tensor.clone() for tensor in self._exposed)

    def restore(self, state: tuple[object, ...]) -> None:
        """Restore a state that `state` returned."""
        # States saved by older versions have no modified data.
        rng, order, at, seen, *written = state
        assert isinstance(rng, torch.Tensor)
        assert isinstance(at, int)
        assert isinstance(seen, int)
        self._rng.set_state(rng)
        self.order = order if isinstance(order, torch.Tensor) else None
        self.at, self.seen = at, seen
        self._waiting = []
        copies = cast("tuple[torch.Tensor, ...] | None", written[0] if written else None)
        for tensor, value in zip(self._exposed, copies or self._original, strict=True):
            tensor.copy_(value)


def row_bytes(x: torch.Tensor, y: torch.Tensor) -> tuple[int, int]:
    """Return the bytes of one example: of its inputs and of its targets."""
    return x[0].nbytes, y[0].nbytes


def aligned_rows(size: int, x: torch.Tensor, y: torch.Tensor) -> int:
    """Return the stride in rows between batches in one buffer at which each is aligned."""
    while any(size * row % ALIGNED for row in row_bytes(x, y)):
        size += 1
    return size


def _cut(of: torch.Tensor, table: torch.Tensor, size: int) -> tuple[torch.Tensor, ...]:
    """Return ``size`` rows of each batch of a table of rows."""
    gathered = of.index_select(0, table.view(-1)).view(*table.shape, *of.shape[1:])
    return gathered[:, :size].unbind()
