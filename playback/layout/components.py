"""Connected components of a level: each is laid out alone, then they are packed in lines."""

from collections.abc import Callable
from typing import NamedTuple

from gradscribe.playback.graph.picture import Seat
from gradscribe.playback.layout.grid import TRUNK_FROM, LayeredGrid
from gradscribe.playback.layout.layers import assign_layers, find_back_edges
from gradscribe.playback.layout.level import (
    ENTRY,
    EXIT,
    Check,
    Level,
    LevelEdge,
    LevelLayout,
    LevelNode,
    Point,
    Spacing,
)
from gradscribe.playback.layout.lower_leaves import lower_leaves
from gradscribe.playback.layout.order import RowOrderer
from gradscribe.playback.layout.previous import Seats, count_swaps, estimate_x, stable_layers
from gradscribe.playback.layout.routes import Bands, extend_route, route_edge
from gradscribe.playback.layout.stable_order import StableRowOrderer
from gradscribe.playback.layout.x_positions import assign_x

TRY_BOTH_UP_TO = 3_000
"""Most nodes and bends of a level that is tried both with trunks and without."""
PART_GAP = 56.0
ASPECT = 1.8
"""Width to height that the packing of components aims at."""
NO_SEAT = Seat(0, 0, 0, 0.0, 0.0)


class Component(NamedTuple):
    """Nodes and edges of a component, as numbers in the level, and its old line."""

    nodes: list[int]
    edges: list[int]
    line: int | None


class ComponentLayout(NamedTuple):
    """A component laid out; positions are relative to its own left edge."""

    members: Component
    x: list[float]
    y: list[float]
    rows: list[int]
    routes: list[tuple[Point, ...]]
    width: float
    end: float
    crossings: int


def lay_out_components(level: Level, check: Check) -> LevelLayout:
    """Lay out the connected components of a level, and pack them in lines.

    Nodes that have seats stay in their order in rows, and so do components in lines.
    """
    style = level.style
    groups = _components(level)
    parts = [_part(level, members, check, len(groups) == 1) for members in groups]
    corners, width, height = _shelves(parts, level)
    height = max(height, style.least_height)
    spare = max(style.least_width - width, 0.0)
    x, y = [0.0] * len(level.nodes), [0.0] * len(level.nodes)
    seats = [NO_SEAT] * len(level.nodes)
    routes: list[tuple[Point, ...]] = [()] * len(level.edges)
    line, before = -1, -1.0
    for count, (part, (left, top)) in enumerate(zip(parts, corners, strict=True)):
        line, before = line + (top != before), top
        left += spare / 2
        for number, node in enumerate(part.members.nodes):
            leaves = level.nodes[node].kind == EXIT
            x[node] = left + part.x[number]
            y[node] = height if leaves else top + part.y[number]
            middle = y[node] + level.nodes[node].height / 2
            seats[node] = Seat(line, count, part.rows[number], x[node], middle)
        for number, edge in zip(part.members.edges, part.routes, strict=True):
            route = [(left + px, top + py) for px, py in edge] if left or top else edge
            if level.nodes[level.edges[number].target].kind == EXIT:
                route = extend_route([*route], height)
            routes[number] = tuple(route)
    crossings = sum(part.crossings for part in parts)
    return LevelLayout(
        tuple(x), tuple(y), tuple(routes), width + spare, height, tuple(seats), crossings
    )


def _components(level: Level) -> list[Component]:
    """Return the connected components in order of their first node.

    With seats: old components are not split, components that are now connected absorb those between
    them, and all stay in their order; new components come last.
    """
    lead = list(range(len(level.nodes)))

    def find(node: int) -> int:
        while lead[node] != node:
            lead[node] = node = lead[lead[node]]
        return node

    def join(first: int, second: int) -> None:
        first, second = sorted((find(first), find(second)))
        lead[second] = first

    for edge in level.edges:
        join(edge.source, edge.target)
    _join_old(level, join, find)
    nodes: dict[int, list[int]] = {}
    edges: dict[int, list[int]] = {}
    for node in range(len(level.nodes)):
        nodes.setdefault(find(node), []).append(node)
    for number, edge in enumerate(level.edges):
        edges.setdefault(find(edge.source), []).append(number)
    if not level.seats:
        return [Component(inside, edges.get(top, []), None) for top, inside in nodes.items()]
    places: dict[int, tuple[int, int]] = {}
    for top, inside in nodes.items():
        old = [(seat.line, seat.part) for seat in map(level.seats.__getitem__, inside) if seat]
        places[top] = min(old, default=(-1, len(level.nodes)))
    return [
        Component(nodes[top], edges.get(top, []), line if line >= 0 else None)
        for top, (line, _) in sorted(places.items(), key=lambda item: item[1][1])
    ]


def _join_old(level: Level, join: Callable[[int, int], None], find: Callable[[int], int]) -> None:
    """Join the nodes of old components, and components between two that are now connected."""
    first: dict[tuple[int, int], int] = {}
    for node, seat in enumerate(level.seats):
        if seat is not None:
            join(node, first.setdefault((seat.line, seat.part), node))
    last: dict[tuple[int, int], int] = {}
    old = sorted(first)
    for line, part in old:
        last[line, find(first[line, part])] = part
    for number, (line, part) in enumerate(old):
        for place in old[number + 1 :]:
            if place[0] != line or place[1] > last[line, find(first[line, part])]:
                break
            join(first[line, part], first[place])


def _shelves(parts: list[ComponentLayout], level: Level) -> tuple[list[Point], float, float]:
    """Return the corners of the components and the level's size; with pins all share a line."""
    style = level.style
    pinned = any(node.kind in (ENTRY, EXIT) for node in level.nodes)
    area = sum((part.width + PART_GAP) * part.end for part in parts)
    limit = max([(area * ASPECT) ** 0.5, 1_200.0, *(part.width for part in parts)])
    corners: list[Point] = []
    left, top, lowest, widest = style.left, 0.0, 0.0, 0.0
    line: int | None = None
    for part in parts:
        ends = left > style.left and left + part.width > limit
        if part.members.line is not None:
            ends, line = line not in (None, part.members.line), part.members.line
        if ends and not pinned:
            left, top = style.left, lowest - style.before - style.after + PART_GAP
        corners.append((left, top))
        lowest = max(lowest, top + part.end)
        widest = max(widest, left + part.width)
        left += part.width + PART_GAP
    return corners, max(widest, style.left) + style.right, lowest or style.before + style.after


def _part(level: Level, members: Component, check: Check, alone: bool) -> ComponentLayout:
    """Lay out a component; ``alone``: it is the only one of its level."""
    nodes, edges = list(level.nodes), list(level.edges)
    if len(members.nodes) < len(nodes):
        place = {node: number for number, node in enumerate(members.nodes)}
        nodes = [nodes[node] for node in members.nodes]
        edges = [
            LevelEdge(place[source], place[target], out, into, net)
            for source, target, out, into, net in (edges[number] for number in members.edges)
        ]
    seats: Seats = [level.seats[node] for node in members.nodes] if level.seats else ()
    if any(seats):
        placed = _place_in_previous_order(nodes, edges, level.style, check, seats, alone)
    else:
        placed = _fresh(nodes, edges, level.style, check)
    grid, x, rows, crossings = placed
    bands = Bands(grid, x, level.style)
    return ComponentLayout(
        members=members,
        x=x,
        y=[bands.top_of(node) for node in range(len(nodes))],
        rows=rows,
        routes=[route_edge(bands, edge, number) for number, edge in enumerate(edges)],
        width=max((x[node] + grid.right[node] for node in range(len(x))), default=0.0),
        end=bands.end,
        crossings=crossings,
    )


class PlacedGrid(NamedTuple):
    """A component's grid with ordered rows, x of all nodes and bends, and row of each node.

    Lowered leaves count to the row above, in ``crossings`` too.
    """

    grid: LayeredGrid
    x: list[float]
    rows: list[int]
    crossings: int


def _fresh(
    nodes: list[LevelNode], edges: list[LevelEdge], style: Spacing, check: Check
) -> PlacedGrid:
    """Lay out a component without regard to old positions."""
    back = find_back_edges(len(nodes), edges)
    layer = assign_layers(nodes, _without(edges, back))
    best = _best(nodes, edges, layer, back, lambda grid: RowOrderer(grid, check).run())
    return _spread(best, edges, style, check)


def _spread(
    best: tuple[LayeredGrid, int],
    edges: list[LevelEdge],
    style: Spacing,
    check: Check,
    lowered: bool = True,
) -> PlacedGrid:
    grid, crossings = best
    rows = grid.layer[: grid.size]
    if lowered:
        lower_leaves(grid, edges)
    return PlacedGrid(grid, assign_x(grid, style.card_gap, check), rows, crossings)


def _place_in_previous_order(
    nodes: list[LevelNode],
    edges: list[LevelEdge],
    style: Spacing,
    check: Check,
    seats: Seats,
    alone: bool,
) -> PlacedGrid:
    """Lay out a component such that old neighbours do not change sides.

    Tries, until one preserves all neighbours: a fresh layout (only if not ``alone``), fresh rows
    with the old order in them, the old rows, the old rows without lowered leaves.
    """
    back = find_back_edges(len(nodes), edges)
    forward = _without(edges, back)
    held = [seat is not None for seat in seats]

    def in_rows(layer: list[int], lowered: bool) -> PlacedGrid:
        best = _best(
            nodes,
            edges,
            layer,
            back,
            lambda grid: StableRowOrderer(grid, check, estimate_x(grid, edges, seats), held).run(),
        )
        return _spread(best, edges, style, check, lowered)

    ways: list[Callable[[], PlacedGrid]] = [
        lambda: in_rows(assign_layers(nodes, forward), True),
        lambda: in_rows(stable_layers(nodes, forward, seats), True),
        lambda: in_rows(stable_layers(nodes, forward, seats), False),
    ]
    if not alone:
        ways.insert(0, lambda: _fresh(nodes, edges, style, check))
    found: tuple[int, PlacedGrid] | None = None
    for way in ways:
        placed = way()
        count = count_swaps(seats, placed.x)
        if found is None or count < found[0]:
            found = count, placed
        if not count:
            break
    assert found is not None
    return found[1]


def _without(edges: list[LevelEdge], back: set[int]) -> list[LevelEdge]:
    return [edge for number, edge in enumerate(edges) if number not in back] if back else edges


def _best(
    nodes: list[LevelNode],
    edges: list[LevelEdge],
    layer: list[int],
    back: set[int],
    put_in_order: Callable[[LayeredGrid], None],
) -> tuple[LayeredGrid, int]:
    """Return a grid with ordered rows and its crossings: the better of with and without trunks."""
    grid = LayeredGrid(nodes, layer)
    grid.add_edges(edges, back, trunks=True)
    put_in_order(grid)
    crossings = grid.crossings()
    if not crossings or len(grid.layer) > TRY_BOTH_UP_TO or not _has_trunks(edges, layer):
        return grid, crossings
    plain = LayeredGrid(nodes, layer)
    plain.add_edges(edges, back, trunks=False)
    put_in_order(plain)
    fewer = plain.crossings()
    return (plain, fewer) if fewer < crossings else (grid, crossings)


def _has_trunks(edges: list[LevelEdge], layer: list[int]) -> bool:
    """Return whether some value has enough uses for a trunk and passes rows on its way."""
    fan: dict[tuple[int, int], list[int]] = {}
    for edge in edges:
        fan.setdefault((edge.source, edge.net), []).append(layer[edge.target] - layer[edge.source])
    return any(len(spans) >= TRUNK_FROM and sum(s > 1 for s in spans) > 1 for spans in fan.values())
