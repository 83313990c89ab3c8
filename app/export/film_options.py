"""Options of a film: its size, its speed, its part of the tape, with or without the program."""

import re

from msgspec import Struct

from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.tape.loops.steps import Steps
from gradscribe.playback.translation import tr

FrameSize = tuple[int, int] | None
"""Width and height in pixels; None for a size that fits the graph."""
FIT = "fit"
SIZES: tuple[FrameSize, ...] = (None, (640, 480), (1280, 720), (1920, 1080), (1080, 1080))
"""Sizes to choose from."""
MIN_SIZE, MAX_SIZE = (320, 240), (3840, 2160)
"""Limits of a size that is typed; the larger of both sides may be either."""
MIN_SPEED, MAX_SPEED = 0.25, 8.0


class FilmOptions(Struct, frozen=True):
    """Choices for one film."""

    size: FrameSize = None
    speed: float = 1.0
    first: int = 0
    """Position with which the film begins."""
    stop: int | None = None
    """Position with which it ends; None for the end of the tape."""
    code: bool = False
    """Show the program next to the graph."""


def span_of(options: FilmOptions, length: int) -> tuple[int, int]:
    """Return the first and the last position of a film of a tape of ``length`` events.

    Raises:
        Refused: the tape does not have them, or the first is not before the last.
    """
    stop = length if options.stop is None else options.stop
    if options.first == stop == length == 0:
        # A program that failed at once is one still picture.
        return 0, 0
    check_order(options.first, stop, "event")
    if options.first < 0 or stop > length:
        last = stop if stop > length else options.first
        raise Refused(
            tr("There is no event {last:,}: the tape has {length:,}", last=last, length=length)
        )
    return options.first, stop


class FilmSpan:
    """Part of a tape that was marked for the next film; forgotten with the tape."""

    def __init__(self) -> None:
        self._tape: Tape | None = None
        self._first, self._stop = 0, 0

    def of(self, tape: Tape) -> tuple[int, int]:
        """Return the first and the last position; of another tape all of it."""
        if tape is not self._tape:
            return 0, len(tape.events)
        return self._first, self._stop

    def mark_first(self, tape: Tape, position: int) -> None:
        """Let the film begin at a position; it ends later, so at the end if it ended before."""
        _, stop = self.of(tape)
        self._tape, self._first = tape, position
        self._stop = stop if stop > position else len(tape.events)

    def mark_stop(self, tape: Tape, position: int) -> None:
        """Let the film end at a position; it begins earlier, so at the start if it began later."""
        first, _ = self.of(tape)
        self._tape, self._stop = tape, position
        self._first = first if first < position else 0


def check_order(first: int, last: int, noun: str) -> None:
    """Check that a film begins before it ends; for events the last has to be larger.

    Raises:
        Refused: it does not.
    """
    if first > last:
        raise Refused(
            tr(
                "The film would begin at {noun} {first:,}, after its end at {last:,}",
                noun=noun,
                first=first,
                last=last,
            )
        )
    if first == last and noun == "event":
        raise Refused(
            tr("Nothing happens between event {first:,} and event {last:,}", first=first, last=last)
        )


def step_span(steps: Steps, first: int, last: int) -> tuple[int, int]:
    """Return the positions before the step ``first`` and after the step ``last``, from 1 on.

    Raises:
        Refused: the tape does not have these steps.
    """
    if not len(steps):
        raise Refused(tr("The program has no steps: choose events"))
    check_order(first, last, "step")
    if first < 1 or last > len(steps):
        wrong = last if last > len(steps) else first
        raise Refused(
            tr(
                "There is no step {wrong:,}: the tape has {steps_count:,}",
                wrong=wrong,
                steps_count=len(steps),
            )
        )
    return steps.span(first)[0], steps.span(last)[1]


def parse_size(text: str) -> FrameSize:
    """Return the size in a text such as ``1280x720``, or None for ``fit``.

    Raises:
        Refused: it is no such text, or the size is odd, too small or too large.
    """
    if text.strip().lower() == FIT:
        return None
    found = re.fullmatch(r"\s*(\d{1,6})\s*[x×*]\s*(\d{1,6})\s*", text.lower(), re.ASCII)
    if found is None:
        raise Refused(tr("{text} is no size: write 1280x720, or {fit}", text=text, fit=FIT))
    width, height = int(found[1]), int(found[2])
    small, large = sorted((width, height))
    if width < MIN_SIZE[0] or height < MIN_SIZE[1]:
        raise Refused(
            tr(
                "{text} is too small: a film has at least {min_size}x{min_size_2}",
                text=text,
                min_size=MIN_SIZE[0],
                min_size_2=MIN_SIZE[1],
            )
        )
    if large > MAX_SIZE[0] or small > MAX_SIZE[1]:
        raise Refused(
            tr(
                "{text} is too large: a film has at most {max_size}x{max_size_2}",
                text=text,
                max_size=MAX_SIZE[0],
                max_size_2=MAX_SIZE[1],
            )
        )
    if width % 2 or height % 2:
        even = f"{width // 2 * 2}x{height // 2 * 2}"
        raise Refused(
            tr(
                "{text} is not possible: videos have even sides, as {even} has",
                text=text,
                even=even,
            )
        )
    return width, height


def size_text(size: FrameSize) -> str:
    """Return a size as `parse_size` reads it."""
    return FIT if size is None else f"{size[0]}x{size[1]}"


def parse_range(text: str) -> tuple[int | None, int | None]:
    """Return both ends of ``10-40``, ``10-`` or ``-40``; None for an end that is left out.

    Raises:
        Refused: it is no such text.
    """
    found = re.fullmatch(r"\s*(\d{0,9})\s*(?:-|\.\.|…|–)\s*(\d{0,9})\s*", text, re.ASCII)
    if found is None or not (found[1] or found[2]):
        raise Refused(tr("{text} is no range: write 10-40, 10- or -40", text=text))
    first, last = (int(part) if part else None for part in found.groups())
    return first, last
