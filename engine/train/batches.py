"""Which examples each step sees: the script's generator, as something that can be put back."""

from typing import cast

import torch

from engine.setup import Setup
from engine.train import steps
from engine.train.program import Batch, Program

ALIGNED = 64
"""Bytes at whose multiples a batch begins, as a tensor of its own would: kernels may round
otherwise at other places."""
AT_ONCE = 1 << 20
"""Bytes of batches that are gathered in one go: each by itself costs as much as a small model's
forward pass."""


class Batches:
    """Draws the batches of a run; `state` and `put_back` bring any moment back."""

    def __init__(self, program: Program) -> None:
        self.x, self.y = program.tensor("x_train"), program.tensor("y_train")
        self.rows = len(self.x)
        self._rng = torch.Generator().manual_seed(program.setup.seed)
        self.order: torch.Tensor | None = None
        """The rows in the order of this epoch; None before the first."""
        self.at = 0
        """How many rows of the epoch have been seen."""
        self._waiting: list[Batch] = []
        """The batches that were gathered and not drawn, the next one last."""
        self._together = AT_ONCE // max(1, sum(row_bytes(self.x, self.y)))
        # A module of one's own may write into its batch, which none of the others is to notice.
        is_own = program.setup.model.name == "own"
        elsewhere = program.setup.device != "cpu"
        if is_own or elsewhere or not (self.x.is_contiguous() and self.y.is_contiguous()):
            self._together = 1
        self._exposed = [program.tensor(name) for name in ("x_train", "x_val") if is_own]
        """What `forward` is given as it is, so that it may write into it."""
        self._made = [tensor.clone() for tensor in self._exposed]
        self.seen = 0
        self.change(program.setup)

    def change(self, setup: Setup) -> None:
        """Take over batch size and shuffling from the next batch on."""
        self.size = steps.batch_size(setup, self.rows)
        self._shuffle, self._drop = setup.shuffle, setup.drop_last
        self.is_whole = self.size == self.rows
        if self.is_whole:
            self.order, self.at = None, 0
        self._waiting = []

    def left(self) -> int:
        """Return how many rows the epoch still has for batches, beginning one where none are."""
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
        """Move on over rows of this epoch, or over whole batches of all rows."""
        if not self.is_whole:
            self.at += rows
            self._waiting = []
        self.seen += rows

    def draw(self) -> Batch:
        """Return the next batch and move on."""
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
        """Return the next batches of this epoch, the first of them last."""
        left, size = self.left(), self.size
        assert self.order is not None
        rows = self.order[self.at : self.at + min(left, max(1, self._together // size) * size)]
        whole, rest = divmod(len(rows), size)
        if whole == 0 or len(rows) == size:
            return [(self.x[rows], self.y[rows])]
        length = aligned(size, self.x, self.y)
        table = torch.zeros(whole + (rest > 0), length, dtype=torch.int64)
        table[:whole, :size] = rows[: whole * size].view(whole, size)
        table[whole:, :rest] = rows[whole * size :]
        pairs = list(zip(*(_cut(t, table, size) for t in (self.x, self.y)), strict=True))
        if rest:
            x, y = pairs[-1]
            pairs[-1] = x[:rest], y[:rest]
        return pairs[::-1]

    def state(self) -> tuple[object, ...]:
        """Return all that decides which batches come next, and what was written into them."""
        return self._rng.get_state(), self.order, self.at, self.seen, self._written()

    def _written(self) -> tuple[torch.Tensor, ...] | None:
        """Return copies of the data that `forward` may write into; None where it is as made."""
        pairs = zip(self._exposed, self._made, strict=True)
        if all(torch.equal(tensor, made) for tensor, made in pairs):
            return None
        return tuple(tensor.clone() for tensor in self._exposed)

    def put_back(self, state: tuple[object, ...]) -> None:
        """Go back to a moment that `state` told."""
        # What older versions saved knows nothing of data that was written into.
        rng, order, at, seen, *written = state
        assert isinstance(rng, torch.Tensor)
        assert isinstance(at, int)
        assert isinstance(seen, int)
        self._rng.set_state(rng)
        self.order = order if isinstance(order, torch.Tensor) else None
        self.at, self.seen = at, seen
        self._waiting = []
        copies = cast("tuple[torch.Tensor, ...] | None", written[0] if written else None)
        for tensor, value in zip(self._exposed, copies or self._made, strict=True):
            tensor.copy_(value)


def row_bytes(x: torch.Tensor, y: torch.Tensor) -> tuple[int, int]:
    """Return how many bytes an example has: its inputs and its targets."""
    return x[0].nbytes, y[0].nbytes


def aligned(size: int, x: torch.Tensor, y: torch.Tensor) -> int:
    """Return how many rows apart batches lie so that each begins as a tensor of its own would."""
    while any(size * row % ALIGNED for row in row_bytes(x, y)):
        size += 1
    return size


def _cut(of: torch.Tensor, table: torch.Tensor, size: int) -> tuple[torch.Tensor, ...]:
    """Return ``size`` rows of each batch of a table of rows."""
    gathered = of.index_select(0, table.view(-1)).view(*table.shape, *of.shape[1:])
    return gathered[:, :size].unbind()
