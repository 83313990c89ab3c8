"""Plays the events of one step's tape in a given time."""

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.tape.tempo import duration
from gradscribe.widgets.base.single_shot import single_shot

LEAST_MS = 45
"""Least time between two positions that are shown."""
SLOW_TURN_MS = 25
"""A film whose positions take longer to show than this jumps to its end."""


class StepFilm(QObject):
    """Moves a position over a tape from its start to its end."""

    moved = Signal(int, int)
    """Carries the position and the milliseconds until the next."""
    ended = Signal()
    """The position is at the end."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.position = 0
        self.plays = False
        """True until the end is reached."""
        self._moves: list[tuple[int, int]] = []
        """Positions that follow, the last first, and milliseconds of each."""
        self._timer = single_shot(self, self._advance)

    def play(self, tape: Tape, ms: int) -> None:
        """Play ``tape`` in ``ms``, or slower than it would otherwise be played."""
        self.stop()
        self._moves = moves(tape, ms)[::-1]
        self.position, self.plays = 0, True
        self._advance()

    def stop(self) -> None:
        """Stop where the position is."""
        self._timer.stop()
        self.plays = False

    def _advance(self) -> None:
        if not self._moves:
            self.plays = False
            self.ended.emit()
            return
        self.position, ms = self._moves.pop()
        clock = QElapsedTimer()
        clock.start()
        self.moved.emit(self.position, ms)
        if not self.plays:
            return
        if clock.elapsed() > SLOW_TURN_MS:
            self._moves = self._moves[:1]
        self._timer.start(ms)


def moves(tape: Tape, ms: int) -> list[tuple[int, int]]:
    """Return the positions that a film of at most ``ms`` shows, and for how long each.

    Events share the time as in playback at any speed; those too short to be seen are shown with the
    next. A film is never slower than playback at speed 1.
    """
    times = [duration(event.kind, 1.0) for event in tape.events]
    share = min(1.0, ms / max(1, sum(times)))
    found: list[tuple[int, int]] = []
    gathered = 0.0
    for position, time in enumerate(times, 1):
        gathered += time * share
        if gathered >= LEAST_MS or position == len(times):
            found.append((position, max(1, round(gathered))))
            gathered = 0.0
    return found
