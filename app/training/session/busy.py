"""Busy message after a second without a reply from the engine, as with a big model."""

from PySide6.QtCore import QObject, Signal

from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import TrainEngine
from gradscribe.engine.protocol import training as messages
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

SILENT_MS = 1000
BUILDING = (
    messages.Train,
    messages.ChangeSetup,
    messages.ResetRun,
    messages.Fork,
    messages.ResumeRun,
)
STEPPING = (messages.Advance, messages.StepEvent)
BACKGROUND = (messages.SaveRun, messages.ProvideFile, messages.InspectFile, messages.ListCatalogue)
"""Requests in the background, for which no message is shown."""


class BusyIndicator(QObject):
    """Reports what the engine is doing after `SILENT_MS` without a message from it."""

    told = Signal(str, str)
    """(run, progress) for the bar, until the engine reports more."""

    def __init__(self, session: TrainSession, link: TrainEngine, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._asked: messages.TrainRequest | None = None
        self._timer = single_shot(self, self._report, SILENT_MS)
        link.asked.connect(self._on_request)
        link.received.connect(self._on_message)
        link.died.connect(self.rest)

    def rest(self) -> None:
        """Cancel: no reply is expected."""
        self._asked = None
        self._timer.stop()

    def _on_request(self, message: messages.TrainRequest) -> None:
        if not isinstance(message, BACKGROUND):
            # Of several pending requests the slow one that builds a run counts.
            if not isinstance(self._asked, BUILDING):
                self._asked = message
            if not self._timer.isActive():
                self._timer.start()

    def _on_message(self, message: object) -> None:
        # Messages from before the request may still arrive.
        if not isinstance(self._asked, BUILDING) or _answers(message):
            self._asked = None
        elif self._timer.isActive():
            return
        run = self._session.run
        if self._session.controller.plays and run is not None and run.begun is not None:
            self._timer.start()
        else:
            self._timer.stop()

    def _report(self) -> None:
        run = self._session.run
        if run is None or not run.alive:
            return
        if isinstance(self._asked, BUILDING):
            words = tr("building the model…")
        elif self._session.controller.plays or isinstance(self._asked, STEPPING):
            words = tr("step {step:,} · computing the next…", step=run.step)
        elif isinstance(self._asked, messages.Rewind):
            words = tr("step {step:,} · rewinding…", step=run.step)
        elif run.running:
            words = tr("step {step:,} · pausing…", step=run.step)
        else:
            # An export or a view of a paused run: no state follows that would replace the message.
            return
        # Without the catalogue a run is called by the names of the engine.
        is_named = self._session.store.catalogue is not None
        self.told.emit(run.name if is_named else tr("PyTorch is starting…"), words)


def _answers(message: object) -> bool:
    """Return whether a message reports that a run was built, or cannot be."""
    if isinstance(message, messages.TrainState):
        return message.status != "running"
    return isinstance(message, messages.RunStarted | messages.SetupChanged | messages.TrainProblem)
