"""Saving of the training session to a file, and opening of such a file."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gradscribe.app.files.documents import Refused
from gradscribe.app.files.file_writer import FileWriter
from gradscribe.app.link.far_engine import FarEngine
from gradscribe.app.training.saving import session_file
from gradscribe.app.training.saving.session_file import SessionRun, TrainingSessionData
from gradscribe.app.training.saving.session_reader import (
    MOST_IN_GUI_THREAD,
    LoadedSession,
    SessionReader,
)
from gradscribe.app.training.session.reducer import curves_at, place_at, retained_past
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState, TrainEngine, fork_origin
from gradscribe.app.training.setup import user_module
from gradscribe.app.training.setup.files import data_file
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.plots.spread_table import SpreadTable
from gradscribe.widgets.plots.step_series import StepSeries


class SessionStore(QObject):
    """Collects the engine's state of each run and writes it; restores all runs from a file."""

    said = Signal(str)
    saved = Signal(object)
    """Carries the `save_fingerprint` of the session that was written."""
    resumed = Signal(object)
    """Carries the `messages.Resume` of each run to continue, as it is sent."""

    def __init__(
        self,
        session: TrainSession,
        link: TrainEngine,
        writing: FileWriter,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._link, self._writing = session, link, writing
        self._path: Path | None = None
        self._then: Callable[[str], None] = _nothing
        self._waiting: set[int] = set()
        self._found: dict[int, RunCapture] = {}
        self._without: list[str] = []
        # Connected after the session, which has stored the curves of earlier messages by then.
        link.received.connect(self._on_message)
        link.died.connect(self._on_engine_died)
        self.files = SessionReader(self)
        self.files.said.connect(self.said)

    @property
    def awaited(self) -> str:
        """The name of a file that waits for states from the engine; empty for none."""
        return self._path.name if self._path is not None else ""

    def save(self, path: Path, then: Callable[[str], None] | None = None) -> None:
        """Write everything to ``path`` once the engine has sent the state of all runs.

        ``then`` is called with the programs in the file when it is written.
        """
        self._path, self._found, self._without = path, {}, []
        self._then = then or _nothing
        alive = [run for run in self._session.runs if run.alive and run.begun is not None]
        self._waiting = {run.run_id for run in alive}
        for run in alive:
            self._link.send(messages.SaveRun(run.run_id))
        self._write_if_whole()

    def _on_message(self, message: object) -> None:
        if isinstance(message, messages.TrainState) and message.status == "gone":
            self._waiting.discard(message.run_id)
            self._write_if_whole()
        if not isinstance(message, messages.RunSaved) or message.run_id not in self._waiting:
            return
        self._waiting.discard(message.run_id)
        run = self._session.store.find(message.run_id)
        if run is not None:
            self._found[run.run_id] = capture_run(self._session, run, message.step, message.data)
            if message.problem is not None:
                self._without.append(f"{run.name}: {translated(message.problem.message)}")
        self._write_if_whole()

    def _on_engine_died(self, _why: str) -> None:
        if self._path is not None:
            self._path = None
            self.said.emit(tr("The session was not saved: the training engine ended"))

    def _write_if_whole(self) -> None:
        if self._path is None or self._waiting:
            return
        path, self._path = self._path, None
        try:
            runs, current = runs_to_save(self._session, self._found)
        except Refused as refusal:
            self.said.emit(str(refusal))
            return
        session, found = self._session, self._found
        held = [found.get(run.run_id) or capture_run(session, run, run.step, b"") for run in runs]
        rows = [snapshot.row for snapshot in held]
        saved = assemble_session(session.setup, runs, current, rows, session.store.right_id)
        without = (
            tr(", but without the state of {join}", join="; ".join(self._without))
            if self._without
            else ""
        )
        then, what = self._then, save_fingerprint(session)

        def wrote() -> None:
            then(saved.programs())
            self.saved.emit(what)
            self.said.emit(tr("Saved {name}{without}", name=path.name, without=without))

        self._writing.write(
            path, lambda: session_file.encode_buffers(with_curves(saved, held)), wrote
        )
        if sum(len(snapshot.row.data) for snapshot in held) > MOST_IN_GUI_THREAD:
            self.said.emit(tr("Saving {name}…", name=path.name))

    def close(self) -> None:
        """Read no more files."""
        self.files.close()

    def open(
        self, found: LoadedSession, foreign: bool = False, far: FarEngine | None = None
    ) -> None:
        """Replace the session by a saved one; each run is at the step at which it was saved.

        ``foreign``: the policy for programs from elsewhere applies to its modules; ``far``: the
        engine that has its runs, which are where they are by now.
        """
        saved = found.room
        if far is not None:
            self._link.adopt(far, max((row.number for row in saved.runs), default=0))
        if foreign:
            held = tuple(
                replace(row, setup=user_module.with_policy(row.setup)) for row in saved.runs
            )
            saved = replace(saved, setup=user_module.with_policy(saved.setup), runs=held)
        runs: list[RunState] = []
        for place in range(len(saved.runs)):
            runs.append(self._restored(saved, found, place, runs, far is not None))
        hidden = (run.run_id for run, row in zip(runs, saved.runs, strict=True) if row.hidden)
        self._session.controller.take_over(
            saved.setup,
            runs,
            runs[saved.current].run_id,
            frozenset(hidden),
            is_new_engine=far is not None,
        )
        for run, row in zip(runs, saved.runs, strict=True):
            self._send_again(run, row, foreign)
        if saved.right >= 0:
            self._session.controller.pair(runs[saved.right].run_id)

    def _restored(
        self,
        saved: TrainingSessionData,
        found: LoadedSession,
        place: int,
        before: Sequence[RunState],
        is_left: bool,
    ) -> RunState:
        """Return a saved run; ``before``: those before it, ``is_left``: their engine still runs."""
        row = saved.runs[place]
        parent = before[row.parent] if 0 <= row.parent < place else None
        rejoins = is_left and row.number > 0
        has_source = row.anew and parent is not None and parent.alive
        goes_on = bool(row.data) or has_source or rejoins
        # A run that cannot continue has a negative id, which the engine never sees.
        number = row.number if rejoins else self._link.next_id()
        run = RunState(number if goes_on else -number, row.setup, row.name, row.color)
        run.alive, run.christened, run.rejoins = goes_on, row.christened, rejoins
        run.furthest, run.stood = row.furthest, row.step
        run.series.update(found.curves[place])
        run.spread = found.spreads[place]
        run.ahead = retained_past(found.ahead[place], row.step)
        run.flags = [flag for flag in row.flags if flag[0] <= row.step]
        run.flags_ahead = [flag for flag in row.flags if flag[0] > row.step and run.ahead]
        run.origin, run.edited = row.origin, row.edited
        if goes_on and parent is not None:
            run.branch = parent.run_id, row.parent_step
            if not (row.data or rejoins):
                reset_to_fork(run, parent)
        return run

    def _send_again(self, run: RunState, row: SessionRun, foreign: bool) -> None:
        """Let the engine make a saved run anew, or describe it if it has it."""
        again = messages.ResumeRun(
            run.run_id, row.data, run.branch, *data_file(row.setup), policy=foreign
        )
        if row.data:
            # Of a run that the engine has, too: the engine may be gone when it is asked.
            self.resumed.emit(again)
        if run.rejoins:
            self._link.send(messages.RejoinRun(run.run_id, row.step))
        elif row.data:
            self._link.send(again)
        elif run.alive and run.branch is not None:
            self._link.send(messages.Fork(run.run_id, *run.branch, run.setup))


def reset_to_fork(run: RunState, source: RunState) -> None:
    """Put a run whose state is lost at the step where it was forked, with curves up to there."""
    assert run.branch is not None
    step = min(run.branch[1], source.stood)
    run.branch, run.stood, run.furthest, run.ahead = (source.run_id, step), step, step, {}
    place_at(run, step)
    run.ahead, run.flags_ahead = {}, []


@dataclass(frozen=True)
class RunCapture:
    """A snapshot of a run; its curves are put into the ``row`` later, in any thread."""

    row: SessionRun
    curves: Mapping[str, StepSeries]
    ahead: Mapping[str, StepSeries]
    spread: SpreadTable


def save_fingerprint(session: TrainSession) -> object:
    """Return a value that changes whenever the session has something new to save."""
    runs = ((run.run_id, run.name, run.step, run.furthest) for run in session.runs)
    return session.setup, tuple(runs)


def runs_to_save(session: TrainSession, found: Container[int]) -> tuple[list[RunState], RunState]:
    """Return the runs to save, in ``found`` or unable to continue, and the current run.

    Raises:
        Refused: there is no run.
    """
    runs = [run for run in session.runs if run.run_id in found or not run.alive]
    current = session.run
    while current is not None and current.branch and current.run_id not in found and current.alive:
        # The engine has not made this fork yet.
        current = session.store.find(current.branch[0])
    if current is None:
        raise Refused(tr("There is no run to save yet"))
    if current not in runs:
        runs.append(current)
    return runs, current


def assemble_session(
    setup: Setup,
    runs: Sequence[RunState],
    current: RunState,
    kept: Sequence[SessionRun],
    right_id: int = 0,
) -> TrainingSessionData:
    """Return the session of these runs, each with its saved form.

    ``right_id``: the correct run in parallel with the current one; 0 for none.
    """
    places = {run.run_id: place for place, run in enumerate(runs)}
    rows: list[SessionRun] = []
    for place, (run, saved) in enumerate(zip(runs, kept, strict=True)):
        parent, step = fork_origin(run) or (-1, 0)
        at = places.get(parent, -1)
        row = replace(saved, parent=at if at < place else -1, parent_step=step)
        if row.anew and row.parent >= 0:
            row = replace(row, step=min(step, rows[row.parent].step))
        rows.append(row)
    right = places.get(right_id, -1) if current.setup.deviates else -1
    return TrainingSessionData(setup, tuple(rows), places[current.run_id], right=right)


def capture_run(session: TrainSession, run: RunState, step: int, data: bytes) -> RunCapture:
    """Return a snapshot of a run at ``step``, which later steps do not change."""
    # A run that has advanced since the state was taken would continue from the state.
    furthest = min(run.furthest, step) if run.step > step else run.furthest
    held, past, flags = curves_at(run, step)
    is_hidden = run.run_id in session.store.look.hidden
    setup = run.setup
    if run.begun is not None and run.begun.setup.model.name == "own":
        # The source that was executed, wherever it came from.
        setup = replace(setup, model=run.begun.setup.model)
    row = SessionRun(run.name, run.color, setup, step, furthest, {}, data, is_hidden)
    spread = run.spread.upto(step, session_file.MOST_QUANTILES)
    row = replace(row, christened=run.christened, origin=run.origin, edited=run.edited)
    row = replace(row, number=run.run_id if run.alive and not run.is_dormant else 0)
    row = replace(row, flags=tuple(flags[: session_file.MOST_FLAGS]))
    return RunCapture(row, held, past, spread)


def to_session_run(
    session: TrainSession, run: RunState, step: int, data: bytes, most: int = 0
) -> SessionRun:
    """Return a run at ``step`` to save, curves and spread with at most about ``most`` numbers."""
    snapshot = capture_run(session, run, step, data)
    return _with_curves(snapshot.row, snapshot, most)


def with_curves(saved: TrainingSessionData, noted: Sequence[RunCapture]) -> TrainingSessionData:
    """Return the session with the curves of its runs. Thread-safe."""
    runs = (_with_curves(row, snapshot) for row, snapshot in zip(saved.runs, noted, strict=True))
    return replace(saved, runs=tuple(runs))


def _with_curves(row: SessionRun, noted: RunCapture, most: int = 0) -> SessionRun:
    curves, ahead = (
        {name: session_file.to_session_curve(curve, most) for name, curve in held.items()}
        for held in (noted.curves, noted.ahead)
    )
    spread = session_file.to_session_spread(noted.spread, most)
    return replace(row, curves=curves, ahead=ahead, spread=spread)


def _nothing(_programs: str) -> None:
    """Do nothing when a session is saved."""
