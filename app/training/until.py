"""Training until something holds, and the word on what it was."""

from PySide6.QtCore import QObject

from app.training.room import TrainingRoom
from app.training.session import TrainSession
from app.training.state import Run
from engine.training import Until


class TrainUntil(QObject):
    """Hands what one trains until to the session, and says so once it holds."""

    def __init__(
        self, session: TrainSession, room: TrainingRoom, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._waits = False
        """Whether what was asked for last has yet to hold; after that each step may say it does."""
        self._begin()
        self._menu = room.bar.until_menu
        self._menu.aboutToShow.connect(self._offer)
        room.bar.until_chosen.connect(self._train)
        session.begun.connect(self._begin)
        session.stated.connect(self._tell)

    def _begin(self) -> None:
        """Wait for what a run that begins to train was given an end by, such as its file."""
        self._waits = self._waits or (self._session.plays and bool(self._session.until))

    def _offer(self) -> None:
        run = self._session.run
        self._menu.offer_beyond(run.step if run is not None else 0)

    def _train(self, until: Until) -> None:
        """Train until something holds; a step that lies behind is for the axis to go back to."""
        run = self._session.run
        if until.kind == "step" and run is not None and run.step >= until.value:
            words = f"Step {until.value:,.0f} has been reached; the axis below goes back to it"
            self._session.said.emit(words)
            return
        self._session.play([until])
        # Not before: what is stated meanwhile is how the run stood until now.
        self._waits = True

    def _tell(self, run: Run) -> None:
        state = run.state
        if not self._waits or state is None or run.run_id != self._session.look.run_id:
            return
        kept = next((one for one in self._session.until if one.kind == state.reached), None)
        if kept is None or state.status != "paused":
            return
        self._waits = False
        self._session.said.emit(f"Paused at step {state.step:,}{_because(kept)}")


def _because(until: Until) -> str:
    """Return why a run pauses here; the step itself needs no word."""
    if until.kind == "loss_below":
        return f": the mean of the last 20 losses is below {until.value:g}"
    if until.kind == "plateau":
        return f": the loss has not fallen for {until.value:,.0f} steps"
    return ""
