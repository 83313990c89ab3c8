"""The playback clock: it advances the session's position over time."""

from typing import Literal

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.session import Session
from gradscribe.playback.code import line_states
from gradscribe.playback.tape.loops import steps
from gradscribe.playback.tape.tempo import duration, step_duration
from gradscribe.widgets.base.single_shot import single_shot

SLOWEST, FASTEST = 0.25, 8.0
MAX_PLAYED_EVENTS = 60
"""Most events of a line that are played; longer lines are jumped over."""
SWEEP = 4.0
"""Speed above which several events are shown per tick."""

Pace = Literal["event", "line", "step"]
PACES: tuple[Pace, ...] = ("event", "line", "step")


class PlaybackClock(QObject):
    """Play, pause, step and scrub over the session's tape."""

    playing_changed = Signal(bool)
    speed_changed = Signal(float)
    pace_changed = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.speed = 1.0
        """Playback speed, 1 is normal."""
        self.pace: Pace = "event"
        """Plays by event, by line of the program, or by step of its loop."""
        self.playing = False
        """True while the tape is playing."""
        self._until: int | None = None
        self._timer = single_shot(self, self._tick)
        session.tape_changed.connect(self._resume_or_stop)

    @property
    def length(self) -> int:
        """Number of events on the tape."""
        return len(self._session.result.tape.events)

    def play(self) -> None:
        """Play from here, or from the start if the tape is at its end."""
        if self.playing or not self.length:
            return
        if self._session.view.position >= self.length:
            self._session.move(0)
        self._set_playing(True)
        self._tick()

    def play_to(self, position: int) -> None:
        """Play from here and pause at a later position."""
        self.pause()
        if self._session.view.position < min(position, self.length):
            self._until = position
            self._set_playing(True)
            self._tick()

    def play_span(self, start: int, stop: int) -> None:
        """Play the events from ``start`` to ``stop`` (exclusive), and pause."""
        self.pause()
        self._session.move(start)
        self.play_to(stop)

    def pause(self) -> None:
        """Pause."""
        self._until = None
        self._timer.stop()
        self._set_playing(False)

    def toggle(self) -> None:
        """Play if paused, else pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def step(self) -> None:
        """Show the next event, animated."""
        self.pause()
        self._advance(1)

    def back(self) -> None:
        """Go back by one event."""
        self.pause()
        self._session.move(self._session.view.position - 1)

    @property
    def step_count(self) -> int:
        """Number of steps of the tape's loop; 0 without a loop."""
        return len(steps.steps_of(self._session.result.tape))

    def go_to_step(self, number: int) -> None:
        """Go to the same event in another step, clamped to those there are."""
        session = self._session
        tape, here = session.result.tape, session.view.position
        found = steps.steps_of(tape)
        number = min(max(1, number), len(found))
        whole = session.whole_tape
        if whole is not tape and steps.steps_of(whole).is_full(number):
            session.show_whole()
            self.seek(steps.steps_of(whole).span(number)[1])
        elif not len(found) or found.is_full(number):
            self.seek(steps.same_event(tape, here, number))
            session.bring_more(number)
        else:
            self.pause()
            session.bring_step(number)

    def turn_step(self, by: int) -> None:
        """Go ``by`` steps on, or back if negative, to the same event; past the ends nowhere."""
        found = steps.steps_of(self._session.result.tape)
        number = found.number_at(self._session.view.position) + by
        if 1 <= number <= len(found):
            self.go_to_step(number)

    def turn(self, by: int) -> None:
        """Go on (1) or back (-1) by what is played at a time: an event, a line, or a step."""
        found = steps.steps_of(self._session.result.tape)
        if self.pace == "line":
            (self.next_line if by > 0 else self.previous_line)()
        elif self.pace == "event" or not len(found):
            (self.step if by > 0 else self.back)()
        else:
            self.pause()
            is_last = found.number_at(self._session.view.position) == len(found)
            if is_last and by > 0:
                self.to_end()
            else:
                self.turn_step(by)

    def set_pace(self, pace: str) -> None:
        """Play by ``event``, ``line`` or ``step`` from now on; ignores other words."""
        known = next((one for one in PACES if one == pace), self.pace)
        if known != self.pace:
            self.pace = known
            self.pace_changed.emit(known)

    def next_line(self) -> None:
        """Play to the end of the next line, or jump there if that would take long."""
        tape, here = self._session.result.tape, self._session.view.position
        stop = line_states.end_of_next_line(tape, here)
        if stop - here <= MAX_PLAYED_EVENTS:
            self.play_to(stop)
        else:
            self.seek(stop)
            self.pause()

    def previous_line(self) -> None:
        """Go back by one line."""
        self.pause()
        here = self._session.view.position
        self._session.move(line_states.start_of_line(self._session.result.tape, here))

    def reset(self) -> None:
        """Go to the start."""
        self.pause()
        self._session.show_whole()
        self._session.move(0)

    def to_end(self) -> None:
        """Go to the end."""
        self.pause()
        self._session.show_whole()
        self._session.move(self.length)

    def seek(self, position: int) -> None:
        """Jump to a position; playback continues from there."""
        self._session.move(position)
        self._until = None
        if self.playing:
            self._timer.start(duration("op", self.speed))

    def set_speed(self, speed: float) -> None:
        """Set the playback speed, clamped to 0.25 to 8."""
        speed = max(SLOWEST, min(FASTEST, speed))
        if speed != self.speed:
            self.speed = speed
            self.speed_changed.emit(speed)

    def _tick(self) -> None:
        stop = self.length if self._until is None else min(self._until, self.length)
        if self._until is not None or self.pace == "event":
            at_once = max(1, round(self.speed / SWEEP))
            wait = self._advance(min(at_once, stop - self._session.view.position))
        else:
            wait = self._leap()
        if self._session.view.position >= stop:
            # The animation of the last event continues; pausing does not cut it short.
            self._until = None
            self._set_playing(False)
        else:
            self._timer.start(wait)

    def _leap(self) -> int:
        """Advance by a line or by steps and return the milliseconds until the next time."""
        tape, here = self._session.result.tape, self._session.view.position
        found = steps.steps_of(tape)
        if self.pace == "line" or not len(found):
            self._session.move(line_states.end_of_next_line(tape, here))
            return duration("op", self.speed)
        ms, by = step_duration(len(found), self.speed)
        number = found.number_at(here)
        _, stop = found.span(number)
        if here == 0:
            self._session.move(stop)
        elif number == len(found):
            self._session.move(self.length)
        else:
            self._session.move(steps.same_event(tape, here, min(number + by, len(found))))
        return ms

    def _advance(self, events: int) -> int:
        """Advance by ``events`` and return the milliseconds it takes to show them."""
        here = self._session.view.position
        passed = self._session.result.tape.events[here : here + events]
        if not passed:
            return 0
        ms = max(duration(event.kind, min(self.speed, SWEEP)) for event in passed)
        self._session.move(here + len(passed), ms)
        return ms

    def _resume_or_stop(self) -> None:
        if self.playing and self._session.view.position >= self.length:
            self.pause()

    def _set_playing(self, playing: bool) -> None:
        if playing != self.playing:
            self.playing = playing
            self.playing_changed.emit(playing)
