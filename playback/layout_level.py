"""One level of a picture as plain numbers: what stands in one frame, or at the top.

A level knows no keys: nodes and edges are numbered, so that two modules of the same make are equal
as levels and share one layout. Levels flow downwards: ``y`` grows along the flow, ``x`` is across.
"""

from collections.abc import Callable
from typing import NamedTuple

from playback.picture import Seat

OP, LEAF, BOX, ENTRY, EXIT, BEND = range(6)
"""Kinds of nodes. BOX is an open frame seen from outside; ENTRY and EXIT are the places where wires
pass the border of the level; a BEND is where a long edge passes a row."""

Check = Callable[[], None]
"""Called between steps; raises to give up."""

Point = tuple[float, float]


class Cancelled(Exception):
    """The caller does not want the placement any more."""


class Node(NamedTuple):
    """One thing to place. ``left`` and ``right`` are its extents from its axis, across the flow.

    The axis is the line that a straight chain of nodes shares: the middle of a card, the main exit
    of a frame.
    """

    left: float
    right: float
    height: float
    kind: int


class Edge(NamedTuple):
    """One wire: starts ``out`` right of its source's axis, ends ``into`` right of its target's.

    Edges of one ``net`` carry the same value; they may run along a shared trunk.
    """

    source: int
    target: int
    out: float
    into: float
    net: int


class Style(NamedTuple):
    """Distances, in scene units: along the flow first, then across."""

    before: float
    """From the border that the flow enters to the first row."""
    after: float
    left: float
    right: float
    row_gap: float
    """Between rows: room for the labels on the wires."""
    card_gap: float
    """Between cards of a row."""
    least_width: float = 0.0
    least_height: float = 0.0


class Level(NamedTuple):
    """Everything that decides how a level is laid out, and nothing else."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    style: Style
    seats: tuple[Seat | None, ...] = ()
    """Where the nodes stood before, None for new ones; empty where nothing is to be kept."""


class Laid(NamedTuple):
    """A level laid out: axis and top per node, points of cubics per edge, size with its pads.

    ``seats``: per node the part and row it stands in, and its middle.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float
    seats: tuple[Seat, ...]
    crossings: int
    """Of the wires, where they are cut into links; what runs along one trunk counts once."""
