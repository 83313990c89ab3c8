"""The steps after the step that a run went back to: they stay known until the run leaves them."""

from dataclasses import dataclass, field, replace

import numpy as np
import torch

from gradscribe.engine.protocol.setup import Part
from gradscribe.engine.train.checkpoints import Checkpoint, with_data_part
from gradscribe.engine.train.runs.history import TrainingHistory
from gradscribe.engine.train.source.changes import Change


@dataclass
class LaterSteps:
    """Steps of a run from before it went back, up to its last, whose state is ``end``."""

    end: Checkpoint
    history: TrainingHistory
    """The curves of the whole run, from step 0 to its last."""
    checkpoints: list[Checkpoint] = field(default_factory=list)
    points: dict[int, torch.Tensor] = field(default_factory=dict)
    """Points of the weight path by step."""
    changes: list[tuple[int, Change]] = field(default_factory=list)
    """Changes, each with the step after which it was made."""
    _losses: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def last(self) -> int:
        """The last step."""
        return self.end.step

    def go_back(
        self,
        step: int,
        checkpoints: list[Checkpoint],
        points: dict[int, torch.Tensor],
        changes: list[tuple[int, Change]],
    ) -> None:
        """Add the parts after ``step`` of a run that goes back to it."""
        known = [saved for saved in self.checkpoints if saved.step > step]
        since = {saved.step for saved in known}
        before = [c for c in checkpoints if c.step > step and c.step not in since]
        self.checkpoints = sorted([*before, *known], key=lambda saved: saved.step)
        self.points = {at: p for at, p in (points | self.points).items() if at > step}
        self.changes = [change for change in (*changes, *self.changes) if change[0] > step]

    def rename(self, data: Part) -> None:
        """Apply new names of the data to every step."""
        states = [
            replace(c, setup=with_data_part(c.setup, data)) for c in (self.end, *self.checkpoints)
        ]
        self.end, *self.checkpoints = states
        self.changes = [(at, with_data_part(what, data)) for at, what in self.changes]

    def take(
        self, step: int
    ) -> tuple[list[Checkpoint], dict[int, torch.Tensor], list[tuple[int, Change]]]:
        """Remove and return checkpoints, points and changes up to ``step``."""
        taken = (
            [c for c in self.checkpoints if c.step <= step],
            {at: point for at, point in self.points.items() if at <= step},
            [change for change in self.changes if change[0] <= step],
        )
        self.checkpoints = [c for c in self.checkpoints if c.step > step]
        self.points = {at: point for at, point in self.points.items() if at > step}
        self.changes = [change for change in self.changes if change[0] > step]
        return taken

    def agrees(self, first: int, losses: list[float]) -> bool:
        """Return whether steps from ``first`` on have the losses that they had before.

        A change that was made before the last of them is another way, whatever its losses.
        """
        if any(at < first + len(losses) - 1 for at, _ in self.changes):
            return False
        if self._losses is None:
            rows, _, _ = self.history.store()
            self._losses = rows[:, 0].astype(np.int64), rows[:, 1]
        steps, known = self._losses
        start, stop = np.searchsorted(steps, [first, first + len(losses)])
        made = np.asarray(losses)[steps[start:stop] - first]
        return np.array_equal(made, known[start:stop], equal_nan=True)
