"""Incoming tapes: long ones are preprocessed in a worker thread before the session shows them."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback import precompute

INLINE_EVENTS = 400
"""Longest tape, in events, that is preprocessed in the GUI thread (some milliseconds)."""
INLINE_EDGES = 2_000
"""Most backward edges of a tape that is preprocessed in the GUI thread."""


class TapeIntake(QObject):
    """Preprocess recorded tapes and emit each when it can be shown without delay."""

    arrived = Signal(object)
    """Carries `messages.Recorded`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = BackgroundWorker(self)

    @property
    def busy(self) -> bool:
        """True while a tape is being preprocessed."""
        return self._worker.is_running

    def accept(self, message: messages.Recorded) -> None:
        """Emit a tape, at once if it is short; a tape that is still waiting is dropped."""
        self._worker.cancel()
        tape = message.tape
        if len(tape.events) <= INLINE_EVENTS and len(tape.edges) <= INLINE_EDGES:
            self.arrived.emit(message)
        else:
            self._worker.submit(
                lambda: _fill_caches(tape), lambda done: self._deliver(message, done)
            )

    def _deliver(self, message: messages.Recorded, done: Callable[[], None]) -> None:
        """Emit the tape even after an error, which recurs where the tape is shown."""
        try:
            done()
        finally:
            self.arrived.emit(message)

    def close(self) -> None:
        """Wait for the worker thread to end; its result is dropped."""
        self._worker.close()


def _fill_caches(tape: Tape) -> None:
    # Imported here: commands import the session and must not pull in widgets.
    from gradscribe.widgets.inspector.panes.page import TensorVersions

    precompute.precompute(tape, len(tape.events))
    TensorVersions.of(tape)
