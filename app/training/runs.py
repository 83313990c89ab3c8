"""The runs of the training room, and the setups one can take back."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from app.state import Doc
from app.training.state import (
    START,
    Run,
    TrainEngine,
    TrainLook,
    branched,
    difference,
    distinct,
    named,
    taken_back,
)
from engine import training as say
from engine.setup import Setup

UNDO = 200
KEPT_RUNS = 8
WORTH_KEEPING = 20
"""A run of fewer steps is not kept when another begins in its place."""

MEANT = ("formula", "path", "target", "classes")
"""Options that make other data of a data set, not only more of it."""
LONGEST_NAME = 80
"""Letters of what a run is called that are kept."""


class Weighed(Struct, frozen=True):
    """One element of a parameter set by hand: what it was, and what it became."""

    run_id: int
    name: str
    index: int
    before: float
    after: float


class Runs(QObject):
    """What there is to drive and to compare. `TrainSession` adds how it is driven."""

    setup_changed = Signal()
    begun = Signal(object)
    """A `Run` was made, made anew, or another one is driven."""
    runs_changed = Signal()
    stated = Signal(object)
    """What is said of a `Run` has changed: where it stands, its name."""
    said = Signal(str)
    left_alone = Signal(bool)
    """Whether what the model says is to have all of the room."""
    touched = Signal()
    """A weight is set by hand."""
    complained = Signal(str, str)
    """(place in the setup, what is wrong); an empty text takes complaints away."""
    file_progressed = Signal(str, float)
    """(path, share) of a file that is being read; 1 when that is over."""

    def __init__(self, link: TrainEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.catalogue: say.Catalogue | None = None
        self.setup: Setup = START
        self.look = TrainLook()
        self.runs: list[Run] = []
        self.source = ""
        """The user's program, for the model that is their own."""
        self.foreign = False
        """Whether that came from elsewhere."""
        self.right_id = 0
        """The run that goes along with the current one and makes none of its mistakes; 0: none."""
        self._exports: set[tuple[int, str]] = set()
        """(run, kind) of the files that were asked for."""
        self.complaint = ("", "")
        """(place in the setup, what is wrong), as `complained` carried it last."""
        self.complained.connect(self._note_complaint)
        self._link = link
        link.progressed.connect(self.file_progressed)
        self._colors = -1
        self._undo: list[Setup | Weighed] = []
        self._redo: list[Setup | Weighed] = []
        self._drags = False
        self._reached = 0
        """The step at which the current run stood last."""
        self.begun.connect(lambda _run: self._forget_weights())
        self.stated.connect(self._notice_rewind)

    def know_program(self, doc: Doc) -> None:
        """Take note of the program, for the model that is one's own; not before it may run."""
        self.source, self.foreign = doc.source if doc.may_run else "", doc.foreign

    def _is_strange(self, setup: Setup) -> bool:
        """Whether a setup takes its module from a program that came from elsewhere."""
        return self.foreign and not setup.model.options.get("source")

    @property
    def run(self) -> Run | None:
        """The run that is driven, or None before the first."""
        return self.find(self.look.run_id)

    def find(self, run_id: int) -> Run | None:
        """Return a run by its id."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    def differs(self, setup: Setup, before: Setup | None = None) -> str:
        """Return in few words what a setup has that ``before``, or the one that holds, has not."""
        return difference(setup, before or self.setup, self.catalogue)

    def hide(self, run_id: int, hidden: bool) -> None:
        """Draw a run's curves, or don't."""
        now = self.look.hidden - {run_id}
        self.look = replace(self.look, hidden=now | {run_id} if hidden else now)
        self.runs_changed.emit()

    def leave_alone(self, alone: bool) -> None:
        """Give what the model says all of the room, or the other columns their place in it."""
        self.look = replace(self.look, alone=alone)
        self.left_alone.emit(alone)

    def rename(self, run_id: int, name: str) -> None:
        """Call a run by a name of one's own; an empty one brings back what tells of its setup."""
        run, name = self.find(run_id), " ".join(name.split())[:LONGEST_NAME]
        if run is not None and name != run.name:
            run.christened = bool(name)
            run.name = name or self._told(run)
            self.runs_changed.emit()
            self.stated.emit(run)

    def drop(self, run_id: int) -> None:
        """Forget a run that is not the current one."""
        run = self.find(run_id)
        if run is not None and run_id != self.look.run_id:
            if run.alive:
                self._link.send(say.Drop(run_id))
            self.runs.remove(run)
            self.runs_changed.emit()

    def take_over(
        self, setup: Setup, runs: Sequence[Run], current: int, hidden: frozenset[int]
    ) -> None:
        """Put other runs in place of those there are."""
        for run in self.runs:
            if run.alive:
                self._link.send(say.Drop(run.run_id))
        self.runs = list(runs)
        self.look = replace(self.look, run_id=current, hidden=hidden)
        self._colors = max((run.color for run in runs), default=-1)
        self._undo, self._redo, self._drags = [], [], False
        self.setup = setup
        self.setup_changed.emit()
        self.runs_changed.emit()

    def edit_weight(self, name: str, index: int, value: float) -> None:
        """Set one element of a parameter by hand; undoable until the run goes back or anew."""
        run = self.run
        if run is not None and run.alive:
            before = weight_of(run, name, index)
            if before is not None:
                self._undo = [
                    *self._undo[1 - UNDO :],
                    Weighed(run.run_id, name, index, before, value),
                ]
                self._redo.clear()
                self._drags = False
            self._link.send(say.EditWeight(run.run_id, name, index, value))
            self.touched.emit()

    def ask_tape(self, live: bool = False) -> None:
        """Have the next step recorded on a tape; `taped` carries it, or `drawn` a live one."""
        run = self.run
        if run is not None and run.alive:
            self._link.send(say.TapeStep(run.run_id, live=live))

    def look_into(self, path: str, header: bool | None = None) -> None:
        """Ask what a CSV file holds; `looked` carries it. ``header``: of `LookIntoFile`."""
        self._link.send(say.LookIntoFile(self.look.run_id, path, header))

    def _note_complaint(self, place: str, why: str) -> None:
        self.complaint = (place, why)

    def stop_reading(self) -> None:
        """Read no further in the file that is being read."""
        self._link.stop_reading()

    def export(self, kind: str) -> None:
        """Ask for the bytes of a file; `exported` carries them."""
        run = self.run
        if run is not None and run.alive and kind in ("script", "csv", "safetensors"):
            self._exports.add((run.run_id, kind))
            self._link.send(say.Export(run.run_id, kind))  # type: ignore[arg-type]

    def _next_color(self) -> int:
        self._colors += 1
        return self._colors

    def _begin_beside(self, run: Run) -> None:
        """Have the right run made that goes along with one that makes mistakes."""
        before, self.right_id = self.find(self.right_id), 0
        if before is not None:
            self._lay_aside(before)
        if run.setup.mistakes:
            setup = replace(run.setup, mistakes=())
            right = Run(self._link.next_id(), setup, "", self._next_color())
            right.name = self._told(right)
            # These two are to be compared, and nothing else.
            others = frozenset(one.run_id for one in self.runs if one is not run)
            self.look = replace(self.look, hidden=others)
            self.runs.append(right)
            self.right_id = right.run_id
            strange = self._is_strange(setup)
            train = say.Train(right.run_id, setup, source=self.source, policy=strange)
            self._link.send(train)
            self._link.send(say.GoAlong(run.run_id, right.run_id))

    def _lay_aside(self, run: Run, keep: bool = False) -> None:
        """Keep the curves of a run that is not driven on, if they are worth it or to be kept."""
        if run.alive:
            self._link.send(say.Drop(run.run_id))
            run.alive = False
        run.views.clear()
        if len(run.curve("loss")) < WORTH_KEEPING and not keep:
            self.runs.remove(run)
        self._thin_out()

    def _keep_curves(self, run: Run) -> None:
        """Put the curves of a run that begins anew into a run of their own."""
        if len(run.curve("loss")) < WORTH_KEEPING or is_redrawn(run.setup, self.setup):
            return
        kept = Run(-self._link.next_id(), run.setup, run.name, run.color, alive=False)
        kept.begun, kept.state, kept.series = run.begun, run.state, run.series
        kept.furthest, kept.ahead = run.furthest, run.ahead
        if not is_akin(kept.setup, self.setup):
            # Losses on other data are of another size; one tick shows them.
            others = (one for one in (kept, *self.runs) if one is not run)
            strange = {one.run_id for one in others if not is_akin(one.setup, self.setup)}
            self.look = replace(self.look, hidden=self.look.hidden | strange)
        self.runs.insert(self.runs.index(run), kept)
        run.color = self._next_color()
        self._thin_out()

    def _thin_out(self) -> None:
        for old in [one for one in self.runs if not one.alive][:-KEPT_RUNS]:
            self.runs.remove(old)

    # What holds from some step on

    def _altered(self, run: Run, message: say.Altered) -> None:
        """Note that the setup, or what began the run anew of it, was taken over."""
        self.complained.emit("", "")
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
            names = ("split" if one == "train" else one for one in message.restarts)
            what = ", ".join(one.replace("_", " ").replace(".", " ") for one in names)
            self.said.emit(f"Began anew with the new {what}; the curves of before are kept")

    def _went_back(self, run: Run, message: say.WentBack) -> None:
        """Take over what held at an earlier step; undo leads to what was set since."""
        run.setup = taken_back(run.setup, message.before, message.now)
        if run.run_id == self.look.run_id:
            before = self.setup
            self._remember(merge=False)
            self.setup = taken_back(before, message.before, message.now)
            self.setup_changed.emit()
            words = self.differs(self.setup, before)
            self.said.emit(f"As it was at step {message.step:,}: {words}" if words else "")
        self._retell(run, message)

    def _retell(self, run: Run, message: say.Altered | say.WentBack) -> None:
        """Call a run after the setup that holds now, and note its lines and its classes' names."""
        run.call(self._told(run))
        before = run.begun
        if before is not None and message.lines:
            run.begun = replace(before, lines=message.lines, classes=message.classes)
        self.runs_changed.emit()
        if before is not None and message.classes not in ((), before.classes):
            self.begun.emit(run)

    def _told(self, run: Run) -> str:
        """Return a name that tells of a run's setup and that no other run has."""
        name = named(run.setup)
        name = branched(name, run.branch[1]) if run.branch else name
        return distinct(name, (one for one in self.runs if one is not run))

    # Taking back

    @property
    def can_undo(self) -> bool:
        """Whether there is a change of the setup or of a weight to take back."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to make again."""
        return bool(self._redo)

    def undo(self) -> None:
        """Take the last change of the setup, or of a weight, back."""
        if self._undo:
            self._drags = False
            last = self._undo.pop()
            if isinstance(last, Weighed):
                self._redo.append(last)
                self._weigh(last, last.before)
                return
            self._redo.append(self.setup)
            self._set_setup(last)

    def redo(self) -> None:
        """Make it again."""
        if self._redo:
            self._drags = False
            last = self._redo.pop()
            if isinstance(last, Weighed):
                self._undo.append(last)
                self._weigh(last, last.after)
                return
            self._undo.append(self.setup)
            self._set_setup(last)

    def _weigh(self, one: Weighed, value: float) -> None:
        self._link.send(say.EditWeight(one.run_id, one.name, one.index, value))
        self.touched.emit()

    def _notice_rewind(self, run: Run) -> None:
        if run.run_id == self.look.run_id:
            if run.step < self._reached:
                self._forget_weights()
            self._reached = run.step

    def _forget_weights(self) -> None:
        # Where a run went back it is as it was then: there is no such change to take back.
        self._undo = [one for one in self._undo if not isinstance(one, Weighed)]
        self._redo = [one for one in self._redo if not isinstance(one, Weighed)]

    def _remember(self, merge: bool) -> None:
        """Keep the setup for undo, unless it is one of a drag's on the way."""
        if not merge:
            self._undo = [*self._undo[1 - UNDO :], self.setup]
        self._redo.clear()

    def _set_setup(self, setup: Setup) -> None:
        self.setup = setup
        self.setup_changed.emit()


def weight_of(run: Run, name: str, index: int) -> float | None:
    """Return an element of a parameter as it was shown last; None where none is known."""
    view = run.views.get("weights")
    if run.begun is None or view is None or "flat" not in view.arrays:
        return None
    flat = view.arrays["flat"].array()
    at = next((one.start for one in run.begun.parameters if one.name == name), None)
    return float(flat[at + index]) if at is not None and at + index < len(flat) else None


def is_akin(one: Setup, other: Setup) -> bool:
    """Whether two setups have the same data, with more of it or more noise at most."""
    said = [[setup.data.options.get(name) for name in MEANT] for setup in (one, other)]
    return one.data.name == other.data.name and said[0] == said[1]


def is_redrawn(before: Setup, after: Setup) -> bool:
    """Whether the setups differ by points drawn by hand alone: no two runs to compare."""
    same = replace(after, data=before.data) == before
    return same and before.data.name == after.data.name and "points" in after.data.options
