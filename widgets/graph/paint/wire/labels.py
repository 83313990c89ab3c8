"""Placement of labels: on their wire if it has space, else next to it, never on a card."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradscribe.widgets.graph.paint.wire.wires import LABEL_HEIGHT, Polyline, WireLabel, label_width

Kind = Literal["gradient", "active", "shape", "part"]
Box = tuple[float, float, float, float]
Line = list[tuple[float, float]]
Numbers = NDArray[np.float64]

_ON_WIRE = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82, 0.1, 0.9)
_AT_SOURCE = (0.16, 0.22, 0.28, 0.1, 0.34)
_BESIDE = (0.62, 0.5, 0.38, 0.75, 0.25, 0.88, 0.12)
_GAP = 7.0
_TOKEN, _HEAD = 12.0, 5.0
OUTSIDE_COST, _MARGIN = 60.0, 20.0
"""Cost per scene unit outside the picture, and the distance outside that is still in view."""
_MOST_COVERED = 0.05
"""Share of a label at a far zoom that may lie on something else."""
_ROW = 36.0
"""Half the height of a card and a gap: above the row of cards that a level wire runs in."""


class LabelRequest(NamedTuple):
    """A request to label the polyline ``line``; ``owner`` is its wire's number."""

    key: str
    words: str
    kind: Kind
    line: Line
    owner: int


class LabelPlacer:
    """Place labels; places are cached, as most stay from step to step.

    ``points`` (n, 2) are samples of all wires in scene units, ``owners`` (n,) their wires' numbers:
    a label avoids lying on a foreign wire, and sticking out of ``bounds`` (left, top, right,
    bottom).
    """

    def __init__(
        self, points: Numbers, owners: NDArray[np.intp], bounds: Box | None = None
    ) -> None:
        heights = points[:, 1]
        if (heights[1:] < heights[:-1]).any():
            order = np.argsort(heights, kind="stable")
            points, owners = points[order], owners[order]
        self._points, self._owners = points, owners
        self._heights = np.ascontiguousarray(points[:, 1])
        self._bounds = np.array(bounds if bounds is not None else (-1e9, -1e9, 1e9, 1e9))
        self._found: dict[tuple[str, str, str, float, bytes], WireLabel | None] = {}

    def place(
        self, wishes: Sequence[LabelRequest], taken: Sequence[Box], scale: float = 1.0
    ) -> dict[str, WireLabel]:
        """Return the placed labels by key, in the order of ``wishes``, whatever was placed before.

        ``taken`` are boxes (left, top, right, bottom) that no label may cover: cards and bubbles.
        Labels are ``scale`` times their usual size; where they are larger, at a far zoom, a label
        that would stand far from its wire or on something else is left out.
        """
        boxes = np.zeros((len(taken) + len(wishes), 4))
        if taken:
            boxes[: len(taken)] = taken
        placed: dict[str, WireLabel] = {}
        for n, wish in enumerate(wishes, start=len(taken)):
            label = self._best(wish, boxes[:n], scale)
            if label is None:
                continue
            placed[wish.key] = label
            box = label.box
            boxes[n] = box.left(), box.top(), box.right(), box.bottom()
        return placed

    def _best(self, wish: LabelRequest, taken: Numbers, scale: float) -> WireLabel | None:
        width = label_width(wish.words, wish.kind) * scale
        reach = np.array([width / 2 + 1.5, LABEL_HEIGHT * scale / 2 + 1.5])
        ends = np.array(wish.line)
        low = ends.min(axis=0) - 2 * reach - _ROW
        high = ends.max(axis=0) + 2 * reach + _ROW
        touched = (taken[:, :2] < high).all(axis=1) & (taken[:, 2:] > low).all(axis=1)
        near = taken[touched]
        name = (wish.key, wish.words, wish.kind, scale, near.tobytes())
        if name not in self._found:
            if len(self._found) > 20_000:
                self._found.clear()
            band = slice(*np.searchsorted(self._heights, (low[1], high[1])))
            points = self._points[band]
            inside = (points[:, 0] < high[0]) & (points[:, 0] > low[0])
            foreign = points[inside & (self._owners[band] != wish.owner)]
            far = scale > 1
            x, y, covered = _cheapest(wish, width, reach, near, foreign, self._bounds, far)
            fits = not far or covered <= _MOST_COVERED * width * LABEL_HEIGHT * scale
            label = WireLabel(wish.words, x, y, width, wish.kind, scale)
            self._found[name] = label if fits else None
        return self._found[name]


def _cheapest(
    wish: LabelRequest,
    width: float,
    reach: Numbers,
    near: Numbers,
    foreign: Numbers,
    bounds: Numbers,
    far: bool,
) -> tuple[float, float, float]:
    """Return the centre (x, y) at which a label covers least, and the area that it covers there.

    Earlier candidates win ties.
    """
    spots = np.array(_spots(wish, width, 2 * reach[1], far))
    # The wire's own arrow head stays in sight.
    x, y = wish.line[-1]
    head = np.array([[x - _HEAD, y - 2 * _HEAD, x + _HEAD, y + _HEAD]])
    near = np.concatenate([near, head])
    if wish.kind == "active":
        x, y, _ = Polyline(wish.line).at(0.5)
        token = np.array([[x - _TOKEN, y - _TOKEN, x + _TOKEN, y + _TOKEN]])
        near = np.concatenate([near, token])
    low, high = spots - reach, spots + reach
    across = np.minimum(high[:, None, 0], near[:, 2]) - np.maximum(low[:, None, 0], near[:, 0])
    down = np.minimum(high[:, None, 1], near[:, 3]) - np.maximum(low[:, None, 1], near[:, 1])
    covered = (np.clip(across, 0, None) * np.clip(down, 0, None)).sum(axis=1)
    inside = ((foreign > low[:, None]) & (foreign < high[:, None])).all(axis=2).sum(axis=1)
    outside = np.clip(bounds[:2] - low, 0, None) + np.clip(high - bounds[2:], 0, None)
    cost = (
        covered
        + outside.sum(axis=1)
        + OUTSIDE_COST * np.clip(outside - _MARGIN, 0, None).sum(axis=1)
    )
    best = int(np.argmin(cost * 10 + inside * 4 + np.arange(len(spots)) * 0.5))
    x, y = spots[best]
    return float(x), float(y), float(covered[best])


def _spots(wish: LabelRequest, width: float, height: float, far: bool) -> list[tuple[float, float]]:
    """Return candidate centres: on the wire, next to it, and above or below a level wire."""
    track = Polyline(wish.line)
    (ax, ay), (bx, by) = wish.line[0], wish.line[-1]
    rises = (height / 2 + 14, height / 2 + _ROW)[: 1 if far else 2]
    rises = rises if abs(bx - ax) > abs(by - ay) else ()
    on_wire = [track.at(t)[:2] for t in (_AT_SOURCE if wish.kind == "part" else _ON_WIRE)]
    if wish.kind == "part":
        near = [track.at(t)[:2] for t in _AT_SOURCE]
        aside = width / 2 + _GAP
        return on_wire + [(x + way * aside, y) for x, y in near for way in (-1, 1)]
    beside, above = [], []
    for t in _BESIDE:
        x, y, _ = track.at(t)
        beside += [(x - width / 2 - _GAP, y), (x + width / 2 + _GAP, y)]
        for rise in rises:
            above += [(x, y - rise), (x, y + rise)]
    return on_wire + beside + above
