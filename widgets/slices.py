"""Long work of the interface in small steps: some at each turn of the event loop."""

from collections.abc import Iterator

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from widgets.once import once

LAST = True


class Slices(QObject):
    """Goes through an iterator, each turn for ``turn_ms`` or one step, whichever is longer.

    A step that yields `LAST` ends the turn: what comes next needs one of its own.
    Between two turns it rests for ``rest_ms``, so that what one does meanwhile comes first.
    """

    ended = Signal()
    """Every step was made."""

    def __init__(self, turn_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turn_ms = turn_ms
        self.rest_ms = 0
        self._steps: Iterator[bool | None] | None = None
        self._turn = once(self, self.go_on)

    @property
    def busy(self) -> bool:
        """Whether there are steps left."""
        return self._steps is not None

    def begin(self, steps: Iterator[bool | None]) -> None:
        """Take these steps in place of those that are left; `go_on` or `finish` makes them."""
        self.stop()
        self._steps = steps

    def run(self, steps: Iterator[bool | None]) -> None:
        """Take these steps, and make the first of them at once."""
        self.begin(steps)
        self.go_on()

    def go_on(self) -> None:
        """Make as many steps as one turn of the event loop allows, the others in turns to come."""
        since = QElapsedTimer()
        since.start()
        while self._steps is not None:
            if self._step() or since.elapsed() >= self._turn_ms:
                break
        if self._steps is not None:
            self._turn.start(self.rest_ms)

    def finish(self) -> None:
        """Make all steps that are left before this returns."""
        while self._steps is not None:
            self._step()

    def stop(self) -> None:
        """Leave the other steps undone."""
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
