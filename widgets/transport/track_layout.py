"""Layout of a track's segments on the scrubber, and their grouping into stretches."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from gradscribe.playback.tape.track import PHASE_TITLES, Segment


class SegmentSpan(Struct, frozen=True):
    """A segment on the strip: ``left`` to ``right`` in pixels, ``start`` to ``stop`` in events."""

    phase: str
    start: int
    stop: int
    left: float
    right: float
    name: str = ""
    """Name of the backward pass, if it has one."""

    @property
    def title(self) -> str:
        """The name of the pass, else the phase."""
        return self.name or PHASE_TITLES.get(self.phase, self.phase)

    def x_at(self, position: float) -> float:
        """Return the x of ``position``, clamped to the span."""
        share = (position - self.start) / max(1, self.stop - self.start)
        return self.left + (self.right - self.left) * min(1.0, max(0.0, share))


class TrackSection(Struct, frozen=True):
    """A stretch of the track from one forward pass to the next, with its segments."""

    start: int
    stop: int
    segments: tuple[Segment, ...]


def cut_at_forward(segments: Sequence[Segment]) -> tuple[TrackSection, ...]:
    """Cut a track at every forward pass that follows a backward pass."""
    groups: list[list[Segment]] = []
    ended = True
    for segment in segments:
        if ended and (segment.phase == "Forward" or not groups):
            groups.append([])
            ended = False
        groups[-1].append(segment)
        ended = ended or segment.phase == "Backward"
    return tuple(TrackSection(g[0].start, g[-1].stop, tuple(g)) for g in groups)


def cut_at(segments: Sequence[Segment], starts: Sequence[int]) -> tuple[TrackSection, ...]:
    """Cut a track at the positions ``starts``; a segment that spans one is cut in two."""
    if not segments:
        return ()
    borders = sorted({0, *starts, segments[-1].stop})
    found: list[TrackSection] = []
    at = 0
    for start, stop in pairwise(borders):
        while at < len(segments) and segments[at].stop <= start:
            at += 1
        inside: list[Segment] = []
        for segment in segments[at:]:
            if segment.start >= stop:
                break
            low, high = max(start, segment.start), min(stop, segment.stop)
            inside.append(Segment(segment.phase, low, high, segment.name))
        if inside:
            found.append(TrackSection(start, stop, tuple(inside)))
    return tuple(found)


def section_at(groups: Sequence[TrackSection], position: int) -> int:
    """Return the index of the stretch that the event before ``position`` belongs to."""
    index = bisect_left([group.stop for group in groups], position)
    return min(index, len(groups) - 1)


def layout_segments(
    segments: Sequence[Segment], width: float, gap: float = 4.0, minimum: float = 48.0
) -> tuple[SegmentSpan, ...]:
    """Distribute ``width`` in proportion to the events, with at least ``minimum`` per segment.

    If there are too many segments for that, minimum and gaps shrink, down to 0.
    """
    if not segments:
        return ()
    count = len(segments)
    if count * (gap + minimum) > width:
        minimum = max(0.0, min(minimum, width / count - gap))
        gap = gap if minimum >= 3 else 0.0
    room = max(0.0, width - gap * (count - 1))
    widths = _shares([max(1, s.stop - s.start) for s in segments], room, minimum)
    placed: list[SegmentSpan] = []
    left = 0.0
    for segment, share in zip(segments, widths, strict=True):
        ends = left, left + share
        placed.append(SegmentSpan(segment.phase, segment.start, segment.stop, *ends, segment.name))
        left += share + gap
    return tuple(placed)


def _shares(weights: list[int], room: float, minimum: float) -> list[float]:
    """Distribute ``room`` pixels by weight, with at least ``minimum`` for each."""
    small: set[int] = set()
    while True:
        rest = room - minimum * len(small)
        total = sum(w for i, w in enumerate(weights) if i not in small)
        scale = rest / total if total else 0.0
        more = {i for i, w in enumerate(weights) if i not in small and w * scale < minimum}
        if not more:
            return [minimum if i in small else w * scale for i, w in enumerate(weights)]
        small |= more


LABEL_ORDER = ("Backward", "Forward", "Update", "Loss", "zero_grad")
"""Phases by the importance of their labels where not all fit."""
LABEL_GAP = 8.0
"""Least pixels between two labels."""


def place_labels(
    placed: Sequence[SegmentSpan], width: float, widths: dict[str, float]
) -> tuple[tuple[SegmentSpan, float], ...]:
    """Return the spans that are labelled, each with the x of its label, from left to right.

    ``widths`` are those of the labels in pixels. A label fits into its span; only that of the
    first backward pass may be wider, and is never left out.
    """
    order = {phase: rank for rank, phase in enumerate(LABEL_ORDER)}
    ranked = sorted(placed, key=lambda span: order.get(span.phase, len(order)))
    found: list[tuple[SegmentSpan, float]] = []
    for span in ranked:
        need = widths[span.title]
        is_first = not found and span.phase == LABEL_ORDER[0]
        if need > span.right - span.left + 0.5 and not is_first:
            continue
        left = max(0.0, min(span.left, width - need))
        if all(
            left >= x + widths[other.title] + LABEL_GAP or x >= left + need + LABEL_GAP
            for other, x in found
        ):
            found.append((span, left))
    return tuple(sorted(found, key=lambda label: label[1]))


def position_at(placed: Sequence[SegmentSpan], x: float) -> int:
    """Return the event position nearest to ``x`` on the strip."""
    if not placed:
        return 0
    for span in placed:
        if x <= span.right:
            share = (x - span.left) / max(1e-9, span.right - span.left)
            return span.start + round(min(1.0, max(0.0, share)) * (span.stop - span.start))
    return placed[-1].stop
