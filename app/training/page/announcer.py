"""Announcements of a training run to assistive technology: turns of events, never single steps."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState
from gradscribe.app.ui.speech import announce
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr, translated


class TrainingAnnouncer(QObject):
    """Announce that the current run trains, pauses, fails or ends, and new advice on it.

    The session itself says that a run is solved or has met another condition.
    """

    def __init__(self, session: TrainSession, source: QWidget) -> None:
        """Announce as events of the widget ``source``."""
        super().__init__(source)
        self._session, self._source = session, source
        self._status, self._problem = "", ""
        self._advised: set[tuple[int, str]] = set()
        session.store.state_changed.connect(self._note)
        session.advised.connect(self._note_advice)

    def _note(self, run: RunState) -> None:
        state = run.state
        if run.run_id != self._session.store.look.run_id:
            return
        problem = run.problem
        if state is not None and state.problem is not None:
            problem = translated(state.problem.message)
        status = f"{run.run_id} {state.status}" if state is not None else ""
        was_status, was_problem = self._status, self._problem
        self._status, self._problem = status, problem
        if problem and problem != was_problem:
            announce(self._source, problem)
        elif state is not None and status != was_status and not state.reached:
            announce(self._source, _turn(run, was_status.endswith("running")))

    def _note_advice(self, run: RunState) -> None:
        """Announce the first piece of advice that is new."""
        if run.run_id != self._session.store.look.run_id:
            return
        new = [one for one in run.advice if (run.run_id, one.kind) not in self._advised]
        self._advised |= {(run.run_id, one.kind) for one in new}
        if new:
            announce(self._source, tr("Advice: {words}", words=translated(new[0].words)))


def _turn(run: RunState, was_running: bool) -> str:
    """Return what a run has begun to do; empty for a pause that follows no training."""
    state = run.state
    if state is None:
        return ""
    if state.status == "running":
        return tr("Training")
    if state.status == "ended":
        return tr("The run has ended")
    if state.status != "paused" or not was_running:
        return ""
    loss = run.curve("loss")
    words = tr("Paused at step {step:,}", step=state.step)
    if not len(loss):
        return words
    reached = tr("loss {number}", number=formatting.number(loss.latest))
    return f"{words}, {reached}"
