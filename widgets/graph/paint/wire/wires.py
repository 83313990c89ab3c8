"""Wires: cubic paths, arrow heads, running gradients, and the labels on them."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF

from gradscribe.playback.graph.picture import Wire, WireLook
from gradscribe.widgets.base.theme import Theme, faded, mix
from gradscribe.widgets.graph.paint import shapes

HEAD_LENGTH = 7.0
"""Length of an arrow head."""
LABEL_HEIGHT = 19.0
RIMLESS = ("shape", "part")
"""Kinds of labels without a rim: a value's shape, and which of several outputs it is."""
POINTS_PER_CUBIC = 12
"""Points sampled per cubic of a route."""

Route = tuple[tuple[float, float], ...]

Tone = Literal["rest", "carried", "forward", "share", "backward"]


@dataclass(frozen=True)
class WireLabel:
    """A pill on a wire: its text, its centre and size in scene units."""

    words: str
    x: float
    y: float
    width: float
    kind: Literal["gradient", "active", "shape", "part"]
    scale: float = 1.0

    @property
    def box(self) -> QRectF:
        """The rectangle of the pill."""
        height = (15.0 if self.kind in RIMLESS else LABEL_HEIGHT) * self.scale
        return QRectF(self.x - self.width / 2, self.y - height / 2, self.width, height)


def route_path(points: tuple[tuple[float, float], ...]) -> QPainterPath:
    """Return a placement's route as a path: a start, then triples of a cubic."""
    path = QPainterPath()
    if not points:
        return path
    corners = [QPointF(x, y) for x, y in points]
    path.moveTo(corners[0])
    for first, second, end in zip(corners[1::3], corners[2::3], corners[3::3], strict=False):
        path.cubicTo(first, second, end)
    return path


class Polyline:
    """A polyline parametrized by its length."""

    def __init__(self, line: list[tuple[float, float]]) -> None:
        self._line = line if len(line) > 1 else [(0.0, 0.0), *line, (0.0, 1.0)][-2:]
        steps = [math.dist(a, b) for a, b in pairwise(self._line)]
        self._ends = list(accumulate(steps))

    def at(self, share: float) -> tuple[float, float, float]:
        """Return x, y and the direction (radians) at a share (0 to 1) of the length."""
        wanted = max(0.0, min(1.0, share)) * self._ends[-1]
        n = min(bisect_left(self._ends, wanted), len(self._ends) - 1)
        (ax, ay), (bx, by) = self._line[n], self._line[n + 1]
        begin = self._ends[n - 1] if n else 0.0
        length = self._ends[n] - begin
        t = (wanted - begin) / length if length else 0.0
        return ax + (bx - ax) * t, ay + (by - ay) * t, math.atan2(by - ay, bx - ax)


def sample_routes(routes: Sequence[Route]) -> list[NDArray[np.float64]]:
    """Return a polyline (n, 2) for every route: `POINTS_PER_CUBIC` points per cubic."""
    pieces = [len(route) // 3 for route in routes]
    whole = [route for route, count in zip(routes, pieces, strict=True) if count]
    if not whole:
        return [np.asarray(route, dtype=np.float64).reshape(-1, 2) for route in routes]
    flat = chain.from_iterable(chain.from_iterable(route) for route in whole)
    points = np.fromiter(flat, np.float64).reshape(-1, 2)
    # The corners of a cubic are four points in a row; those of a route share their ends.
    counts = np.asarray([count for count in pieces if count])
    starts = np.concatenate([[0], np.cumsum([len(route) for route in whole])[:-1]])
    firsts = np.repeat(starts, counts) + 3 * _places(counts)
    cubics = points[firsts[:, None] + np.arange(4)]
    t = np.linspace(1 / POINTS_PER_CUBIC, 1, POINTS_PER_CUBIC)
    weights = np.stack([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t**3], axis=1)
    bends = np.einsum("ek,pkc->pec", weights, cubics).reshape(-1, 2)
    lines, first = [], 0
    for route, count in zip(routes, pieces, strict=True):
        stop = first + POINTS_PER_CUBIC * count
        begin = np.asarray(route[:1], dtype=np.float64).reshape(-1, 2)
        lines.append(np.concatenate([begin, bends[first:stop]]))
        first = stop
    return lines


def _places(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0, 1, ... within every group, for the sizes of the groups."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def tone(look: WireLook | None, phase: str, gradients: bool) -> Tone:
    """Return a wire's drawing style; past values are blue only during the forward pass."""
    if look is None:
        return "rest"
    if look.active == "forward":
        return "forward"
    if gradients and look.active == "backward":
        return "backward"
    if gradients and (look.share is not None or look.shares) and not look.past:
        return "share"
    return "carried" if look.carried and phase == "forward" else "rest"


@lru_cache(maxsize=64)
def wire_pen(how: Tone, dashed: bool, theme: Theme, hair: bool = False) -> QPen:
    """Return a wire's shared pen, not to be modified; a ``hair`` is one pixel wide at any zoom."""
    color, width = {
        "rest": (theme.edge, 1.5),
        "carried": (mix(theme.forward, theme.canvas, 0.8), 1.7),
        "forward": (theme.forward, 2.4),
        "share": (mix(theme.backward, theme.canvas, 0.82), 1.9),
        "backward": (theme.backward, 2.6),
    }[how]
    pen = QPen(shapes.pen(color, theme.stroke(width), (5.0, 3.5) if dashed and not hair else ()))
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if hair:
        pen.setWidth(0)
    return pen


def paint(
    painter: QPainter,
    wire: Wire,
    path: QPainterPath,
    head: QPolygonF,
    how: Tone,
    theme: Theme,
    far: bool = False,
    crowded: bool = False,
) -> None:
    """Paint a wire and its ``head``.

    The head shows the way of the value. A wire on which a gradient runs has none, as that runs the
    other way, and keeps it afterwards in the colour of a wire at rest. At a far zoom and in a crowd
    no wire has one. In a crowd none glows either, as the glow of thousands would cover all of them.
    """
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if crowded or (far and how in ("rest", "carried", "share")):
        painter.setPen(wire_pen(how, wire.dashed, theme, True))
        painter.drawPath(path)
        return
    line = wire_pen(how, wire.dashed, theme)
    if how in ("forward", "backward"):
        light = QPen(faded(line.color(), 0.16), 10.0)
        light.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(light)
        painter.drawPath(path)
    painter.setPen(line)
    painter.drawPath(path)
    if how != "backward" and not far:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.edge if how == "share" else line.color())
        painter.drawPolygon(head)


CUT_AT = 0.42
"""Position of the mark of a cut gradient on its wire, as a share of the wire's length."""


def paint_cut(painter: QPainter, track: Polyline, theme: Theme) -> None:
    """Mark a wire whose gradient is cut off; the tool tip says why."""
    x, y, _ = track.at(CUT_AT)
    shapes.scissors(painter, QPointF(x, y), theme.surface, theme.ink2)


def arrow_head(route: Route) -> QPolygonF:
    """Return an arrow head with its tip at the end of a route."""
    x, y = route[-1]
    angle = math.pi / 2
    for ax, ay in reversed(route[:-1]):
        if math.hypot(x - ax, y - ay) > 0.5:
            angle = math.atan2(y - ay, x - ax)
            break
    cos, sin = math.cos(angle), math.sin(angle)
    back_x, back_y = x - HEAD_LENGTH * cos, y - HEAD_LENGTH * sin
    half = HEAD_LENGTH * 0.58
    return QPolygonF(
        [
            QPointF(x, y),
            QPointF(back_x - half * sin, back_y + half * cos),
            QPointF(back_x + half * sin, back_y - half * cos),
        ]
    )


def label_width(text: str, kind: str) -> float:
    """Return the width of a label's pill."""
    if kind in RIMLESS:
        return shapes.text_width(text, 10, 500, True) + 8
    return shapes.text_width(text, 11, 600) + 16


def paint_label(painter: QPainter, label: WireLabel, theme: Theme) -> None:
    """Paint the pill of a label; an active label is filled."""
    painter.save()
    painter.translate(label.x, label.y)
    painter.scale(label.scale, label.scale)
    box = label.box.translated(-label.x, -label.y)
    box = QRectF(box.topLeft() / label.scale, box.size() / label.scale)
    if label.kind in RIMLESS:
        shapes.fill(painter, box, 4, faded(theme.canvas, 0.86))
        shapes.write(painter, box, label.words, theme.ink3, 10, 500, shapes.CENTER, True)
    else:
        _paint_pill(painter, box, label, theme)
    painter.restore()


def _paint_pill(painter: QPainter, box: QRectF, label: WireLabel, theme: Theme) -> None:
    active = label.kind == "active"
    ground = theme.backward_soft if active else theme.canvas
    border = theme.backward if active else mix(theme.backward, theme.canvas, 0.8)
    shapes.fill(painter, box, LABEL_HEIGHT / 2, ground)
    shapes.outline(painter, box, LABEL_HEIGHT / 2, border, theme.stroke(1.1))
    shapes.write(painter, box, label.words, theme.backward, 11, 600, shapes.CENTER)
