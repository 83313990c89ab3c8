"""Training until a stop condition is met, and the message about it."""

from PySide6.QtCore import QObject

from gradscribe.app.training.page.page import TrainingPage
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol.training import StopCondition
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

LAST = 20
"""Losses whose mean is compared with that of a solved run, as the engine does."""


class StopConditionController(QObject):
    """Passes a stop condition to the session, and reports when it is met."""

    def __init__(self, session: TrainSession, page: TrainingPage, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._waits = False
        """True until the last condition is first met; later steps may report it again."""
        self._pause = ""
        """Words on the pause at which the run stands."""
        self._on_begun()
        self._menu = page.bar.until_menu
        self._menu.aboutToShow.connect(self._offer)
        page.bar.until_chosen.connect(self._on_chosen)
        session.store.begun.connect(self._on_begun)
        session.store.state_changed.connect(self._on_state)

    def _on_begun(self) -> None:
        """Wait for the condition that a run begins with, such as that of its file."""
        controller = self._session.controller
        self._waits = self._waits or (controller.plays and bool(controller.until))

    def _offer(self) -> None:
        run = self._session.run
        self._menu.offer_step_after(run.step if run is not None else 0)

    def _on_chosen(self, until: StopCondition) -> None:
        """Train until a condition is met; for a step that has passed, refer to the step axis."""
        run = self._session.run
        if until.kind == "step" and run is not None and run.step >= until.value:
            words = tr(
                "Step {value:,.0f} has been reached; the axis below goes back to it",
                value=until.value,
            )
            self._session.said.emit(words)
            return
        self._session.controller.play([until])
        # Set after `play`, which reports the state from before it.
        self._waits = True

    def _on_state(self, run: RunState) -> None:
        state = run.state
        if self._pause and (state is None or state.status != "paused"):
            self._session.withdrawn.emit(self._pause)
            self._pause = ""
        if not self._waits or state is None or run.run_id != self._session.store.look.run_id:
            return
        conditions = self._session.controller.until
        met = next((until for until in conditions if until.kind == state.reached), None)
        if met is None or state.status != "paused":
            return
        self._waits = False
        if met.kind == "solved":
            self._pause = tr(
                "Solved at step {step:,}{last_losses}",
                step=state.step,
                last_losses=_last_losses(run),
            )
        else:
            self._pause = tr(
                "Paused at step {step:,}{because}", step=state.step, because=_because(met)
            )
        self._session.said.emit(self._pause)


def _last_losses(run: RunState) -> str:
    """Return the losses that count as solved, and how to go on."""
    losses = run.curve("loss").numbers()[-LAST:]
    mean = formatting.number(float(losses.mean())) if losses.size else "low"
    return tr(": the last {last} losses are {mean} on average; Train goes on", last=LAST, mean=mean)


def _because(until: StopCondition) -> str:
    """Return the reason for the pause; reaching a step needs no reason."""
    if until.kind == "loss_below":
        return tr(": the mean of the last 20 losses is below {value:g}", value=until.value)
    if until.kind == "plateau":
        return tr(": the loss has not fallen for {value:,.0f} steps", value=until.value)
    return ""
