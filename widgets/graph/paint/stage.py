"""A placed picture, indexed for painting and hit tests: boxes, paths, and adjacency."""

from collections.abc import Callable
from itertools import chain
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath, QPolygonF

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.picture import Card, Frame, Picture, Placement, Rect, Wire
from gradscribe.playback.graph.reading import CardReader
from gradscribe.widgets.graph.paint import frames as frame_paint
from gradscribe.widgets.graph.paint.card import bubbles
from gradscribe.widgets.graph.paint.spatial_index import Boxes, BoxIndex, group_by_tile
from gradscribe.widgets.graph.paint.wire.wires import (
    CUT_AT,
    Polyline,
    arrow_head,
    route_path,
    sample_routes,
)

Line = list[tuple[float, float]]
T = TypeVar("T")

RIM = (14.0, 18.0, 26.0, 20.0)
"""Left, top, right, bottom: how far bubbles stick out of the outermost cards."""
CROWD_SIZE = 300
"""Number of wires at a card above which they cannot be distinguished."""
_WIRE_REACH = 14.0
LONG_WIRE, LABEL_END = 1200.0, 260.0
"""Length above which a wire has labels near its end only, and their largest distance from it."""
TILE_SIDE, LABEL_REACH = 1200.0, 80.0
"""Side of a tile in which labels are placed together, and a label's reach from its wire."""


def to_qrect(rect: Rect) -> QRectF:
    """Convert a placement's rectangle to Qt's."""
    return QRectF(rect.x, rect.y, rect.width, rect.height)


class Stage:
    """Cards, wires and frames of a picture with their geometry; immutable.

    Items missing from the placement are left out, so that painters need no checks.
    """

    def __init__(self, tape: Tape, picture: Picture, placement: Placement) -> None:
        self.picture = picture
        self.placement = placement
        self.cards: dict[str, Card] = {c.key: c for c in picture.cards if c.key in placement.cards}
        self.boxes = {key: to_qrect(placement.cards[key]) for key in self.cards}
        self.frames: dict[str, Frame] = {
            f.key: f for f in picture.frames if f.key in placement.frames
        }
        self.frame_boxes = {key: to_qrect(placement.frames[key]) for key in self.frames}
        self.reader = CardReader(tape, picture.cards)
        self._read_wires()
        self.depths = {key: self._depth(key) for key in self.frames}
        self.frame_order = sorted(self.frames, key=lambda key: self.depths[key])
        self.head_room = self._head_room()
        self.cut_keys = [key for key in self.wire_keys if self.wires[key].cut]
        # At a far zoom a plate grows into all of the space above the content.
        plates = [
            frame_paint.head_box(box, self.head_room[key]) for key, box in self.frame_boxes.items()
        ]
        self._plates = BoxIndex(_array(plates))
        self._marks = BoxIndex(_array([self._mark(key) for key in self.cut_keys]))
        self.card_keys = list(self.cards)
        self.card_index = BoxIndex(_array([self.boxes[key] for key in self.card_keys]))
        samples = list(self._samples.values())
        self.points = np.concatenate(samples) if samples else np.empty((0, 2))
        self.owners = np.repeat(np.arange(len(samples)), [len(line) for line in samples])
        self.wire_boxes = self._wire_boxes()
        self.wire_index = BoxIndex(self.wire_boxes)
        # Sorted by height here, mostly in a worker thread: label placement searches by height.
        order = np.argsort(self.points[:, 1], kind="stable")
        self.points, self.owners = self.points[order], self.owners[order]
        self.tiles = group_by_tile(self._label_boxes(), TILE_SIDE, LABEL_REACH)
        """Numbers of the wires labelled in each tile, and the area of their labels."""
        self.flows_down = self._flows_down()
        self.bounds = self._bounds()

    def _read_wires(self) -> None:
        self.wires: dict[str, Wire] = {}
        self.paths: dict[str, QPainterPath] = _Lazy(self._path)
        self.heads: dict[str, QPolygonF] = _Lazy(self._head)
        self.lines: dict[str, Line] = _Lazy(self._line)
        self.into: dict[str, list[str]] = {key: [] for key in self.cards}
        self.out_of: dict[str, list[str]] = {key: [] for key in self.cards}
        for wire in self.picture.wires:
            route = self.placement.routes.get(wire.key, ())
            if len(route) < 4 or wire.source not in self.cards or wire.target not in self.cards:
                continue
            self.wires[wire.key] = wire
            self.into[wire.target].append(wire.key)
            self.out_of[wire.source].append(wire.key)
        for keys in self.into.values():
            keys.sort(key=lambda key: self.wires[key].operand)
        ends = (*self.into.values(), *self.out_of.values())
        self.crowded = frozenset(chain(*(keys for keys in ends if len(keys) > CROWD_SIZE)))
        """Wires at cards with so many of them that each is drawn as a hairline."""
        self.wire_keys = list(self.wires)
        routes = [self.placement.routes[key] for key in self.wire_keys]
        self._samples = dict(zip(self.wire_keys, sample_routes(routes), strict=True))
        self._tracks: dict[str, Polyline] = {}

    def _flows_down(self) -> bool:
        """Return whether wires arrive from above; in between they may run sideways for longer."""
        ends = np.asarray([self.placement.routes[key][-2:] for key in self.wire_keys])
        along, down = np.abs(np.diff(ends.reshape(-1, 2, 2), axis=1)).sum(axis=(0, 1))
        return bool(down >= along)

    def _depth(self, key: str) -> int:
        depth, seen = 0, {key}
        while (key := self.frames[key].parent) in self.frames and key not in seen:
            seen.add(key)
            depth += 1
        return depth

    def _head_room(self) -> dict[str, float]:
        """Return for every frame the height above all its content."""
        tops = {key: box.bottom() for key, box in self.frame_boxes.items()}
        inner = [(self.cards[key].frame, box.top()) for key, box in self.boxes.items()]
        inner += [(self.frames[key].parent, box.top()) for key, box in self.frame_boxes.items()]
        for key, top in inner:
            if key in tops:
                tops[key] = min(tops[key], top)
        return {key: top - self.frame_boxes[key].top() for key, top in tops.items()}

    def _bounds(self) -> QRectF:
        whole = QRectF()
        for box in (*self.boxes.values(), *self.frame_boxes.values()):
            whole = whole.united(box)
        if self.wire_keys:
            left, top = self.wire_boxes[:, :2].min(axis=0).tolist()
            right, bottom = self.wire_boxes[:, 2:].max(axis=0).tolist()
            whole = whole.united(QRectF(left, top, right - left, bottom - top))
        return whole

    def _wire_boxes(self) -> Boxes:
        """Return left, top, right, bottom of every wire, in the order of `wire_keys`."""
        if not self._samples:
            return np.empty((0, 4))
        lengths = [len(line) for line in self._samples.values()]
        starts = np.cumsum([0, *lengths[:-1]])
        points = self.points
        low, high = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
        return np.concatenate([low, high], axis=1)

    def _label_boxes(self) -> Boxes:
        """Return the boxes of the parts of wires that may carry labels."""
        boxes = self.wire_boxes.copy()
        for number in np.flatnonzero(
            (boxes[:, 2:] - boxes[:, :2]).max(axis=1, initial=0) > LONG_WIRE
        ):
            ends = np.asarray(self.label_line(int(number)))
            boxes[number] = (*ends.min(axis=0), *ends.max(axis=0))
        return boxes

    def _path(self, key: str) -> QPainterPath:
        return route_path(self.placement.routes[key])

    def _head(self, key: str) -> QPolygonF:
        return arrow_head(self.placement.routes[key])

    def _line(self, key: str) -> Line:
        return [(x, y) for x, y in self._samples[key].tolist()]

    def cards_in(self, area: QRectF, reach: float) -> list[str]:
        """Return the keys of the cards within ``reach`` of ``area``, in order of execution."""
        return [self.card_keys[n] for n in self.card_index.touching(area, reach).tolist()]

    def fixed_in(self, area: QRectF, reach: float) -> list[tuple[float, float, float, float]]:
        """Return left, top, right, bottom of the name plates and cut marks near ``area``."""
        boxes = [spots.boxes[spots.touching(area, reach)] for spots in (self._plates, self._marks)]
        rows = np.concatenate(boxes).tolist()
        return [(left, top, right, bottom) for left, top, right, bottom in rows]

    def _mark(self, key: str) -> QRectF:
        x, y, _ = self.track(key).at(CUT_AT)
        return QRectF(x - 9, y - 9, 18, 18)

    def wires_in(self, area: QRectF, reach: float = _WIRE_REACH) -> list[str]:
        """Return the keys of the wires whose boxes are within ``reach`` of ``area``."""
        return [self.wire_keys[n] for n in self.wire_index.touching(area, reach).tolist()]

    def bubble_space(self, key: str) -> tuple[float, float]:
        """Return the distances that the bubble of a card may stick out of it, left and right.

        Bubbles of neighbours stick out to the right. Where there is no neighbour, the limit is the
        rim around the whole graph.
        """
        box = self.boxes[key]
        left, right = box.left() - self.bounds.left() + RIM[0], self.bounds.right() - box.right()
        right += RIM[2]
        for other in self.cards_in(bubbles.bubble_band(box).adjusted(-left, 0, right, 0), 0.0):
            neighbor = self.boxes[other]
            if neighbor.right() <= box.left():
                left = min(left, box.left() - neighbor.right() - bubbles.OVERHANG - bubbles.GAP)
            elif neighbor.left() >= box.right():
                right = min(right, bubbles.OVERHANG)
        return max(0.0, left), max(bubbles.OVERHANG, right)

    def track(self, key: str) -> Polyline:
        """Return the wire's line, parametrized by length."""
        if key not in self._tracks:
            self._tracks[key] = Polyline(self.lines[key])
        return self._tracks[key]

    def label_line(self, number: int) -> Line:
        """Return the part of a wire (by number) that may carry labels: of a long wire, its end."""
        line = self.lines[self.wire_keys[number]]
        left, top, right, bottom = self.wire_boxes[number].tolist()
        if max(right - left, bottom - top) <= LONG_WIRE:
            return line
        x, y = line[-1]
        tail = [p for p in line if abs(p[0] - x) < LABEL_END and abs(p[1] - y) < LABEL_END]
        before = line[max(0, len(line) - len(tail) - 1)]
        share = LABEL_END / max(LABEL_END, abs(before[0] - x), abs(before[1] - y))
        begin = (x + (before[0] - x) * share, y + (before[1] - y) * share)
        return [begin, *tail] if len(tail) < len(line) else line

    def wire_areas(self, key: str) -> list[QRectF]:
        """Return the areas that painting a wire may touch, one per cubic, to keep them small."""
        r, route = _WIRE_REACH, self.placement.routes[key]
        areas = []
        for at in range(0, len(route) - 1, 3):
            piece = route[at : at + 4]
            xs, ys = [x for x, _ in piece], [y for _, y in piece]
            left, top = min(xs), min(ys)
            box = QRectF(left, top, max(xs) - left, max(ys) - top)
            areas.append(box.adjusted(-r, -r, r, r))
        return areas

    def wire_area(self, key: str) -> QRectF:
        """Return the bounding area that painting a wire may touch."""
        r = _WIRE_REACH
        return self.paths[key].boundingRect().adjusted(-r, -r, r, r)

    def card_at(self, point: QPointF, slack: float = 0.0) -> str:
        """Return the key of the card at a scene point, or an empty string."""
        keys = self.cards_in(QRectF(point.x(), point.y(), 0.01, 0.01), slack)
        return keys[-1] if keys else ""

    def head_at(self, point: QPointF) -> str:
        """Return the key of the frame whose name plate is at a scene point, or an empty string."""
        for key in reversed(self.frame_order):
            if frame_paint.head_box(self.frame_boxes[key]).contains(point):
                return key
        return ""

    def wire_at(self, point: QPointF, within: float) -> str:
        """Return the key of the nearest wire within ``within`` scene units, or an empty string."""
        distance, nearest = within, ""
        area = QRectF(point.x(), point.y(), 0.01, 0.01)
        for key in self.wires_in(area, within):
            gap = _distance(self.lines[key], point.x(), point.y())
            if gap < distance:
                distance, nearest = gap, key
        return nearest

    def resembles(self, other: "Stage") -> bool:
        """Return whether most cards of the smaller picture are in both."""
        shared = len(self.cards.keys() & other.cards.keys())
        return shared > 0 and shared * 2 >= min(len(self.cards), len(other.cards))


class _Lazy(dict[str, T]):
    """A dict whose values are computed on first access: most wires are never seen."""

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: str) -> T:
        self[key] = value = self._make(key)
        return value


def _array(boxes: list[QRectF]) -> Boxes:
    rows = [(box.left(), box.top(), box.right(), box.bottom()) for box in boxes]
    return np.asarray(rows, dtype=np.float64).reshape(-1, 4)


def _distance(line: Line, x: float, y: float) -> float:
    """Return the distance of a point from a polyline."""
    at = np.asarray(line, dtype=np.float64)
    start, step = at[:-1], np.diff(at, axis=0)
    size = np.maximum((step**2).sum(axis=1), 1e-12)
    share = np.clip((((x, y) - start) * step).sum(axis=1) / size, 0, 1)
    foot = start + share[:, None] * step
    return float(np.hypot(foot[:, 0] - x, foot[:, 1] - y).min())
