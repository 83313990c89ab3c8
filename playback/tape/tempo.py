"""Duration of events in playback, and the frames of a video of a tape."""

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from gradscribe.engine.protocol.tape import Event, EventKind

TOKEN_MS = 260
"""Milliseconds that a value or a gradient takes along its wire at speed 1."""
_OTHER_MS: dict[EventKind, int] = {
    "leaf": 140,
    "enter": 60,
    "leave": 60,
    "backward": 160,
    "end": 80,
    "print": 120,
    "zero_grad": 200,
    "grad": 200,
    "write": 200,
    "gap": 400,
    "step": 400,
}
BEGIN_MS, END_MS = 600, 1800
"""Still time before the first event and after the last."""
LONGEST_MS = 120_000
"""Longest video: of a longer tape several events are shown at once."""


def duration(kind: EventKind, speed: float) -> int:
    """Return the milliseconds for which an event of that kind is shown at ``speed``."""
    return round(_OTHER_MS.get(kind, TOKEN_MS) / speed)


LOOP_MS = 24_000
"""Milliseconds in which a long loop plays step by step at speed 1."""
LONGEST_STEP_MS, SHORTEST_STEP_MS = 600, 40
"""Milliseconds for which a step is shown at speed 1; no step is shown shorter at any speed."""


def step_duration(count: int, speed: float) -> tuple[int, int]:
    """Return the milliseconds between two shown steps of ``count``, and the steps from one to next.

    A loop that cannot be shown step by step in time is sampled.
    """
    ms = max(SHORTEST_STEP_MS, min(LONGEST_STEP_MS, LOOP_MS / max(1, count))) / speed
    by = max(1, round(SHORTEST_STEP_MS / ms))
    return round(ms * by), by


class VideoFrame(Struct, frozen=True):
    """A video frame: ``elapsed_ms`` of the ``duration_ms`` from ``before`` to ``position``.

    Without a duration the tape stands still at ``position``.
    """

    before: int
    position: int
    elapsed_ms: float = 0.0
    duration_ms: int = 0


class VideoTiming:
    """Timing of a tape's events in a video with ``fps`` frames a second.

    It shows the events from the position ``first`` to the position ``stop``, or to the end.
    """

    def __init__(
        self,
        events: Sequence[Event],
        fps: int,
        speed: float = 1.0,
        longest_ms: int = LONGEST_MS,
        first: int = 0,
        stop: int | None = None,
    ) -> None:
        self.fps, self.first = fps, first
        self.stop = stop = len(events) if stop is None else stop
        whole = sum(duration(event.kind, speed) for event in events[first:stop])
        self.events_per_move = max(1, math.ceil(whole / longest_ms))
        """Number of events that are shown at once."""
        self._moves: list[tuple[int, int, int]] = []
        """Positions before and after, and milliseconds."""
        for before in range(first, stop, self.events_per_move):
            passed = events[before : min(stop, before + self.events_per_move)]
            ms = max(duration(event.kind, speed) for event in passed)
            self._moves.append((before, before + len(passed), ms))
        self.length_ms = BEGIN_MS + END_MS + sum(ms for _, _, ms in self._moves)

    def __len__(self) -> int:
        """Return the number of frames; at least 1."""
        return max(1, math.ceil(self.length_ms * self.fps / 1000))

    def frames(self) -> Iterator[VideoFrame]:
        """Yield the frames in order; the tape stands still in the first and the last ones."""
        moves = iter(self._moves)
        begun, move = 0.0, (self.first, self.first, BEGIN_MS)
        for frame in range(len(self)):
            now = frame * 1000 / self.fps
            while now >= begun + move[2]:
                begun += move[2]
                move = next(moves, (move[1], move[1], self.length_ms))
            before, position, ms = move
            yield VideoFrame(before, position, now - begun, ms if position > before else 0)
