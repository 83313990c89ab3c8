"""Quality measures of a drawn graph: crossings, wires through cards, order of operands.

Every layout engine is measured by the same rules: cards are rectangles, routes are polylines.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gradscribe.playback.graph.picture import Picture, Placement, Rect

Line = NDArray[np.float64]
"""Points (n, 2) of a route."""

PER_CURVE = 12
CELL = 96.0
"""Side of the squares that segments are sorted into, in scene units."""
SAME = 0.5
"""Distance within which crossings of the same two values count once, in scene units."""
ROOM = 1.0
"""Depth inside a card's border up to which a wire does not count as going through, in units."""


def polyline(route: Sequence[tuple[float, float]]) -> Line:
    """Return a route of cubics (a start, then triples of points) as a polyline."""
    points = np.asarray(route, dtype=np.float64)
    t = np.linspace(1 / PER_CURVE, 1, PER_CURVE)[:, None]
    pieces = [points[:1]]
    for at in range(0, len(points) - 1, 3):
        a, b, c, d = points[at : at + 4]
        if a[0] == b[0] == c[0] == d[0] or a[1] == b[1] == c[1] == d[1]:
            pieces.append(d[None])
            continue
        pieces.append(
            (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
        )
    return np.concatenate(pieces)


def lines_of(placement: Placement) -> dict[str, Line]:
    """Return every route of a placement as a polyline."""
    return {key: polyline(route) for key, route in placement.routes.items()}


class _Segments:
    """All segments of some lines, with the grid squares that each may touch."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.start = np.concatenate([line[:-1] for line in lines] or [np.zeros((0, 2))])
        self.end = np.concatenate([line[1:] for line in lines] or [np.zeros((0, 2))])
        counts = [max(0, len(line) - 1) for line in lines]
        self.line = np.repeat(np.arange(len(lines)), counts)

    def squares(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return segment number, column and row for each square that a segment may touch."""
        low = np.floor(np.minimum(self.start, self.end) / CELL).astype(np.int64)
        high = np.floor(np.maximum(self.start, self.end) / CELL).astype(np.int64)
        return _spread(low, high)


def _spread(
    low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (owner, column, row) for all squares between the two corners of each owner."""
    wide, deep = (high - low + 1).T
    counts = wide * deep
    owner = np.repeat(np.arange(len(low)), counts)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    column = low[owner, 0] + place % wide[owner]
    row = low[owner, 1] + place // wide[owner]
    return owner, column, row


def crossings(lines: Mapping[str, Line], picture: Picture) -> int:
    """Count the points where two wires cross; wires of the same value never cross each other.

    Overlapping wires of one value look like one line, and are crossed only once.
    """
    wires = [wire for wire in picture.wires if len(lines[wire.key]) > 1]
    values: dict[tuple[str, int], int] = {}
    net = np.array([values.setdefault((w.source, w.output), len(values)) for w in wires], int)
    segments = _Segments([lines[wire.key] for wire in wires])
    owner, column, row = segments.squares()
    order = np.lexsort((owner, row, column))
    owner, column, row = owner[order], column[order], row[order]
    edge = np.flatnonzero((np.diff(column) != 0) | (np.diff(row) != 0)) + 1
    count = 0
    for begin, stop in pairwise([0, *edge.tolist(), len(owner)]):
        if stop - begin > 1:
            here = owner[begin:stop]
            square = (int(column[begin]), int(row[begin]))
            count += _crossings_in(segments, here, net[segments.line[here]], square)
    return count


def _crossings_in(
    segments: _Segments, here: NDArray[np.int64], net: NDArray[np.int64], square: tuple[int, int]
) -> int:
    """Count the crossings that lie inside one square of the grid."""
    first, second = np.triu_indices(len(here), 1)
    apart = net[first] != net[second]
    a, b = here[first[apart]], here[second[apart]]
    p, r = segments.start[a], segments.end[a] - segments.start[a]
    q, s = segments.start[b], segments.end[b] - segments.start[b]
    cross = r[:, 0] * s[:, 1] - r[:, 1] * s[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        away = q - p
        t = (away[:, 0] * s[:, 1] - away[:, 1] * s[:, 0]) / cross
        u = (away[:, 0] * r[:, 1] - away[:, 1] * r[:, 0]) / cross
    # Half-open intervals: if a line bends on another one, only one of its two segments counts.
    meets = (np.abs(cross) > 1e-9) & (t >= 0) & (t < 1) & (u >= 0) & (u < 1)
    points = p[meets] + t[meets, None] * r[meets]
    inside = (np.floor(points / CELL) == np.asarray(square)).all(axis=1)
    values = np.sort(np.stack([net[first[apart]], net[second[apart]]], axis=1)[meets][inside])
    return len(np.unique(np.hstack([values, np.rint(points[inside] / SAME)]), axis=0))


def through(
    lines: Mapping[str, Line], cards: Mapping[str, Rect], picture: Picture
) -> list[tuple[str, str]]:
    """Return (wire, card) for every wire that runs through a card that is not its own."""
    wires = [wire for wire in picture.wires if len(lines[wire.key]) > 1]
    segments = _Segments([lines[wire.key] for wire in wires])
    at: dict[tuple[int, int], list[int]] = {}
    for owner, column, row in zip(*(part.tolist() for part in segments.squares()), strict=True):
        at.setdefault((column, row), []).append(owner)
    found: set[tuple[str, str]] = set()
    for key, rect in cards.items():
        low = np.array([rect.x + ROOM, rect.y + ROOM])
        high = np.array([rect.x + rect.width - ROOM, rect.y + rect.height - ROOM])
        corner, far = (np.floor(end[None] / CELL).astype(np.int64) for end in (low, high))
        _, columns, rows = _spread(corner, far)
        near: set[int] = set()
        for square in zip(columns.tolist(), rows.tolist(), strict=True):
            near.update(at.get(square, ()))
        number = np.fromiter(near, np.int64, len(near))
        hits = number[_enters(segments.start[number], segments.end[number], low, high)]
        for line in set(segments.line[hits].tolist()):
            if key not in (wires[line].source, wires[line].target):
                found.add((wires[line].key, key))
    return sorted(found)


def _enters(start: Line, end: Line, low: Line, high: Line) -> NDArray[np.bool_]:
    """Return a mask of the segments that have a point inside a rectangle."""
    way = end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low, to_high = (low - start) / way, (high - start) / way
    still = way == 0
    between = (start > low) & (start < high)
    to_low = np.where(still, np.where(between, -np.inf, np.inf), to_low)
    to_high = np.where(still, np.where(between, np.inf, -np.inf), to_high)
    enter = np.minimum(to_low, to_high).max(axis=1)
    leave = np.maximum(to_low, to_high).min(axis=1)
    blocked = (still & ~between).any(axis=1)
    inside: NDArray[np.bool_] = (np.maximum(enter, 0) < np.minimum(leave, 1)) & ~blocked
    return inside


def ordered(lines: Mapping[str, Line], picture: Picture) -> float:
    """Return the share of neighbouring operands that arrive in order from left to right."""
    arriving: dict[str, list[tuple[int, float]]] = {}
    for wire in picture.wires:
        if len(lines[wire.key]) > 1:
            end = float(lines[wire.key][-1][0])
            arriving.setdefault(wire.target, []).append((wire.operand, end))
    pairs = [(a, b) for ends in arriving.values() for (_, a), (_, b) in pairwise(sorted(ends))]
    return sum(a < b for a, b in pairs) / len(pairs) if pairs else 1.0


def swapped(picture: Picture, old: Mapping[str, Rect], new: Mapping[str, Rect]) -> int:
    """Count neighbours in a row whose order changed between two layouts."""
    rows: dict[tuple[str, float], list[str]] = {}
    for card in picture.cards:
        if card.key in new:
            rect = old[card.key]
            rows.setdefault((card.frame, round(rect.y + rect.height / 2)), []).append(card.key)
    count = 0
    for row in rows.values():
        row.sort(key=lambda key: old[key].x + old[key].width / 2)
        count += sum(
            new[a].x + new[a].width / 2 > new[b].x + new[b].width / 2 for a, b in pairwise(row)
        )
    return count
