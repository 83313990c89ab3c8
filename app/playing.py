"""The playback clock: it moves the session's position as time goes by."""

from PySide6.QtCore import QObject, Signal

from app.session import Session
from playback import line_states
from playback.tempo import duration
from widgets.once import once

SLOWEST, FASTEST = 0.25, 8.0
PLAYABLE = 60
"""A line of more events than these is not played, but jumped over."""
SWEEP = 4.0
"""Above this speed several events are shown in one go."""


class Clock(QObject):
    """Play, pause, step and scrub over the session's tape."""

    playing_changed = Signal(bool)
    speed_changed = Signal(float)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._speed = 1.0
        self._playing = False
        self._until: int | None = None
        self._timer = once(self, self._tick)
        session.tape_changed.connect(self._resume_or_stop)

    @property
    def playing(self) -> bool:
        """Whether the tape is running."""
        return self._playing

    @property
    def speed(self) -> float:
        """How many times faster than normal it plays."""
        return self._speed

    @property
    def length(self) -> int:
        """Number of events on the tape."""
        return len(self._session.result.tape.events)

    def play(self) -> None:
        """Play on from here, from the start if the tape is at its end."""
        if self._playing or not self.length:
            return
        if self._session.view.position >= self.length:
            self._session.move(0)
        self._set_playing(True)
        self._tick()

    def play_to(self, position: int) -> None:
        """Play on from here and stand still at a position further on."""
        self.pause()
        if self._session.view.position < min(position, self.length):
            self._until = position
            self._set_playing(True)
            self._tick()

    def pause(self) -> None:
        """Stand still."""
        self._until = None
        self._timer.stop()
        self._set_playing(False)

    def toggle(self) -> None:
        """Play if it stands still, else pause."""
        if self._playing:
            self.pause()
        else:
            self.play()

    def step(self) -> None:
        """Show the next event, as it moves."""
        self.pause()
        self._advance(1)

    def back(self) -> None:
        """Take the last event back."""
        self.pause()
        self._session.move(self._session.view.position - 1)

    def next_line(self) -> None:
        """Play to the end of the line that runs next, or jump there where that would take long."""
        tape, here = self._session.result.tape, self._session.view.position
        stop = line_states.next_line(tape, here)
        if stop - here <= PLAYABLE:
            self.play_to(stop)
        else:
            self.seek(stop)
            self.pause()

    def line_back(self) -> None:
        """Take the last line back."""
        self.pause()
        here = self._session.view.position
        self._session.move(line_states.line_before(self._session.result.tape, here))

    def reset(self) -> None:
        """Go to the start."""
        self.pause()
        self._session.move(0)

    def to_end(self) -> None:
        """Go to the end."""
        self.pause()
        self._session.move(self.length)

    def seek(self, position: int) -> None:
        """Jump to a position; the tape goes on playing from there if it was playing."""
        self._session.move(position)
        self._until = None
        if self._playing:
            self._timer.start(duration("op", self._speed))

    def set_speed(self, speed: float) -> None:
        """Play so many times faster than normal (from 0.25 to 8)."""
        speed = max(SLOWEST, min(FASTEST, speed))
        if speed != self._speed:
            self._speed = speed
            self.speed_changed.emit(speed)

    def _tick(self) -> None:
        at_once = max(1, round(self._speed / SWEEP))
        stop = self.length if self._until is None else min(self._until, self.length)
        wait = self._advance(min(at_once, stop - self._session.view.position))
        if self._session.view.position >= stop:
            # The last event is still on its way; standing still now would not cut it short.
            self._until = None
            self._set_playing(False)
        else:
            self._timer.start(wait)

    def _advance(self, events: int) -> int:
        """Move on by ``events`` and return the milliseconds it takes to show them."""
        here = self._session.view.position
        passed = self._session.result.tape.events[here : here + events]
        if not passed:
            return 0
        ms = max(duration(one.kind, min(self._speed, SWEEP)) for one in passed)
        self._session.move(here + len(passed), ms)
        return ms

    def _resume_or_stop(self) -> None:
        if self._playing and self._session.view.position >= self.length:
            self.pause()

    def _set_playing(self, playing: bool) -> None:
        if playing != self._playing:
            self._playing = playing
            self.playing_changed.emit(playing)
