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
        self._order: torch.Tensor | None = None
        self._at = 0
        self._waiting: list[torch.Tensor] = []
        self.seen = 0
        self.change(program.setup)

    def change(self, setup: Setup) -> None:
        """Take over batch size and shuffling from the next batch on."""
        self.size = steps.batch_size(setup, self.rows)
        self._shuffle, self._drop = setup.shuffle, setup.drop_last
        self._whole = self.size == self.rows
        if self._whole:
            self._order, self._at = None, 0
        self._split()

    def _split(self) -> None:
        """Cut what is left of an epoch; the last piece comes last in the list reversed."""
        self._waiting = []
        if self._order is not None:
            pieces = list(torch.split(self._order[self._at :], self.size))
            if self._drop and pieces and len(pieces[-1]) < self.size:
                pieces.pop()
            self._waiting = [piece for piece in reversed(pieces) if len(piece)]

    def rows_of_next(self) -> torch.Tensor | None:
        """Return the rows of the next batch and move on; None for all of them in order."""
        if self._whole:
            self.seen += self.rows
            return None
        if not self._waiting:
            self._order = (
                torch.randperm(self.rows, generator=self._rng)
                if self._shuffle
                else torch.arange(self.rows)
            )
            self._at = 0
            self._split()
        rows = self._waiting.pop()
        self._at += len(rows)
        self.seen += len(rows)
        return rows

    def draw(self) -> Batch:
        """Return the next batch."""
        rows = self.rows_of_next()
        return (self.x, self.y) if rows is None else (self.x[rows], self.y[rows])

    def state(self) -> tuple[object, ...]:
        """Return all that decides which batches come next."""
        return self._rng.get_state(), self._order, self._at, self.seen

    def put_back(self, state: tuple[object, ...]) -> None:
        """Go back to a moment that `state` told."""
        rng, order, at, seen = state
        assert isinstance(rng, torch.Tensor)
        assert isinstance(at, int)
        assert isinstance(seen, int)
        self._rng.set_state(rng)
        self._order = order if isinstance(order, torch.Tensor) else None
        self._at, self.seen = at, seen
        self._split()
