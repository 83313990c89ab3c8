"""Tapes on their way from the engine to the session: long ones are made ready beside the window."""

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

from engine import wire
from playback import readying

INLINE_EVENTS = 400
"""A tape of at most so many events is handed on at once: it is ready in some milliseconds."""
INLINE_EDGES = 2_000
"""So is one on which at most so many edges carried something back."""


class _Job(QRunnable):
    """One tape to be made ready on the worker thread."""

    def __init__(self, arrivals: "Arrivals", turn: int, message: wire.Recorded) -> None:
        super().__init__()
        self.arrivals, self.turn, self.message = arrivals, turn, message

    def run(self) -> None:
        """Make it ready; a fault in that is met again, and told, where the tape is shown."""
        # Commands know the session, which knows this, and are to know no widgets.
        from widgets.panes.page import Versions

        try:
            readying.ready(self.message.tape, len(self.message.tape.events))
            Versions.of(self.message.tape)
        finally:
            self.arrivals.readied.emit(self.turn, self.message)


class Arrivals(QObject):
    """Hands recorded tapes on in the order they came, each once it can be shown without a wait."""

    arrived = Signal(object)
    """Carries `wire.Recorded`."""
    readied = Signal(int, object)
    """From the worker thread: the turn and the message."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turn = 0
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.readied.connect(self._deliver)

    @property
    def busy(self) -> bool:
        """Whether a tape is being made ready."""
        return self._pool.activeThreadCount() > 0

    def take(self, message: wire.Recorded) -> None:
        """Hand a tape on, at once if it is short; one that still waits is dropped."""
        self._turn += 1
        tape = message.tape
        if len(tape.events) <= INLINE_EVENTS and len(tape.edges) <= INLINE_EDGES:
            self.arrived.emit(message)
        else:
            self._pool.start(_Job(self, self._turn, message))

    def _deliver(self, turn: int, message: wire.Recorded) -> None:
        if turn == self._turn:
            self.arrived.emit(message)

    def close(self) -> None:
        """Let the worker thread end; what it has is dropped."""
        self._turn += 1
        self._pool.clear()
        self._pool.waitForDone()
