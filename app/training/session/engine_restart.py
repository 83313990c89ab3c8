"""Restoring of runs after the engine died: their last known states go to the next engine."""

from collections.abc import Iterator

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from gradscribe.app.training.session.reducer import place_at
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState, TrainEngine, fork_origin
from gradscribe.app.training.setup.files import data_file
from gradscribe.engine.protocol import training as messages
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.single_shot import single_shot

PLAYING_MS = 1000
"""Least time between two states requested of a run that trains."""
STANDING_MS = 60
BYTES_PER_MS = 4000
"""Bytes of a state per millisecond of pause: large runs are requested less often."""
FAILED_MS = 10_000
"""Pause after a state that could not be saved."""
MOST_TRIES = 2
"""Most attempts to restore a run while engines die over it."""


class RunRestorer(QObject):
    """Stores the state of each run, and sends it as `messages.Resume` after an engine died.

    A run is given up after `MOST_TRIES` engines died while restoring it. A fork that the engine
    had not made or reported yet is forked again.
    """

    said = Signal(str)
    first_stored = Signal()
    """The first state of a run is stored: it could continue in another engine now."""

    def __init__(self, session: TrainSession, link: TrainEngine, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._link = session, link
        self._kept: dict[int, messages.RunSaved] = {}
        self._alive: list[int] = []
        """The runs that lived in the engine at its last message."""
        self._has: dict[int, tuple[int, int, int]] = {}
        """The step, the last known step and the number of changes at which the state of each run
        was requested."""
        self._coming: dict[int, messages.ResumeRun] = {}
        """Runs that are being restored, and the message sent for each."""
        self._forked: set[int] = set()
        self._tries: dict[int, int] = {}
        self._changes = 0
        self._why = ""
        self._since = QElapsedTimer()
        self._since.start()
        self._pause_ms = 0
        self._timer = single_shot(self, self._ask)
        # Connected after the session, which has handled a message before this does.
        link.received.connect(self._on_message)
        link.died.connect(self._on_engine_died)
        session.controller.weight_edited.connect(self._on_touched)
        session.controller.woken.connect(self._wake)

    def saved_run(self, run_id: int) -> messages.RunSaved | None:
        """Return the stored state of a run; while it is restored, the state that was sent."""
        held, sent = self._kept.get(run_id), self._coming.get(run_id)
        run = self._session.store.find(run_id) if held is None and sent is not None else None
        return messages.RunSaved(run_id, run.stood, sent.data) if run is not None and sent else held

    def _on_message(self, message: object) -> None:
        match message:
            case messages.RunStarted(run_id, resumed=resumed):
                if not resumed:
                    self._forget(run_id)
                self._note_arrived(run_id)
                self._note_alive()
                if self._why and (resumed or run_id in self._forked):
                    self._report_restored(run_id)
                if message.left:
                    names = ", ".join(message.left)
                    self.said.emit(
                        tr(
                            "{names} is reset: it is too large to be saved with the run",
                            names=names,
                        )
                    )
                self._forked.discard(run_id)
            case messages.TrainState(run_id, status=status):
                if status == "gone":
                    self._note_gone(run_id)
                self._note_alive()
                self._schedule()
            case messages.SetupChanged():
                self._changes += 1
                self._schedule()
            case messages.RunSaved(run_id) if message.problem is None and message.data:
                is_first = run_id not in self._kept
                self._kept[run_id] = message
                self._pause_ms = len(message.data) // BYTES_PER_MS
                self._schedule()
                if is_first:
                    self.first_stored.emit()
            case messages.RunSaved():
                self._pause_ms = FAILED_MS
            case messages.TrainProblem(run_id):
                self._note_arrived(run_id)
                self._tries[run_id] = MOST_TRIES

    def _note_gone(self, run_id: int) -> None:
        """Let a run that the engine dropped for others rest, if its state is known."""
        run = self._session.store.find(run_id)
        if run is not None and run_id in self._kept:
            run.is_dormant = True
            self._has.pop(run_id, None)
            self._session.store.runs_changed.emit()
        else:
            self._forget(run_id)

    def _wake(self, run_id: int) -> None:
        """Send a dormant run to the engine, where it goes on."""
        run = self._session.store.find(run_id)
        again = self._last_known(run)
        if run is not None and again is not None:
            run.is_dormant, run.alive, run.problem = False, True, ""
            self.expect(again)
            self._link.send(again)

    def _on_touched(self) -> None:
        self._changes += 1
        self._schedule()

    def expect(self, message: messages.ResumeRun) -> None:
        """Note a run out of a file that is on its way to the engine, or in it already."""
        self._forget(message.run_id)
        self._coming[message.run_id] = message
        self._tries[message.run_id] = 1

    def _note_arrived(self, run_id: int) -> None:
        sent, run = self._coming.pop(run_id, None), self._session.store.find(run_id)
        if sent is not None and run is not None and run_id not in self._kept:
            # The state that was sent is good until the run has advanced.
            self._kept[run_id] = messages.RunSaved(run_id, run.stood, sent.data)
        self._tries.pop(run_id, None)

    def _note_alive(self) -> None:
        self._alive = [run.run_id for run in self._session.runs if run.alive and run.begun]
        dormant = {run.run_id for run in self._session.runs if run.is_dormant}
        for run_id in self._kept.keys() - set(self._alive) - dormant:
            self._forget(run_id)

    def _forget(self, run_id: int) -> None:
        for held in (self._kept, self._has):
            held.pop(run_id, None)

    def close(self) -> None:
        """Request nothing more."""
        self._timer.stop()
        self._alive = []

    # Requesting states

    def _schedule(self) -> None:
        """Schedule a request for a run that has changed."""
        run = self._next()
        if run is None or self._timer.isActive():
            return
        least = PLAYING_MS if run.running else STANDING_MS
        passed = self._since.elapsed()
        self._timer.start(max(STANDING_MS, least - passed, self._pause_ms - passed))

    def _next(self) -> RunState | None:
        """Return the run to request: a paused one that is not current, else the current one."""
        current = self._session.run
        left = (run for run in self._session.runs if run is not current and not run.running)
        runs = (*left, current)
        return next((run for run in runs if run is not None and self._is_news(run)), None)

    def _is_news(self, run: RunState) -> bool:
        state = run.state
        if not run.alive or run.begun is None or state is None or state.event:
            return False
        return self._has.get(run.run_id) != (state.step, run.last_known, self._changes)

    def _ask(self) -> None:
        run = self._next()
        if run is not None and run.state is not None:
            self._has[run.run_id] = (run.state.step, run.last_known, self._changes)
            self._since.restart()
            self._link.send(messages.SaveRun(run.run_id))

    # Restoring

    def _on_engine_died(self, why: str) -> None:
        """Have every run restored at its last known state, the current one first."""
        self._timer.stop()
        self._why = why
        current = self._session.store.look.run_id
        lost, self._coming = self._coming, {}
        coming: dict[int, messages.ResumeRun] = {}
        for run_id in sorted({*self._alive, *lost}, key=lambda run_id: run_id != current):
            run = self._session.store.find(run_id)
            again = lost.get(run_id) or self._last_known(run)
            self._tries[run_id] = self._tries.get(run_id, 0) + 1
            if run is not None and again is not None and self._tries[run_id] <= MOST_TRIES:
                coming[run_id] = again
                self._mark_restoring(run)
        self._coming = dict(coming)
        # All forks are collected before anything is sent, as a reply may come at once.
        forks = list(self._forks(coming))
        for message in coming.values():
            self._link.send(message)
        for fork in forks:
            self._link.send(fork)
        # Of two runs side by side each engine learns anew that they belong together.
        self._session.controller.pair(self._session.store.right_id)
        self._session.store.runs_changed.emit()
        if self._session.run is not None:
            self._session.store.state_changed.emit(self._session.run)

    def _last_known(self, run: RunState | None) -> messages.ResumeRun | None:
        held = self._kept.get(run.run_id) if run is not None else None
        if run is None or held is None:
            return None
        place_at(run, held.step)
        return messages.ResumeRun(run.run_id, held.data, fork_origin(run), *data_file(run.setup))

    def _mark_restoring(self, run: RunState) -> None:
        run.alive, run.problem = True, tr("{why}; the run is being restored", why=self._why)

    def _forks(self, coming: dict[int, messages.ResumeRun]) -> Iterator[messages.Fork]:
        """Yield requests for the forks that the engine had not reported enough of."""
        for run in self._session.runs:
            of, step = fork_origin(run) or (0, 0)
            was_told_of = run.begun is not None
            if of not in coming or run.run_id in coming:
                continue
            if was_told_of and run.run_id not in self._alive:
                continue
            tries = self._tries[run.run_id] = self._tries.get(run.run_id, 0) + (not was_told_of)
            if tries > MOST_TRIES:
                continue
            if (held := self._kept.get(of)) is not None:
                step = min(step, held.step)
            run.begun, run.state, run.branch = None, None, (of, step)
            run.stood = run.furthest = step
            run.follows_source = False
            place_at(run, step)
            run.ahead, run.flags_ahead = {}, []
            self._mark_restoring(run)
            self._forked.add(run.run_id)
            yield messages.Fork(run.run_id, of, step, run.setup)

    def _report_restored(self, run_id: int) -> None:
        run, held = self._session.run, self._kept.get(run_id)
        if run is not None and run.run_id == run_id:
            at = ngettext(
                "{count:,} step", "{count:,} steps", held.step if held is not None else run.step
            )
            self.said.emit(
                tr(
                    "{why}; the run is restored after {at}, press Train to continue",
                    why=self._why,
                    at=at,
                )
            )
            self._why = ""
