"""Nesting: division of a picture into levels, one per open frame, and assembly of their layouts.

A wire that leaves or enters frames becomes one edge per level. Wires of the same value pass a
border at the same pin.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple

from gradscribe.playback.graph.picture import (
    Card,
    Flow,
    Frame,
    Picture,
    Placement,
    Rect,
    Seat,
    Wire,
)
from gradscribe.playback.layout.level import (
    BOX,
    ENTRY,
    EXIT,
    LEAF,
    OP,
    Level,
    LevelEdge,
    LevelLayout,
    LevelNode,
    Point,
    Spacing,
)

MARGIN = 24.0
PAD = 14.0
HEAD = 36.0
CARD_GAP = 40.0
ROW_GAP = 48.0
SIDEWAYS_CARD_GAP = 30.0
SIDEWAYS_ROW_GAP = 84.0
"""With the flow to the right the labels lie along the wires and need more space."""

Net = tuple[str, int]
"""Identity of a value: the key of the card that made it, and the index of the output."""


class Pin(NamedTuple):
    """A port of a box: the node inside ``frame`` on its border."""

    frame: str
    node: int


class PendingEdge(NamedTuple):
    """An edge of a level whose ports may be pins of boxes not laid out yet."""

    source: int
    target: int
    out: float | Pin
    into: float | Pin
    net: int


class FrameContent:
    """Content of one frame without inner frames' content; the empty key is the top level."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self.pins: list[int] = []
        self.number: dict[tuple[str, str], int] = {}
        self.nets: dict[Net, int] = {}
        self.edges: list[PendingEdge] = []
        self._known: dict[tuple[tuple[int, int], Net], int] = {}

    def pin(self, net: Net, kind: int) -> int:
        """Return the node where a value passes the border, created at its first use."""
        key = (f"{net[0]}\0{net[1]}", "exit" if kind == EXIT else "entry")
        if key not in self.number:
            self.number[key] = len(self.items) + len(self.pins)
            self.pins.append(kind)
        return self.number[key]

    def edge_of(self, ends: tuple[int, int], out: float | Pin, into: float | Pin, net: Net) -> int:
        """Return the number of the edge of ``net`` between two nodes, created at its first use.

        Edges to a card's port are always new.
        """
        known = (ends, net)
        shared = ends[1] >= len(self.items) or isinstance(into, Pin)
        if shared and known in self._known:
            return self._known[known]
        number = len(self.edges)
        self.edges.append(
            PendingEdge(ends[0], ends[1], out, into, self.nets.setdefault(net, len(self.nets)))
        )
        if shared:
            self._known[known] = number
        return number


class LevelTree:
    """A picture divided into levels, and the edges that each wire consists of."""

    def __init__(
        self, picture: Picture, direction: Flow, seats: Mapping[str, Seat] | None = None
    ) -> None:
        """``seats``: old positions of cards and frames, by their current keys."""
        self.seats = seats or {}
        self.sideways = direction == "right"
        self.cards: dict[str, Card] = {card.key: card for card in picture.cards}
        self.frames: dict[str, Frame] = {frame.key: frame for frame in picture.frames}
        self.outer = {key: self._chain(frame.parent, key) for key, frame in self.frames.items()}
        self.contents: dict[str, FrameContent] = {key: FrameContent() for key in ("", *self.frames)}
        self.innermost_first = sorted(self.frames, key=lambda key: -len(self.outer[key]))
        self._fill(picture)
        self.ins, self.outs = self._ports(picture.wires)
        self.fed = {wire.target for wire in picture.wires}
        self.wire_edges = {wire.key: self._way(wire) for wire in picture.wires}

    def _chain(self, key: str, start: str) -> tuple[str, ...]:
        """Return the frames from ``key`` outwards, ending at the top."""
        chain = []
        while key in self.frames:
            if key == start or key in chain:
                raise ValueError(f"frame {start!r} stands in itself")
            chain.append(key)
            key = self.frames[key].parent
        return (*chain, "")

    def around(self, card: Card) -> tuple[str, ...]:
        """Return the frames around a card, innermost first, ending at the top."""
        return (card.frame, *self.outer[card.frame]) if card.frame in self.frames else ("",)

    def _fill(self, picture: Picture) -> None:
        """Put cards and frames into their levels, a frame at the place of its first card."""
        placed = set()
        for card in picture.cards:
            around = self.around(card)
            for frame, parent in pairwise(around):
                if frame in placed:
                    break
                placed.add(frame)
                self._put("frame", frame, parent)
            self._put("card", card.key, around[0])
        for key in self.frames:
            if key not in placed:
                placed.add(key)
                self._put("frame", key, self.outer[key][0])

    def _put(self, sort: str, key: str, frame: str) -> None:
        level = self.contents[frame]
        level.number[key, sort] = len(level.items)
        level.items.append(key)

    def _ports(self, wires: tuple[Wire, ...]) -> tuple[dict[str, float], dict[Net, float]]:
        """Return the ports' offsets from the axes: per wire at its target, per net at its card."""
        into: dict[str, list[Wire]] = {}
        outputs: dict[str, set[int]] = {}
        for wire in wires:
            for end in (wire.source, wire.target):
                if end not in self.cards:
                    raise ValueError(f"wire {wire.key!r} ends at {end!r}, which is no card")
            into.setdefault(wire.target, []).append(wire)
            outputs.setdefault(wire.source, set()).add(wire.output)
        ins = {}
        for key, arriving in into.items():
            arriving.sort(key=lambda wire: wire.operand)
            for place, wire in enumerate(arriving):
                ins[wire.key] = self._port(key, place, len(arriving))
        outs = {
            (key, output): self._port(key, place, len(numbers))
            for key, numbers in outputs.items()
            for place, output in enumerate(sorted(numbers))
        }
        return ins, outs

    def _port(self, key: str, place: int, count: int) -> float:
        across, _ = self.extent(self.cards[key])
        return across * ((place + 1) / (count + 1) - 0.5)

    def extent(self, card: Card) -> tuple[float, float]:
        """Return the size of a card across the flow and along it."""
        return (card.height, card.width) if self.sideways else (card.width, card.height)

    def _way(self, wire: Wire) -> list[tuple[str, int]]:
        """Return the edges that a wire consists of, as (frame key, number of the edge)."""
        net = (wire.source, wire.output)
        source, target = self.cards[wire.source], self.cards[wire.target]
        if source.frame == target.frame:
            frame = source.frame if source.frame in self.frames else ""
            content = self.contents[frame]
            ends = content.number[wire.source, "card"], content.number[wire.target, "card"]
            return [(frame, content.edge_of(ends, self.outs[net], self.ins[wire.key], net))]
        up, down = self.around(source), self.around(target)
        common = next(inner_frame for inner_frame in up if inner_frame in down)
        way = []
        node = self.contents[up[0]].number[wire.source, "card"]
        out: float | Pin = self.outs[net]
        for inner_frame, parent in pairwise(up):
            if inner_frame == common:
                break
            pin = self.contents[inner_frame].pin(net, EXIT)
            way.append(
                (inner_frame, self.contents[inner_frame].edge_of((node, pin), out, 0.0, net))
            )
            node, out = self.contents[parent].number[inner_frame, "frame"], Pin(inner_frame, pin)
        inner = down[: down.index(common)][::-1]
        for inner_frame, parent in zip(inner, (common, *inner), strict=False):
            pin = self.contents[inner_frame].pin(net, ENTRY)
            box = self.contents[parent].number[inner_frame, "frame"]
            way.append(
                (
                    parent,
                    self.contents[parent].edge_of((node, box), out, Pin(inner_frame, pin), net),
                )
            )
            node, out = pin, 0.0
        last = self.contents[down[0]]
        ends = (node, last.number[wire.target, "card"])
        way.append((down[0], last.edge_of(ends, out, self.ins[wire.key], net)))
        return way

    def style(self, key: str) -> Spacing:
        """Return the distances inside a frame, or at the top."""
        gaps = (SIDEWAYS_ROW_GAP, SIDEWAYS_CARD_GAP) if self.sideways else (ROW_GAP, CARD_GAP)
        if not key:
            return Spacing(MARGIN, MARGIN, MARGIN, MARGIN, *gaps)
        frame = self.frames[key]
        words = 7.5 * len(frame.title) + 6.5 * (len(frame.kind) + len(frame.note))
        least = round(words) + 2 * PAD + 44.0
        if self.sideways:
            return Spacing(PAD, PAD, HEAD, PAD, *gaps, 0.0, least)
        return Spacing(HEAD, PAD, PAD, PAD, *gaps, least, 0.0)

    def level(self, key: str, inside: dict[str, LevelLayout]) -> Level:
        """Return the content of a frame as a level; all boxes in it must be laid out."""
        content = self.contents[key]
        axes = {item: self.axis(item, inside[item]) for item in content.items if item in inside}
        nodes = []
        for item in content.items:
            if (item, "frame") in content.number:
                laid = inside[item]
                nodes.append(LevelNode(axes[item], laid.width - axes[item], laid.height, BOX))
            else:
                nodes.append(self._node(self.cards[item]))
        nodes += [LevelNode(0.0, 0.0, 0.0, kind) for kind in content.pins]

        def port(end: float | Pin) -> float:
            if isinstance(end, Pin):
                return inside[end.frame].x[end.node] - axes[end.frame]
            return end

        edges = (
            LevelEdge(s.source, s.target, port(s.out), port(s.into), s.net) for s in content.edges
        )
        seats = tuple(self.seats.get(item) for item in content.items) if self.seats else ()
        if not any(seats):
            return Level(tuple(nodes), tuple(edges), self.style(key))
        seats += (None,) * len(content.pins)
        return Level(tuple(nodes), tuple(edges), self.style(key), seats)

    def _node(self, card: Card) -> LevelNode:
        across, along = self.extent(card)
        leaf = card.kind in ("parameter", "data", "constant") and card.key not in self.fed
        return LevelNode(across / 2, across / 2, along, LEAF if leaf else OP)

    def axis(self, key: str, laid: LevelLayout) -> float:
        """Return the axis of a frame: its main exit, else its last card."""
        content = self.contents[key]
        count = len(content.items)
        exits = sorted(laid.x[count + k] for k, kind in enumerate(content.pins) if kind == EXIT)
        if exits:
            return exits[(len(exits) - 1) // 2]
        if not count:
            return laid.width / 2
        return laid.x[max(range(count), key=lambda node: (laid.y[node], node))]


def assemble(nest: LevelTree, lay_out: Callable[[Level], LevelLayout]) -> Placement:
    """Lay out all levels, innermost first, and return the placement of the whole picture."""
    inside: dict[str, LevelLayout] = {}
    for key in (*nest.innermost_first, ""):
        inside[key] = lay_out(nest.level(key, inside))
    origin: dict[str, Point] = {"": (0.0, 0.0)}
    cards: dict[str, Rect] = {}
    frames: dict[str, Rect] = {}
    seats: dict[str, Seat] = {}
    for key in ("", *reversed(nest.innermost_first)):
        laid, content = inside[key], nest.contents[key]
        left, top = origin[key]
        for (item, sort), number in content.number.items():
            x, y = left + laid.x[number], top + laid.y[number]
            if number < len(content.items):
                seats[item] = laid.seats[number]
            if sort == "card":
                across, along = nest.extent(nest.cards[item])
                cards[item] = Rect(x - across / 2, y, across, along)
            elif sort == "frame":
                box = inside[item]
                origin[item] = (x - nest.axis(item, box), y)
                frames[item] = Rect(*origin[item], box.width, box.height)
    routes = {
        wire: _joined([(origin[content], inside[content].routes[edge]) for content, edge in way])
        for wire, way in nest.wire_edges.items()
    }
    width, height = inside[""].width, inside[""].height
    whole = Placement(
        cards={key: cards[key] for key in nest.cards},
        frames={key: frames[key] for key in nest.frames},
        routes=routes,
        width=width,
        height=height,
        seats=seats,
    )
    return _turned(whole) if nest.sideways else whole


def _joined(pieces: list[tuple[Point, tuple[Point, ...]]]) -> tuple[Point, ...]:
    """Join routes that meet at borders into one path; consecutive straight pieces are merged."""
    if len(pieces) == 1:
        (left, top), route = pieces[0]
        return tuple([(left + x, top + y) for x, y in route]) if left or top else route
    points: list[Point] = []
    for (left, top), route in pieces:
        moved = [(left + x, top + y) for x, y in route]
        if not points:
            points = moved
            continue
        fresh = moved[1:]
        line = {round(x, 6) for x, _ in (*points[-4:], *fresh[:3])}
        if len(points) > 1 and fresh and len(line) == 1:
            (x, start), (_, end) = points[-4], fresh[2]
            third = (end - start) / 3
            points[-3:] = [(x, start + third), (x, end - third), (x, end)]
            fresh = fresh[3:]
        points += fresh
    return tuple(points)


def _turned(placement: Placement) -> Placement:
    """Return the placement with its two directions exchanged."""

    def turn(rect: Rect) -> Rect:
        return Rect(rect.y, rect.x, rect.height, rect.width)

    return Placement(
        cards={key: turn(rect) for key, rect in placement.cards.items()},
        frames={key: turn(rect) for key, rect in placement.frames.items()},
        routes={key: tuple((y, x) for x, y in route) for key, route in placement.routes.items()},
        width=placement.height,
        height=placement.width,
        seats=placement.seats,
    )
