"""Says what the engine is about where it has not answered for a while, as with a big model."""

from PySide6.QtCore import QObject, Signal

from app.training.session import TrainSession
from app.training.state import TrainEngine
from engine import training as say
from widgets.once import once

SILENT_MS = 1000
MAKING = (say.Train, say.Alter, say.Reset, say.Fork, say.Resume)
STEPPING = (say.Advance, say.StepEvent)
UNHEARD = (say.Keep, say.GiveFile, say.LookIntoFile, say.ListParts)
"""Requests that nobody waits for."""


class Waiting(QObject):
    """Tells, after `SILENT_MS` without a word of the engine, what it has been asked or is doing."""

    told = Signal(str, str)
    """(the run, where it stands), as the bar shows it until the engine tells more."""

    def __init__(
        self, session: TrainSession, link: TrainEngine, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._asked: say.TrainRequest | None = None
        self._timer = once(self, self._tell, SILENT_MS)
        link.asked.connect(self._ask)
        link.received.connect(self._hear)
        link.died.connect(self.rest)

    def rest(self) -> None:
        """Wait for nothing any more."""
        self._asked = None
        self._timer.stop()

    def _ask(self, message: say.TrainRequest) -> None:
        if not isinstance(message, UNHEARD):
            # Of several that wait it is the one that makes something that takes long.
            if not isinstance(self._asked, MAKING):
                self._asked = message
            if not self._timer.isActive():
                self._timer.start()

    def _hear(self, message: object) -> None:
        # What it told before it was asked may still be on its way.
        if not isinstance(self._asked, MAKING) or _answers(message):
            self._asked = None
        elif self._timer.isActive():
            return
        run = self._session.run
        if self._session.plays and run is not None and run.begun is not None:
            self._timer.start()
        else:
            self._timer.stop()

    def _tell(self) -> None:
        run = self._session.run
        if run is None or not run.alive:
            return
        if isinstance(self._asked, MAKING):
            words = "making the model…"
        elif self._session.plays or isinstance(self._asked, STEPPING):
            words = f"step {run.step:,} · at the next…"
        elif isinstance(self._asked, say.Rewind):
            words = f"step {run.step:,} · going back…"
        elif run.running:
            words = f"step {run.step:,} · pausing…"
        else:
            # A file or a picture of a run that stands still: no state that comes takes words back.
            return
        self.told.emit(run.name, words)


def _answers(message: object) -> bool:
    """Whether it is said of something that was to be made that it is, or that it cannot be."""
    if isinstance(message, say.TrainState):
        return message.status != "running"
    return isinstance(message, say.Begun | say.Altered | say.TrainProblem)
