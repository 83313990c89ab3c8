"""Which examples each step sees: the script's generator, as something that can be put back."""

import torch

from engine.setup import Setup
from engine.train import steps
from engine.train.program import Batch, Program


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
        self._waiting: list[torch.Tensor] = []
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

    def rows_of_next(self) -> torch.Tensor | None:
        """Return the rows of the next batch and move on; None for all of them in order."""
        if self.is_whole:
            self.seen += self.rows
            return None
        if not self._waiting:
            self.left()
            assert self.order is not None
            self._waiting = list(reversed(torch.split(self.order[self.at :], self.size)))
        rows = self._waiting.pop()
        self.at += len(rows)
        self.seen += len(rows)
        if self._drop and self.rows - self.at < self.size:
            self._waiting = []
        return rows

    def draw(self) -> Batch:
        """Return the next batch."""
        rows = self.rows_of_next()
        return (self.x, self.y) if rows is None else (self.x[rows], self.y[rows])

    def state(self) -> tuple[object, ...]:
        """Return all that decides which batches come next."""
        return self._rng.get_state(), self.order, self.at, self.seen

    def put_back(self, state: tuple[object, ...]) -> None:
        """Go back to a moment that `state` told."""
        rng, order, at, seen = state
        assert isinstance(rng, torch.Tensor)
        assert isinstance(at, int)
        assert isinstance(seen, int)
        self._rng.set_state(rng)
        self.order = order if isinstance(order, torch.Tensor) else None
        self.at, self.seen = at, seen
        self._waiting = []
