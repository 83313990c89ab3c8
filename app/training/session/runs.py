"""The runs of the training page, and the undo stack of their setup."""

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.state import Doc
from gradscribe.app.training.session.state import (
    DEFAULT_SETUP,
    RunState,
    TrainEngine,
    ViewSettings,
    describe_difference,
    fork_name,
    revert_changes,
    run_name,
    unique_name,
)
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.structs import replace

MOST_UNDO = 200
KEPT_RUNS = 8
LEAST_LOSSES_KEPT = 20
"""A run with fewer losses is dropped when another replaces it."""

DATA_IDENTITY = ("formula", "path", "target", "classes")
"""Options that select different data, not only more data."""
LONGEST_NAME = 80
"""Most characters of a run's name."""


class WeightChange(Struct, frozen=True):
    """An edit of one element of a parameter: the values before and after."""

    run_id: int
    name: str
    index: int
    before: float
    after: float


class Runs(QObject):
    """The runs to control and compare; `RunControls` and `TrainSession` add their control."""

    setup_changed = Signal()
    begun = Signal(object)
    """A `RunState` began or restarted, or another run became the current one."""
    runs_changed = Signal()
    state_changed = Signal(object)
    """The state or name of a `RunState` changed."""
    said = Signal(str)
    alone_changed = Signal(bool)
    """True if only the model's views are to be shown."""
    weight_edited = Signal()
    """A weight was edited."""
    error_changed = Signal(str, str)
    """(place in the setup, error); an empty text removes the error."""
    file_progressed = Signal(str, float)
    """(path, share) of a file that is being read; 1 when that is over."""

    def __init__(self, link: TrainEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.catalogue: messages.Catalogue | None = None
        self.setup: Setup = DEFAULT_SETUP
        self.look = ViewSettings()
        self.runs: list[RunState] = []
        self.source = ""
        """The user's program, for a model that is the user's own module."""
        self.foreign = False
        """True if the program came from elsewhere."""
        self.right_id = 0
        """The correct run in parallel with a current run that makes mistakes; 0: none."""
        self._exports: set[tuple[int, str]] = set()
        """(run, kind) of the exports that were requested."""
        self.complaint = ("", "")
        """(place in the setup, error), as `complained` carried it last."""
        self.error_changed.connect(self._note_complaint)
        self._link = link
        link.progressed.connect(self.file_progressed)
        self._colors = -1
        self._undo: list[Setup | WeightChange] = []
        self._redo: list[Setup | WeightChange] = []
        self._is_dragging = False
        self._reached = 0
        """The last known step of the current run."""
        self.begun.connect(lambda _run: self._forget_weights())
        self.state_changed.connect(self._notice_rewind)

    def set_program(self, doc: Doc) -> None:
        """Note the program, for a user's module; empty until the program may run."""
        self.source, self.foreign = doc.source if doc.may_run else "", doc.foreign

    def _is_strange(self, setup: Setup) -> bool:
        """Return whether a setup takes its module from a program that came from elsewhere."""
        return self.foreign and not setup.model.options.get("source")

    @property
    def run(self) -> RunState | None:
        """The current run, or None before the first."""
        return self.find(self.look.run_id)

    def find(self, run_id: int) -> RunState | None:
        """Return a run by its id."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    def differs(self, setup: Setup, before: Setup | None = None) -> str:
        """Return a short text of what ``setup`` changes in ``before``, or in the current setup."""
        return describe_difference(setup, before or self.setup, self.catalogue)

    def hide(self, run_id: int, hidden: bool) -> None:
        """Hide or show a run's curves."""
        now = self.look.hidden - {run_id}
        self.look = replace(self.look, hidden=now | {run_id} if hidden else now)
        self.runs_changed.emit()

    def set_alone(self, alone: bool) -> None:
        """Show only the model's views, or all columns."""
        self.look = replace(self.look, alone=alone)
        self.alone_changed.emit(alone)

    def rename(self, run_id: int, name: str) -> None:
        """Give a run a name; an empty one restores the name made from its setup."""
        run, name = self.find(run_id), " ".join(name.split())[:LONGEST_NAME]
        if run is not None and name != run.name:
            run.christened = bool(name)
            run.name = name or self._name_of(run)
            self.runs_changed.emit()
            self.state_changed.emit(run)

    def drop(self, run_id: int) -> None:
        """Forget a run that is not the current one."""
        run = self.find(run_id)
        if run is not None and run_id != self.look.run_id:
            if run.alive:
                self._link.send(messages.DropRun(run_id))
            self.runs.remove(run)
            self.runs_changed.emit()

    def take_over(
        self, setup: Setup, runs: Sequence[RunState], current: int, hidden: frozenset[int]
    ) -> None:
        """Replace all runs by others."""
        for run in self.runs:
            if run.alive:
                self._link.send(messages.DropRun(run.run_id))
        self.runs = list(runs)
        self.look = replace(self.look, run_id=current, hidden=hidden)
        self._colors = max((run.color for run in runs), default=-1)
        self._undo, self._redo, self._is_dragging = [], [], False
        self.setup = setup
        self.setup_changed.emit()
        self.runs_changed.emit()

    def edit_weight(self, name: str, index: int, value: float) -> None:
        """Set one element of a parameter; undoable until the run is rewound or restarted."""
        run = self.run
        if run is not None and run.alive:
            before = last_shown_weight(run, name, index)
            if before is not None:
                self._undo = [
                    *self._undo[1 - MOST_UNDO :],
                    WeightChange(run.run_id, name, index, before, value),
                ]
                self._redo.clear()
                self._is_dragging = False
            self._link.send(messages.EditWeight(run.run_id, name, index, value))
            self.weight_edited.emit()

    def ask_tape(self, live: bool = False) -> None:
        """Request a tape of the next step; `taped` carries it, or `drawn` if it is ``live``."""
        run = self.run
        if run is not None and run.alive:
            self._link.send(messages.RecordStep(run.run_id, live=live))

    def look_into(self, path: str, header: bool | None = None) -> None:
        """Request a preview of a CSV file; `looked` carries it. ``header``: of `InspectFile`."""
        self._link.send(messages.InspectFile(self.look.run_id, path, header))

    def _note_complaint(self, place: str, why: str) -> None:
        self.complaint = (place, why)

    def stop_reading(self) -> None:
        """Stop reading the data file that is being read."""
        self._link.stop_reading()

    def export(self, kind: str) -> None:
        """Request the bytes of an export; `exported` carries them."""
        run = self.run
        if run is not None and run.alive and kind in ("script", "csv", "safetensors"):
            self._exports.add((run.run_id, kind))
            self._link.send(messages.Export(run.run_id, kind))  # type: ignore[arg-type]

    def _next_color(self) -> int:
        self._colors += 1
        return self._colors

    def _begin_correct_run(self, run: RunState) -> None:
        """Begin the correct run in parallel with a run that makes mistakes."""
        before, self.right_id = self.find(self.right_id), 0
        if before is not None:
            self._end_run(before)
        if run.setup.mistakes:
            setup = replace(run.setup, mistakes=())
            right = RunState(self._link.next_id(), setup, "", self._next_color())
            right.name = self._name_of(right)
            # Only these two are to be compared.
            others = frozenset(other.run_id for other in self.runs if other is not run)
            self.look = replace(self.look, hidden=others)
            self.runs.append(right)
            self.right_id = right.run_id
            strange = self._is_strange(setup)
            train = messages.Train(right.run_id, setup, source=self.source, policy=strange)
            self._link.send(train)
            self._link.send(messages.PairRuns(run.run_id, right.run_id))

    def _end_run(self, run: RunState, keep: bool = False) -> None:
        """End a run, and retain its curves if they are long enough or ``keep`` is true."""
        if run.alive:
            self._link.send(messages.DropRun(run.run_id))
            run.alive = False
        run.views.clear()
        if len(run.curve("loss")) < LEAST_LOSSES_KEPT and not keep:
            self.runs.remove(run)
        self._thin_out()

    def _keep_curves(self, run: RunState) -> None:
        """Move the curves of a run that restarts into a run that only displays them."""
        if len(run.curve("loss")) < LEAST_LOSSES_KEPT or differs_only_in_points(
            run.setup, self.setup
        ):
            return
        kept = RunState(-self._link.next_id(), run.setup, run.name, run.color, alive=False)
        kept.begun, kept.state, kept.series = run.begun, run.state, run.series
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

    def _thin_out(self) -> None:
        for old in [run for run in self.runs if not run.alive][:-KEPT_RUNS]:
            self.runs.remove(old)

    # Changes that apply from some step on

    def _altered(self, run: RunState, message: messages.SetupChanged) -> None:
        """Take over a setup that the engine applied or restarted the run with."""
        self.error_changed.emit("", "")
        run.problem = ""
        is_current = run.run_id == self.look.run_id
        if message.applied and not message.restarts:
            before = run.setup
            if is_current:
                run.setup = self.setup
                self.said.emit(f"From step {message.step:,}: {self.differs(self.setup, before)}")
            elif run.run_id == self.right_id:
                run.setup = replace(self.setup, mistakes=())
            self._retell(run, message)
        elif message.restarts and is_current:
            names = ("split" if name == "train" else name for name in message.restarts)
            what = ", ".join(name.replace("_", " ").replace(".", " ") for name in names)
            self.said.emit(f"Restarted with the new {what}; the earlier curves are kept")

    def _went_back(self, run: RunState, message: messages.SetupRestored) -> None:
        """Restore the setup of an earlier step; undo leads to the later one."""
        run.setup = revert_changes(run.setup, message.before, message.now)
        if run.run_id == self.look.run_id:
            before = self.setup
            self._remember(merge=False)
            self.setup = revert_changes(before, message.before, message.now)
            self.setup_changed.emit()
            words = self.differs(self.setup, before)
            self.said.emit(f"As it was at step {message.step:,}: {words}" if words else "")
        self._retell(run, message)

    def _retell(
        self, run: RunState, message: messages.SetupChanged | messages.SetupRestored
    ) -> None:
        """Rename a run after its current setup, and note its lines and class names."""
        run.call(self._name_of(run))
        before = run.begun
        if before is not None and message.lines:
            run.begun = replace(before, lines=message.lines, classes=message.classes)
        self.runs_changed.emit()
        if before is not None and message.classes not in ((), before.classes):
            self.begun.emit(run)

    def _name_of(self, run: RunState) -> str:
        """Return a unique name made from a run's setup."""
        name = run_name(run.setup)
        name = fork_name(name, run.branch[1]) if run.branch else name
        return unique_name(name, (other for other in self.runs if other is not run))

    # Undo and redo

    @property
    def can_undo(self) -> bool:
        """True if there is a change of the setup or of a weight to undo."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """True if there is a change to redo."""
        return bool(self._redo)

    def undo(self) -> None:
        """Undo the last change of the setup or of a weight."""
        if self._undo:
            self._is_dragging = False
            last = self._undo.pop()
            if isinstance(last, WeightChange):
                self._redo.append(last)
                self._weigh(last, last.before)
                return
            self._redo.append(self.setup)
            self._set_setup(last)

    def redo(self) -> None:
        """Redo the last change that was undone."""
        if self._redo:
            self._is_dragging = False
            last = self._redo.pop()
            if isinstance(last, WeightChange):
                self._undo.append(last)
                self._weigh(last, last.after)
                return
            self._undo.append(self.setup)
            self._set_setup(last)

    def _weigh(self, edit: WeightChange, value: float) -> None:
        self._link.send(messages.EditWeight(edit.run_id, edit.name, edit.index, value))
        self.weight_edited.emit()

    def _notice_rewind(self, run: RunState) -> None:
        if run.run_id == self.look.run_id:
            if run.step < self._reached:
                self._forget_weights()
            self._reached = run.step

    def _forget_weights(self) -> None:
        # A rewind has restored the weights already: there is no such change to undo.
        self._undo = [change for change in self._undo if not isinstance(change, WeightChange)]
        self._redo = [change for change in self._redo if not isinstance(change, WeightChange)]

    def _remember(self, merge: bool) -> None:
        """Push the setup onto the undo stack, unless it is an intermediate one of a drag."""
        if not merge:
            self._undo = [*self._undo[1 - MOST_UNDO :], self.setup]
        self._redo.clear()

    def _set_setup(self, setup: Setup) -> None:
        self.setup = setup
        self.setup_changed.emit()


def last_shown_weight(run: RunState, name: str, index: int) -> float | None:
    """Return the last shown value of a parameter's element; None if unknown."""
    view = run.views.get("weights")
    if run.begun is None or view is None or "flat" not in view.arrays:
        return None
    flat = view.arrays["flat"].array()
    at = next((p.start for p in run.begun.parameters if p.name == name), None)
    return float(flat[at + index]) if at is not None and at + index < len(flat) else None


def has_same_data(a: Setup, b: Setup) -> bool:
    """Return whether two setups have the same data, apart from its amount and noise."""
    options = [[setup.data.options.get(name) for name in DATA_IDENTITY] for setup in (a, b)]
    return a.data.name == b.data.name and options[0] == options[1]


def differs_only_in_points(before: Setup, after: Setup) -> bool:
    """Return whether setups differ only by points drawn by hand: not two runs to compare."""
    same = replace(after, data=before.data) == before
    return same and before.data.name == after.data.name and "points" in after.data.options
