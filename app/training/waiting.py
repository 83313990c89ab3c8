"""Busy message after a second without a reply from the engine, as with a big model."""

from PySide6.QtCore import QObject, Signal

from app.training.session import TrainSession
from app.training.state import TrainEngine
from engine import training as say
from widgets.once import once

SILENT_MS = 1000
MAKING = (say.Train, say.Alter, say.Reset, say.Fork, say.Resume)
STEPPING = (say.Advance, say.StepEvent)
UNHEARD = (say.Keep, say.GiveFile, say.LookIntoFile, say.ListParts)
"""Requests in the background, for which no message is shown."""


class Waiting(QObject):
    """Reports what the engine is doing after `SILENT_MS` without a message from it."""

    told = Signal(str, str)
    """(run, progress) for the bar, until the engine reports more."""

    def __init__(
        self, session: TrainSession, link: TrainEngine, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._asked: say.TrainRequest | None = None
        self._timer = once(self, self._report, SILENT_MS)
        link.asked.connect(self._on_request)
        link.received.connect(self._on_message)
        link.died.connect(self.rest)

    def rest(self) -> None:
        """Cancel: no reply is expected."""
        self._asked = None
        self._timer.stop()

    def _on_request(self, message: say.TrainRequest) -> None:
        if not isinstance(message, UNHEARD):
            # Of several pending requests the slow one that builds a run counts.
            if not isinstance(self._asked, MAKING):
                self._asked = message
            if not self._timer.isActive():
                self._timer.start()

    def _on_message(self, message: object) -> None:
        # Messages from before the request may still arrive.
        if not isinstance(self._asked, MAKING) or _answers(message):
            self._asked = None
        elif self._timer.isActive():
            return
        run = self._session.run
        if self._session.plays and run is not None and run.begun is not None:
            self._timer.start()
        else:
            self._timer.stop()

    def _report(self) -> None:
        run = self._session.run
        if run is None or not run.alive:
            return
        if isinstance(self._asked, MAKING):
            words = "building the model…"
        elif self._session.plays or isinstance(self._asked, STEPPING):
            words = f"step {run.step:,} · computing the next…"
        elif isinstance(self._asked, say.Rewind):
            words = f"step {run.step:,} · rewinding…"
        elif run.running:
            words = f"step {run.step:,} · pausing…"
        else:
            # An export or a view of a paused run: no state follows that would replace the message.
            return
        self.told.emit(run.name, words)


def _answers(message: object) -> bool:
    """Return whether a message reports that a run was built, or cannot be."""
    if isinstance(message, say.TrainState):
        return message.status != "running"
    return isinstance(message, say.Begun | say.Altered | say.TrainProblem)
