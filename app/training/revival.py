"""Runs outlive their engine: what it told last of them goes to the one that comes after it."""

from collections.abc import Iterator

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from app.training.files import file_of
from app.training.session import TrainSession
from app.training.state import Run, TrainEngine, branch
from engine import training as say
from playback import text
from widgets.once import once

PLAYING_MS = 1000
"""While a run plays, its engine is asked for it so often at most."""
STANDING_MS = 60
BYTES_A_MS = 4000
"""The more bytes a run has the less often it is asked for: this many in a millisecond."""
UNFIT_MS = 10_000
"""A run that cannot be kept now is asked for again after so long."""
TRIES = 2
"""So often a run is brought back while its engines die over it."""


class Revival(QObject):
    """Keeps what `say.Resume` takes of each run, and sends it when an engine died.

    A run whose engines die while it is being brought back is left alone after `TRIES`: it would do
    so again. A fork that the engine had not made yet, or not told of, is made again.
    """

    said = Signal(str)
    first_kept = Signal()
    """A run of which nothing was kept before can go on in another engine now."""

    def __init__(
        self, session: TrainSession, link: TrainEngine, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._link = session, link
        self._kept: dict[int, say.RunKept] = {}
        self._alive: list[int] = []
        """The runs that the engine held when it was last heard of."""
        self._has: dict[int, tuple[int, int]] = {}
        """The step and the number of changes at which each was asked for."""
        self._coming: dict[int, say.Resume] = {}
        """Runs that are being brought back, and what was sent for each."""
        self._forked: set[int] = set()
        self._tries: dict[int, int] = {}
        self._changes = 0
        self._why = ""
        self._since = QElapsedTimer()
        self._since.start()
        self._pause_ms = 0
        self._timer = once(self, self._ask)
        # After the session, which has then taken what is told.
        link.received.connect(self._take)
        link.died.connect(self._mourn)
        session.touched.connect(self._touch)

    def kept(self, run_id: int) -> say.RunKept | None:
        """Return what is kept of a run; of one that is being brought back what was sent for it."""
        held, sent = self._kept.get(run_id), self._coming.get(run_id)
        run = self._session.find(run_id) if held is None and sent is not None else None
        return say.RunKept(run_id, run.stood, sent.data) if run is not None and sent else held

    def _take(self, message: object) -> None:
        match message:
            case say.Begun(run_id, resumed=resumed):
                if not resumed:
                    self._forget(run_id)
                self._arrive(run_id)
                self._note_alive()
                if self._why and (resumed or run_id in self._forked):
                    self._tell(run_id)
                if message.left:
                    names = ", ".join(message.left)
                    self.said.emit(f"{names} begins anew: it is too much to be kept with the run")
                self._forked.discard(run_id)
            case say.TrainState(run_id, status=status):
                if status == "gone":
                    self._forget(run_id)
                self._note_alive()
                self._plan()
            case say.Altered():
                self._changes += 1
                self._plan()
            case say.RunKept(run_id) if message.problem is None and message.data:
                is_first = run_id not in self._kept
                self._kept[run_id] = message
                self._pause_ms = len(message.data) // BYTES_A_MS
                self._plan()
                if is_first:
                    self.first_kept.emit()
            case say.RunKept():
                self._pause_ms = UNFIT_MS
            case say.TrainProblem(run_id):
                self._arrive(run_id)
                self._tries[run_id] = TRIES

    def _touch(self) -> None:
        self._changes += 1
        self._plan()

    def expect(self, message: say.Resume) -> None:
        """Know of a run out of a file that is on its way to the engine."""
        self._coming[message.run_id] = message
        self._tries[message.run_id] = 1

    def _arrive(self, run_id: int) -> None:
        sent, run = self._coming.pop(run_id, None), self._session.find(run_id)
        if sent is not None and run is not None and run_id not in self._kept:
            # What it came from will do until it has gone on.
            self._kept[run_id] = say.RunKept(run_id, run.stood, sent.data)
        self._tries.pop(run_id, None)

    def _note_alive(self) -> None:
        self._alive = [run.run_id for run in self._session.runs if run.alive and run.begun]
        for run_id in self._kept.keys() - set(self._alive):
            self._forget(run_id)

    def _forget(self, run_id: int) -> None:
        for held in (self._kept, self._has):
            held.pop(run_id, None)

    def close(self) -> None:
        """Ask for nothing more."""
        self._timer.stop()
        self._alive = []

    # Asking

    def _plan(self) -> None:
        """Ask soon for a run of which anything is new."""
        run = self._next()
        if run is None or self._timer.isActive():
            return
        least = PLAYING_MS if run.running else STANDING_MS
        passed = self._since.elapsed()
        self._timer.start(max(STANDING_MS, least - passed, self._pause_ms - passed))

    def _next(self) -> Run | None:
        """Return the run to ask for: one that was left where it stands now, else the driven one."""
        current = self._session.run
        left = (run for run in self._session.runs if run is not current and not run.running)
        runs = (*left, current)
        return next((run for run in runs if run is not None and self._is_news(run)), None)

    def _is_news(self, run: Run) -> bool:
        state = run.state
        if not run.alive or run.begun is None or state is None or state.event:
            return False
        return self._has.get(run.run_id) != (state.step, self._changes)

    def _ask(self) -> None:
        run = self._next()
        if run is not None and run.state is not None:
            self._has[run.run_id] = (run.state.step, self._changes)
            self._since.restart()
            self._link.send(say.Keep(run.run_id))

    # Bringing back

    def _mourn(self, why: str) -> None:
        """Have every run made again where it was last told of, the one that is driven first."""
        self._timer.stop()
        self._why = why
        current = self._session.look.run_id
        lost, self._coming = self._coming, {}
        coming: dict[int, say.Resume] = {}
        for run_id in sorted({*self._alive, *lost}, key=lambda one: one != current):
            run = self._session.find(run_id)
            again = lost.get(run_id) or self._last_known(run)
            self._tries[run_id] = self._tries.get(run_id, 0) + 1
            if run is not None and again is not None and self._tries[run_id] <= TRIES:
                coming[run_id] = again
                self._await(run)
        self._coming = dict(coming)
        # The forks first found, then all sent: an answer may come at once.
        forks = list(self._forks(coming))
        for message in coming.values():
            self._link.send(message)
        for fork in forks:
            self._link.send(fork)
        self._session.runs_changed.emit()
        if self._session.run is not None:
            self._session.stated.emit(self._session.run)

    def _last_known(self, run: Run | None) -> say.Resume | None:
        held = self._kept.get(run.run_id) if run is not None else None
        if run is None or held is None:
            return None
        _cut(run, held.step)
        return say.Resume(run.run_id, held.data, branch(run), *file_of(run.setup))

    def _await(self, run: Run) -> None:
        run.alive, run.problem = True, f"{self._why}; the run is being brought back"

    def _forks(self, coming: dict[int, say.Resume]) -> Iterator[say.Fork]:
        """Yield what makes the forks again of which the engine had not told enough."""
        for run in self._session.runs:
            of, step = branch(run) or (0, 0)
            was_told_of = run.begun is not None
            if of not in coming or run.run_id in coming:
                continue
            if was_told_of and run.run_id not in self._alive:
                continue
            tries = self._tries[run.run_id] = self._tries.get(run.run_id, 0) + (not was_told_of)
            if tries > TRIES:
                continue
            if (held := self._kept.get(of)) is not None:
                step = min(step, held.step)
            run.begun, run.state, run.branch = None, None, (of, step)
            run.stood = run.furthest = step
            _cut(run, step)
            self._await(run)
            self._forked.add(run.run_id)
            yield say.Fork(run.run_id, of, step, run.setup)

    def _tell(self, run_id: int) -> None:
        run, held = self._session.run, self._kept.get(run_id)
        if run is not None and run.run_id == run_id:
            at = text.count(held.step if held is not None else run.step, "step")
            self.said.emit(f"{self._why}; the run is back after {at}, press Play to go on")
            self._why = ""


def _cut(run: Run, step: int) -> None:
    for curve in run.series.values():
        curve.cut(step + 1)
