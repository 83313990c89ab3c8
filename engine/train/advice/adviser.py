"""The advice on one run: when to look again, and whether there is news."""

from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train import advice
from gradscribe.engine.train.runs.run import TrainingRun

FIRST_LOOK = 100
"""Step at which a playing run is looked at first; then at each doubling, which costs nothing."""


class RunAdviser:
    """Collects advice on a run; a paused run is looked at with each report of its state."""

    def __init__(self) -> None:
        self._on_data: tuple[Advice, ...] | None = None
        self._on_settings: tuple[Advice, ...] = ()
        self._on_progress: tuple[Advice, ...] = ()
        self._sent: tuple[Advice, ...] | None = None
        self._next = FIRST_LOOK
        self._seen = -1
        self._is_stale = True

    def forget(self) -> None:
        """Check the settings again: some have changed during the run."""
        self._is_stale = True

    def look_at_setup(self, run: TrainingRun, diverged: bool = False) -> None:
        """Check data, model and setup; ``diverged``: the loss of the run has become infinite."""
        if self._on_data is None:
            self._on_data = advice.on_data(run)
        self._on_settings = advice.on_settings(run, diverged)
        self._on_progress, self._seen, self._is_stale = (), -1, False

    def look_at_progress(self, run: TrainingRun) -> None:
        """Check the steps so far, unless this step was seen already; and a setup that changed."""
        if self._is_stale:
            self.look_at_setup(run)
        if run.step == self._seen:
            return
        self._seen, self._next = run.step, max(FIRST_LOOK, 2 * run.step)
        self._on_progress = advice.on_progress(run)

    def is_due(self, step: int) -> bool:
        """Return whether a playing run is to be looked at again."""
        return self._is_stale or step >= self._next

    def news(self) -> tuple[Advice, ...] | None:
        """Return all advice if it differs from what was returned last; None if it does not."""
        now = self.given
        if now == self._sent:
            return None
        self._sent = now
        return now

    @property
    def given(self) -> tuple[Advice, ...]:
        """All advice by now."""
        return (*(self._on_data or ()), *self._on_settings, *self._on_progress)
