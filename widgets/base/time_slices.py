"""Long work in the GUI thread in small steps: some in each turn of the event loop."""

from collections.abc import Iterator

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from gradscribe.widgets.base.single_shot import single_shot

END_TURN = True


class TimeSlices(QObject):
    """Run an iterator in the GUI thread, per turn for ``turn_ms`` or a single longer step.

    A step that yields `END_TURN` ends the turn: the next step needs a separate turn.
    ``rest_ms`` pass between two turns, so that user input meanwhile comes first.
    """

    ended = Signal()
    """Emitted after the last step."""

    def __init__(self, turn_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turn_ms = turn_ms
        self.rest_ms = 0
        self._steps: Iterator[bool | None] | None = None
        self._turn = single_shot(self, self.go_on)

    @property
    def busy(self) -> bool:
        """True while there are steps left."""
        return self._steps is not None

    def begin(self, steps: Iterator[bool | None]) -> None:
        """Replace the remaining steps by these; `go_on` or `finish` runs them."""
        self.stop()
        self._steps = steps

    def run(self, steps: Iterator[bool | None]) -> None:
        """Replace the remaining steps by these, and run the first of them at once."""
        self.begin(steps)
        self.go_on()

    def go_on(self) -> None:
        """Run as many steps as one turn of the event loop allows, the others in later turns."""
        since = QElapsedTimer()
        since.start()
        while self._steps is not None:
            if self._step() or since.elapsed() >= self._turn_ms:
                break
        if self._steps is not None:
            self._turn.start(self.rest_ms)

    def finish(self) -> None:
        """Run all remaining steps before this returns."""
        while self._steps is not None:
            self._step()

    def stop(self) -> None:
        """Drop the remaining steps."""
        self._turn.stop()
        self._steps = None

    def _step(self) -> bool | None:
        steps = self._steps
        if steps is None:
            return None
        try:
            return next(steps)
        except StopIteration:
            if self._steps is steps:
                self.stop()
            self.ended.emit()
            return None
        except BaseException:
            self.stop()
            raise
