"""Types of the layout: a level, which is the content of one frame (or the top) as plain numbers.

A level has no keys: nodes and edges are numbered, so that two modules with equal content are equal
levels and share a cached layout. Levels flow downwards: ``y`` grows along the flow, ``x`` across.
"""

from collections.abc import Callable
from typing import NamedTuple

from gradscribe.playback.graph.picture import Seat

OP, LEAF, BOX, ENTRY, EXIT, BEND = range(6)
"""Kinds of nodes. BOX is an open frame seen from outside; ENTRY and EXIT are the points where wires
pass the border of the level; BEND is a dummy node where a long edge passes a row."""

Check = Callable[[], None]
"""Called between steps; raises an exception to abort."""

Point = tuple[float, float]


class Cancelled(Exception):
    """The layout was aborted by its caller."""


class LevelNode(NamedTuple):
    """An item to place. ``left`` and ``right`` are its extents from its axis, across the flow.

    The axis is the line on which nodes of a straight chain are aligned: the middle of a card, the
    main exit of a frame.
    """

    left: float
    right: float
    height: float
    kind: int


class LevelEdge(NamedTuple):
    """A wire from ``out`` units right of its source's axis to ``into`` right of its target's.

    Edges of the same ``net`` carry the same value and may share a trunk.
    """

    source: int
    target: int
    out: float
    into: float
    net: int


class Spacing(NamedTuple):
    """Distances, in scene units: along the flow first, then across."""

    before: float
    """Between the border where the flow enters and the first row."""
    after: float
    left: float
    right: float
    row_gap: float
    """Between rows, with space for the labels on the wires."""
    card_gap: float
    """Between cards of a row."""
    least_width: float = 0.0
    least_height: float = 0.0


class Level(NamedTuple):
    """Input of a level's layout, and key of the cache."""

    nodes: tuple[LevelNode, ...]
    edges: tuple[LevelEdge, ...]
    style: Spacing
    seats: tuple[Seat | None, ...] = ()
    """Old positions of the nodes, None for new nodes; empty where nothing is to be preserved."""


class LevelLayout(NamedTuple):
    """Result of a level's layout: axis and top per node, cubic curves per edge, size with padding.

    ``seats``: per node its component and row, and its middle.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float
    seats: tuple[Seat, ...]
    crossings: int
    """Crossings of links; edges along a shared trunk count once."""
