"""Layout: where the cards, frames and wires of a picture stand.

Every frame is laid out alone, the innermost first; the places where wires pass its border become
the ports of its box one level up. `layout_level` says what a level is; the steps for one level are
`layout_layers`, `layout_grid`, `layout_order`, `layout_leaves`, `layout_across` and
`layout_routes`, in that order.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from playback.layout_across import across
from playback.layout_grid import TRUNK_FROM, Grid
from playback.layout_layers import back_edges, layers
from playback.layout_leaves import lower
from playback.layout_level import ENTRY, EXIT, Cancelled, Check, Edge, Laid, Level, Node, Point
from playback.layout_nest import Nest, assemble
from playback.layout_order import order
from playback.layout_routes import Bands, lengthened, route
from playback.picture import Flow, Picture, Placement

__all__ = ["Cancelled", "forget", "place"]

KEPT_NODES = 20_000
"""How many nodes the levels kept from earlier calls may have together."""
BOTH_WAYS_UP_TO = 3_000
"""Up to this many nodes and bends a level is tried with trunks and without."""
PART_GAP = 56.0
ASPECT = 1.8
"""Parts without a wire between them are put in lines of about this width to height."""

_one_at_a_time = Lock()
_kept: OrderedDict[Level, Laid] = OrderedDict()


def place(
    picture: Picture,
    direction: Flow = "down",
    cancelled: Callable[[], bool] | None = None,
) -> Placement:
    """Return where everything in a picture stands.

    Operands arrive at the target's edge in their order; long chains are straight; frames hold
    their own cards and nothing else. The same picture always gets the same placement. Levels are
    kept between calls, so that opening one module is cheap; a call waits for one that goes on.

    Args:
        picture: with wires between its own cards; cycles are drawn as wires that climb.
        direction: of the flow.
        cancelled: asked between steps, from the calling thread.

    Raises:
        Cancelled: ``cancelled`` said yes.
        ValueError: a wire names a card that is not there, or frames stand in each other.
    """

    def check() -> None:
        if cancelled is not None and cancelled():
            raise Cancelled

    nest = Nest(picture, direction)
    with _one_at_a_time:
        return assemble(nest, lambda level: lay_out(level, check))


def forget() -> None:
    """Drop what is kept between calls, so that the next one is as slow as the first."""
    with _one_at_a_time:
        _kept.clear()


def lay_out(level: Level, check: Check) -> Laid:
    """Lay one level out, or return it as it was laid out before."""
    laid = _kept.get(level)
    if laid is None:
        laid = _kept[level] = _side_by_side(level, check)
        size = sum(len(kept.nodes) for kept in _kept)
        while size > KEPT_NODES and len(_kept) > 1:
            size -= len(_kept.popitem(last=False)[0].nodes)
    else:
        _kept.move_to_end(level)
    return laid


class Part(NamedTuple):
    """Nodes that hang together, laid out: positions from the part's own left edge."""

    nodes: list[int]
    edges: list[int]
    x: list[float]
    y: list[float]
    routes: list[tuple[Point, ...]]
    width: float
    end: float


def _side_by_side(level: Level, check: Check) -> Laid:
    """Lay out the parts of a level that hang together, and put them beside each other."""
    style = level.style
    parts = [_part(level, *members, check) for members in _components(level)]
    corners, width, height = _shelves(parts, level)
    height = max(height, style.least_height)
    spare = max(style.least_width - width, 0.0)
    x, y = [0.0] * len(level.nodes), [0.0] * len(level.nodes)
    routes: list[tuple[Point, ...]] = [()] * len(level.edges)
    for part, (left, top) in zip(parts, corners, strict=True):
        left += spare / 2
        for number, node in enumerate(part.nodes):
            leaves = level.nodes[node].kind == EXIT
            x[node] = left + part.x[number]
            y[node] = height if leaves else top + part.y[number]
        for number, edge in zip(part.edges, part.routes, strict=True):
            route = [(left + px, top + py) for px, py in edge]
            if level.nodes[level.edges[number].target].kind == EXIT:
                route = lengthened(route, height)
            routes[number] = tuple(route)
    return Laid(tuple(x), tuple(y), tuple(routes), width + spare, height)


def _components(level: Level) -> list[tuple[list[int], list[int]]]:
    """Return nodes and edges that hang together, in order of their first node."""
    lead = list(range(len(level.nodes)))

    def find(node: int) -> int:
        while lead[node] != node:
            lead[node] = node = lead[lead[node]]
        return node

    for edge in level.edges:
        first, second = sorted((find(edge.source), find(edge.target)))
        lead[second] = first
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for node in range(len(level.nodes)):
        parts.setdefault(find(node), ([], []))[0].append(node)
    for number, edge in enumerate(level.edges):
        parts[find(edge.source)][1].append(number)
    return list(parts.values())


def _shelves(parts: list[Part], level: Level) -> tuple[list[Point], float, float]:
    """Return the corners of the parts and the size of the level; pins keep all on one line."""
    style = level.style
    pinned = any(node.kind in (ENTRY, EXIT) for node in level.nodes)
    area = sum((part.width + PART_GAP) * part.end for part in parts)
    limit = max([(area * ASPECT) ** 0.5, 1_200.0, *(part.width for part in parts)])
    corners: list[Point] = []
    left, top, lowest, widest = style.left, 0.0, 0.0, 0.0
    for part in parts:
        if not pinned and left > style.left and left + part.width > limit:
            left, top = style.left, lowest - style.before - style.after + PART_GAP
        corners.append((left, top))
        lowest = max(lowest, top + part.end)
        widest = max(widest, left + part.width)
        left += part.width + PART_GAP
    return corners, max(widest, style.left) + style.right, lowest or style.before + style.after


def _part(level: Level, members: list[int], numbers: list[int], check: Check) -> Part:
    """Lay out nodes that hang together."""
    nodes, edges = list(level.nodes), list(level.edges)
    if len(members) < len(nodes):
        place = {node: number for number, node in enumerate(members)}
        nodes = [nodes[node] for node in members]
        edges = [
            Edge(place[source], place[target], out, into, net)
            for source, target, out, into, net in (edges[number] for number in numbers)
        ]
    back = back_edges(len(nodes), edges)
    layer = layers(nodes, [edge for number, edge in enumerate(edges) if number not in back])
    grid = _ordered(nodes, edges, layer, back, check)
    lower(grid, edges)
    x = across(grid, level.style.card_gap, check)
    bands = Bands(grid, x, level.style)
    return Part(
        nodes=members,
        edges=numbers,
        x=x,
        y=[bands.top_of(node) for node in range(len(nodes))],
        routes=[route(bands, edge, number) for number, edge in enumerate(edges)],
        width=max((x[node] + grid.right[node] for node in range(len(x))), default=0.0),
        end=bands.end,
    )


def _ordered(
    nodes: list[Node], edges: list[Edge], layer: list[int], back: set[int], check: Check
) -> Grid:
    """Return a grid with its rows in order: with trunks or without, whichever crosses less."""
    grid = Grid(nodes, layer)
    grid.lay(edges, back, trunks=True)
    order(grid, check)
    crossings = grid.crossings()
    if not crossings or len(grid.layer) > BOTH_WAYS_UP_TO or not _has_trunks(edges, layer):
        return grid
    plain = Grid(nodes, layer)
    plain.lay(edges, back, trunks=False)
    order(plain, check)
    return plain if plain.crossings() < crossings else grid


def _has_trunks(edges: list[Edge], layer: list[int]) -> bool:
    """Tell whether a value is used often enough for a trunk and passes a row on its way."""
    fan: dict[tuple[int, int], list[int]] = {}
    for edge in edges:
        fan.setdefault((edge.source, edge.net), []).append(layer[edge.target] - layer[edge.source])
    return any(len(spans) >= TRUNK_FROM and sum(s > 1 for s in spans) > 1 for spans in fan.values())
