"""Runs outlive their engine: what it told last of them goes to the one that comes after it."""

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from app.training.files import file_of
from app.training.session import TrainSession
from app.training.state import Run, TrainEngine
from engine import training as say
from playback import text
from widgets.once import once

PLAYING_MS = 1000
"""While a run plays, its engine is asked for it so often at most."""
STANDING_MS = 60
BYTES_A_MS = 4000
"""The more bytes a run has the less often it is asked for: this many in a millisecond."""


class Revival(QObject):
    """Keeps what `say.Resume` takes of each run, and sends it when an engine died.

    A run whose engine dies while it is being brought back is left alone: it would do so again.
    """

    said = Signal(str)

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
        self._coming: set[int] = set()
        """Runs that are being brought back."""
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
        """Return what is kept of a run."""
        return self._kept.get(run_id)

    def _take(self, message: object) -> None:
        match message:
            case say.Begun(run_id, resumed=resumed):
                if not resumed:
                    self._forget(run_id)
                self._coming.discard(run_id)
                self._note_alive()
                if resumed and self._why:
                    self._tell(run_id)
            case say.TrainState(run_id, status=status):
                if status == "gone":
                    self._forget(run_id)
                self._note_alive()
                self._plan()
            case say.Altered():
                self._changes += 1
                self._plan()
            case say.RunKept(run_id) if message.problem is None and message.data:
                self._kept[run_id] = message
                self._pause_ms = len(message.data) // BYTES_A_MS
            case say.TrainProblem(run_id):
                self._coming.discard(run_id)

    def _touch(self) -> None:
        self._changes += 1
        self._plan()

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
        """Ask for the run that is driven soon, if anything of it is new."""
        run = self._session.run
        if run is None or self._timer.isActive() or not self._is_news(run):
            return
        least = PLAYING_MS if run.running else STANDING_MS
        passed = self._since.elapsed()
        self._timer.start(max(STANDING_MS, least - passed, self._pause_ms - passed))

    def _is_news(self, run: Run) -> bool:
        state = run.state
        if not run.alive or run.begun is None or state is None or state.event:
            return False
        return self._has.get(run.run_id) != (state.step, self._changes)

    def _ask(self) -> None:
        run = self._session.run
        if run is not None and run.state is not None and self._is_news(run):
            self._has[run.run_id] = (run.state.step, self._changes)
            self._since.restart()
            self._link.send(say.Keep(run.run_id))

    # Bringing back

    def _mourn(self, why: str) -> None:
        """Have every run made again where it was last told of, the one that is driven first."""
        self._timer.stop()
        lost, self._coming = self._coming, set()
        self._why = why
        current = self._session.look.run_id
        coming: list[tuple[Run, say.RunKept]] = []
        for run_id in sorted(self._alive, key=lambda one: one != current):
            run, held = self._session.find(run_id), self._kept.get(run_id)
            if run is not None and held is not None and run_id not in lost:
                run.alive, run.problem = True, f"{why}; the run is being brought back"
                for curve in run.series.values():
                    curve.cut(held.step + 1)
                coming.append((run, held))
        self._coming = {run.run_id for run, _ in coming}
        for run, held in coming:
            self._link.send(say.Resume(run.run_id, held.data, _parent(run), *file_of(run.setup)))
        self._session.runs_changed.emit()
        if self._session.run is not None:
            self._session.stated.emit(self._session.run)

    def _tell(self, run_id: int) -> None:
        run, held = self._session.run, self._kept.get(run_id)
        if run is not None and run.run_id == run_id and held is not None:
            at = text.count(held.step, "step")
            self.said.emit(f"{self._why}; the run is back after {at}, press Play to go on")
            self._why = ""


def _parent(run: Run) -> tuple[int, int] | None:
    begun = run.begun
    return (begun.parent, begun.parent_step) if begun and begun.parent is not None else None
