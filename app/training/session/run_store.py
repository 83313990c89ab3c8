"""State of the training page: the setup with its undo stack, the runs, the current run."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from gradscribe.app.training.session.setup_history import ForgottenRun, SetupHistory
from gradscribe.app.training.session.state import (
    DEFAULT_SETUP,
    Flag,
    RunState,
    ViewSettings,
    describe_difference,
    fork_name,
    run_name,
    unique_name,
)
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.translation import tr
from gradscribe.widgets.plots.step_series import StepSeries

KEPT_RUNS = 8
MOST_FORGOTTEN = 4
"""Most runs that were forgotten and can be brought back."""
LEAST_LOSSES_KEPT = 20
"""A run with fewer losses is dropped when another replaces it."""

DATA_IDENTITY = ("formula", "path", "target", "classes")
"""Options that select different data, not only more data."""
LONGEST_NAME = 80
"""Most characters of a run's name."""


class RunStore(QObject):
    """The runs to control and compare. Only `TrainController` and `TrainSession` write it."""

    setup_changed = Signal()
    begun = Signal(object)
    """A `RunState` began or restarted, or another run became the current one."""
    runs_changed = Signal()
    state_changed = Signal(object)
    """The state or name of a `RunState` changed."""
    rate_changed = Signal(float)
    """The most steps per second changed; 0 is unlimited."""
    alone_changed = Signal(bool)
    graph_column_changed = Signal(bool)
    """True if only the model's views are to be shown."""
    error_changed = Signal(str, str)
    """(place in the setup, error); an empty text removes the error."""

    def __init__(self, next_id: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.catalogue: messages.Catalogue | None = None
        self.setup: Setup = DEFAULT_SETUP
        self.history = SetupHistory()
        self.look = ViewSettings()
        self.runs: list[RunState] = []
        self.forgotten: list[tuple[int, RunState]] = []
        """Forgotten runs that can be brought back, the latest last, each with its place."""
        self.right_id = 0
        """The correct run in parallel with a current run that makes mistakes; 0: none."""
        self.error = ("", "")
        """(place in the setup, error), as `error_changed` carried it last."""
        self._next_id = next_id
        self._colors = -1
        self._reached = 0
        """The last known step of the current run."""
        # The weight whose edit made a fork was edited in the fork.
        self.begun.connect(
            lambda run: self.history.forget_weights(run.run_id if run.branch is not None else 0)
        )
        self.state_changed.connect(self._notice_rewind)

    @property
    def run(self) -> RunState | None:
        """The current run, or None before the first."""
        return self.find(self.look.run_id)

    def find(self, run_id: int) -> RunState | None:
        """Return a run by its id."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    def right_run_of(self, run: RunState) -> RunState:
        """Return the run of the usual step from which a run with another step was forked.

        A run of the usual step, or of which that run is gone, is returned itself.
        """
        source = self.find(run.branch[0]) if run.branch is not None else None
        is_right = source is not None and source.alive and not source.setup.deviates
        return source if source is not None and is_right and run.setup.deviates else run

    def differs(self, setup: Setup, before: Setup | None = None) -> str:
        """Return a short text of what ``setup`` changes in ``before``, or in the current setup."""
        return describe_difference(setup, before or self.setup, self.catalogue)

    def set_setup(self, setup: Setup) -> None:
        """Set the setup and report it."""
        self.setup = setup
        self.setup_changed.emit()

    def set_error(self, place: str, why: str) -> None:
        """Set the error at a place in the setup, and report it; an empty text removes it."""
        self.error = (place, why)
        self.error_changed.emit(place, why)

    # The view

    def hide(self, run_id: int, hidden: bool) -> None:
        """Hide or show a run's curves."""
        now = self.look.hidden - {run_id}
        self.look = replace(self.look, hidden=now | {run_id} if hidden else now)
        self.runs_changed.emit()

    def set_alone(self, alone: bool) -> None:
        """Show only the model's views, or all columns."""
        self.look = replace(self.look, alone=alone)
        self.alone_changed.emit(alone)

    def set_graph_column(self, wanted: bool) -> None:
        """Give the graph of the step a column in a large window, or leave it a tab."""
        self.look = replace(self.look, graph_column=wanted)
        self.graph_column_changed.emit(wanted)

    # The runs

    def add_run(self, setup: Setup, name: str = "") -> RunState:
        """Append a run; its name is made from its setup if ``name`` is empty."""
        run = RunState(self._next_id(), setup, name, self._next_color())
        run.name = name or self.name_of(run)
        self.runs.append(run)
        return run

    def rename(self, run_id: int, name: str) -> None:
        """Give a run a name; an empty one restores the name made from its setup."""
        run, name = self.find(run_id), " ".join(name.split())[:LONGEST_NAME]
        if run is not None and name != run.name:
            run.christened = bool(name)
            run.name = name or self.name_of(run)
            self.runs_changed.emit()
            self.state_changed.emit(run)

    def name_all(self) -> None:
        """Name all runs again, as the catalogue with the titles has arrived."""
        for run in self.runs:
            if run.alive and run.begun is None and run.branch is None:
                run.call(self.name_of(run))

    def name_of(self, run: RunState) -> str:
        """Return a unique name made from a run's setup; of a fork, from what differs."""
        name = run_name(run.setup, self.catalogue)
        if run.branch is not None:
            differs = self.differs(run.setup, run.origin) if run.origin is not None else ""
            words = ", ".join(filter(None, (differs, run.edited)))
            name = fork_name(words, name, run.branch[1])
        return unique_name(name, (other for other in self.runs if other is not run))

    def take_over(
        self, setup: Setup, runs: Sequence[RunState], current: int, hidden: frozenset[int]
    ) -> None:
        """Replace all runs by others."""
        self.runs = list(runs)
        self.forgotten, self.right_id = [], 0
        self.look = replace(self.look, run_id=current, hidden=hidden)
        self._colors = max((run.color for run in runs), default=-1)
        self.history = SetupHistory()
        self.set_setup(setup)
        self.runs_changed.emit()

    def retire(self, run: RunState, keep: bool = False) -> None:
        """Retain the curves of a run that ended, if they are long enough or ``keep`` is true."""
        run.views.clear()
        is_short = len(run.whole("loss")) < LEAST_LOSSES_KEPT or not run.has_own_steps
        if is_short and not keep:
            self.runs.remove(run)
        self._thin_out()

    def forget(self, run: RunState) -> list[RunState]:
        """Remove a run; it can be brought back. Returns those for which that is over now."""
        self.set_aside(run)
        self.history.push(ForgottenRun(run.run_id))
        return self.drop_forgotten(MOST_FORGOTTEN)

    def set_aside(self, run: RunState) -> None:
        """Move a run to those that were forgotten."""
        self.forgotten.append((self.runs.index(run), run))
        self.runs.remove(run)

    def drop_forgotten(self, most: int) -> list[RunState]:
        """Let all but the ``most`` latest forgotten runs go, and return them."""
        count = max(0, len(self.forgotten) - most)
        gone = [run for _, run in self.forgotten[:count]]
        self.forgotten = self.forgotten[count:]
        for run in gone:
            self.history.forget_run(run.run_id)
        return gone

    def bring_back(self, run_id: int) -> RunState | None:
        """Put a forgotten run back into its place; None if it is gone."""
        for entry in self.forgotten:
            place, run = entry
            if run.run_id == run_id:
                self.forgotten.remove(entry)
                self.runs.insert(min(place, len(self.runs)), run)
                return run
        return None

    def keep_curves(self, run: RunState) -> None:
        """Move the curves of a run that restarts into a run that only displays them."""
        is_short = len(run.whole("loss")) < LEAST_LOSSES_KEPT or not run.has_own_steps
        if is_short or differs_only_in_points(run.setup, self.setup):
            return
        kept = RunState(-self._next_id(), run.setup, run.name, run.color, alive=False)
        kept.begun, kept.state, kept.series = run.begun, run.state, run.series
        kept.spread, kept.flags = run.spread, [*run.flags]
        kept.furthest, kept.ahead = run.furthest, run.ahead
        if not has_same_data(kept.setup, self.setup):
            # Losses on other data have another scale; the table's tick shows them again.
            others = (other for other in (kept, *self.runs) if other is not run)
            strange = {
                other.run_id for other in others if not has_same_data(other.setup, self.setup)
            }
            self.look = replace(self.look, hidden=self.look.hidden | strange)
        self.runs.insert(self.runs.index(run), kept)
        run.color = self._next_color()
        self._thin_out()

    def keep_lost(
        self, run: RunState, curves: dict[str, StepSeries], setup: Setup, flags: list[Flag]
    ) -> None:
        """Add a run that displays the curves that ``run`` had before it took another way."""
        last = int(curves["loss"].last)
        name = unique_name(tr("{name} to step {last:,}", name=run.name, last=last), self.runs)
        kept = RunState(-self._next_id(), setup, name, self._next_color(), alive=False)
        kept.begun, kept.series, kept.stood = run.begun, curves, last
        kept.furthest, kept.flags = last, flags
        self.runs.insert(self.runs.index(run), kept)
        self._thin_out()

    def _thin_out(self) -> None:
        for old in [run for run in self.runs if not run.can_go_on][:-KEPT_RUNS]:
            self.runs.remove(old)

    def _next_color(self) -> int:
        self._colors += 1
        return self._colors

    def _notice_rewind(self, run: RunState) -> None:
        if run.run_id == self.look.run_id:
            if run.step < self._reached:
                self.history.forget_weights()
            self._reached = run.step


def has_same_data(a: Setup, b: Setup) -> bool:
    """Return whether two setups have the same data, apart from its amount and noise."""
    options = [[setup.data.options.get(name) for name in DATA_IDENTITY] for setup in (a, b)]
    return a.data.name == b.data.name and options[0] == options[1]


def differs_only_in_points(before: Setup, after: Setup) -> bool:
    """Return whether setups differ only by points drawn by hand: not two runs to compare."""
    same = replace(after, data=before.data) == before
    return same and before.data.name == after.data.name and "points" in after.data.options
