"""Incoming tapes: long ones are preprocessed in a worker thread before the session shows them."""

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

from gradscribe.engine.protocol import messages
from gradscribe.playback import precompute

INLINE_EVENTS = 400
"""Longest tape, in events, that is preprocessed in the GUI thread (some milliseconds)."""
INLINE_EDGES = 2_000
"""Most backward edges of a tape that is preprocessed in the GUI thread."""


class _Job(QRunnable):
    """Preprocessing of one tape in the worker thread."""

    def __init__(self, arrivals: "TapeIntake", turn: int, message: messages.Recorded) -> None:
        super().__init__()
        self.arrivals, self.turn, self.message = arrivals, turn, message

    def run(self) -> None:
        """Fill the caches; an error here recurs, and is reported, where the tape is shown."""
        # Imported here: commands import the session and must not pull in widgets.
        from gradscribe.widgets.inspector.panes.page import TensorVersions

        try:
            precompute.precompute(self.message.tape, len(self.message.tape.events))
            TensorVersions.of(self.message.tape)
        finally:
            self.arrivals.preprocessed.emit(self.turn, self.message)


class TapeIntake(QObject):
    """Preprocess recorded tapes and emit each when it can be shown without delay."""

    arrived = Signal(object)
    """Carries `messages.Recorded`."""
    preprocessed = Signal(int, object)
    """From the worker thread: the turn and the message."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turn = 0
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.preprocessed.connect(self._deliver)

    @property
    def busy(self) -> bool:
        """True while a tape is being preprocessed."""
        return self._pool.activeThreadCount() > 0

    def accept(self, message: messages.Recorded) -> None:
        """Emit a tape, at once if it is short; a tape that is still waiting is dropped."""
        self._turn += 1
        tape = message.tape
        if len(tape.events) <= INLINE_EVENTS and len(tape.edges) <= INLINE_EDGES:
            self.arrived.emit(message)
        else:
            self._pool.start(_Job(self, self._turn, message))

    def _deliver(self, turn: int, message: messages.Recorded) -> None:
        if turn == self._turn:
            self.arrived.emit(message)

    def close(self) -> None:
        """Wait for the worker thread to end; its result is dropped."""
        self._turn += 1
        self._pool.clear()
        self._pool.waitForDone()
