"""Parts: what hangs together in a level, laid out alone, and put beside each other."""

from collections.abc import Callable
from typing import NamedTuple

from playback.layout_across import across
from playback.layout_grid import TRUNK_FROM, Grid
from playback.layout_hold import hold
from playback.layout_keep import Seats, guessed, kept_layers, swaps
from playback.layout_layers import back_edges, layers
from playback.layout_leaves import lower
from playback.layout_level import ENTRY, EXIT, Check, Edge, Laid, Level, Node, Point, Style
from playback.layout_order import order
from playback.layout_routes import Bands, lengthened, route
from playback.picture import Seat

BOTH_WAYS_UP_TO = 3_000
"""Up to this many nodes and bends a level is tried with trunks and without."""
PART_GAP = 56.0
ASPECT = 1.8
"""Parts without a wire between them are put in lines of about this width to height."""
NOWHERE = Seat(0, 0, 0, 0.0, 0.0)


class Members(NamedTuple):
    """What a part is made of: nodes and edges of the level, and the line it stood in before."""

    nodes: list[int]
    edges: list[int]
    line: int | None


class Part(NamedTuple):
    """Nodes that hang together, laid out: positions from the part's own left edge."""

    members: Members
    x: list[float]
    y: list[float]
    rows: list[int]
    routes: list[tuple[Point, ...]]
    width: float
    end: float
    crossings: int


def side_by_side(level: Level, check: Check) -> Laid:
    """Lay out the parts of a level that hang together, and put them beside each other.

    Nodes that have seats keep their order in rows, and parts theirs.
    """
    style = level.style
    groups = _components(level)
    parts = [_part(level, members, check, len(groups) == 1) for members in groups]
    corners, width, height = _shelves(parts, level)
    height = max(height, style.least_height)
    spare = max(style.least_width - width, 0.0)
    x, y = [0.0] * len(level.nodes), [0.0] * len(level.nodes)
    seats = [NOWHERE] * len(level.nodes)
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
                route = lengthened([*route], height)
            routes[number] = tuple(route)
    crossings = sum(part.crossings for part in parts)
    return Laid(tuple(x), tuple(y), tuple(routes), width + spare, height, tuple(seats), crossings)


def _components(level: Level) -> list[Members]:
    """Return nodes and edges that hang together, in order of their first node.

    With seats: what hung together before is still one, parts that now hang together take those
    between them along, and all keep their order; new ones come last.
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
        return [Members(inside, edges.get(top, []), None) for top, inside in nodes.items()]
    places: dict[int, tuple[int, int]] = {}
    for top, inside in nodes.items():
        old = [(seat.line, seat.part) for seat in map(level.seats.__getitem__, inside) if seat]
        places[top] = min(old, default=(-1, len(level.nodes)))
    return [
        Members(nodes[top], edges.get(top, []), line if line >= 0 else None)
        for top, (line, _) in sorted(places.items(), key=lambda item: item[1][1])
    ]


def _join_old(level: Level, join: Callable[[int, int], None], find: Callable[[int], int]) -> None:
    """Join what hung together before, and what stood between parts that now hang together."""
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


def _shelves(parts: list[Part], level: Level) -> tuple[list[Point], float, float]:
    """Return the corners of the parts and the size of the level; pins keep all on one line."""
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


def _part(level: Level, members: Members, check: Check, alone: bool) -> Part:
    """Lay out nodes that hang together; ``alone``: there are no others."""
    nodes, edges = list(level.nodes), list(level.edges)
    if len(members.nodes) < len(nodes):
        place = {node: number for number, node in enumerate(members.nodes)}
        nodes = [nodes[node] for node in members.nodes]
        edges = [
            Edge(place[source], place[target], out, into, net)
            for source, target, out, into, net in (edges[number] for number in members.edges)
        ]
    seats: Seats = [level.seats[node] for node in members.nodes] if level.seats else ()
    if any(seats):
        placed = _kept(nodes, edges, level.style, check, seats, alone)
    else:
        placed = _fresh(nodes, edges, level.style, check)
    grid, x, rows, crossings = placed
    bands = Bands(grid, x, level.style)
    return Part(
        members=members,
        x=x,
        y=[bands.top_of(node) for node in range(len(nodes))],
        rows=rows,
        routes=[route(bands, edge, number) for number, edge in enumerate(edges)],
        width=max((x[node] + grid.right[node] for node in range(len(x))), default=0.0),
        end=bands.end,
        crossings=crossings,
    )


class Placed(NamedTuple):
    """A part's grid with its rows in order, the x of all in it, the row of each of its nodes.

    Leaves that were lowered into rows of their own count to the row above, in ``crossings`` too.
    """

    grid: Grid
    x: list[float]
    rows: list[int]
    crossings: int


def _fresh(nodes: list[Node], edges: list[Edge], style: Style, check: Check) -> Placed:
    """Lay a part out from nothing."""
    back = back_edges(len(nodes), edges)
    layer = layers(nodes, _without(edges, back))
    best = _best(nodes, edges, layer, back, lambda grid: order(grid, check))
    return _spread(best, edges, style, check)


def _spread(
    best: tuple[Grid, int], edges: list[Edge], style: Style, check: Check, lowered: bool = True
) -> Placed:
    grid, crossings = best
    rows = grid.layer[: grid.size]
    if lowered:
        lower(grid, edges)
    return Placed(grid, across(grid, style.card_gap, check), rows, crossings)


def _kept(
    nodes: list[Node], edges: list[Edge], style: Style, check: Check, seats: Seats, alone: bool
) -> Placed:
    """Lay a part out such that old neighbours do not change sides.

    The first way that keeps them is taken: as if it were all new, with the rows of that but the
    old order in them, with the old rows.
    """
    back = back_edges(len(nodes), edges)
    forward = _without(edges, back)
    held = [seat is not None for seat in seats]

    def in_rows(layer: list[int], lowered: bool) -> Placed:
        best = _best(
            nodes,
            edges,
            layer,
            back,
            lambda grid: hold(grid, check, guessed(grid, edges, seats), held),
        )
        return _spread(best, edges, style, check, lowered)

    ways: list[Callable[[], Placed]] = [
        lambda: in_rows(layers(nodes, forward), True),
        lambda: in_rows(kept_layers(nodes, forward, seats), True),
        lambda: in_rows(kept_layers(nodes, forward, seats), False),
    ]
    if not alone:
        ways.insert(0, lambda: _fresh(nodes, edges, style, check))
    found: tuple[int, Placed] | None = None
    for way in ways:
        placed = way()
        count = swaps(seats, placed.x)
        if found is None or count < found[0]:
            found = count, placed
        if not count:
            break
    assert found is not None
    return found[1]


def _without(edges: list[Edge], back: set[int]) -> list[Edge]:
    return [edge for number, edge in enumerate(edges) if number not in back] if back else edges


def _best(
    nodes: list[Node],
    edges: list[Edge],
    layer: list[int],
    back: set[int],
    put_in_order: Callable[[Grid], None],
) -> tuple[Grid, int]:
    """Return a grid with its rows in order, and how often it crosses: with trunks or without."""
    grid = Grid(nodes, layer)
    grid.lay(edges, back, trunks=True)
    put_in_order(grid)
    crossings = grid.crossings()
    if not crossings or len(grid.layer) > BOTH_WAYS_UP_TO or not _has_trunks(edges, layer):
        return grid, crossings
    plain = Grid(nodes, layer)
    plain.lay(edges, back, trunks=False)
    put_in_order(plain)
    fewer = plain.crossings()
    return (plain, fewer) if fewer < crossings else (grid, crossings)


def _has_trunks(edges: list[Edge], layer: list[int]) -> bool:
    """Tell whether a value is used often enough for a trunk and passes a row on its way."""
    fan: dict[tuple[int, int], list[int]] = {}
    for edge in edges:
        fan.setdefault((edge.source, edge.net), []).append(layer[edge.target] - layer[edge.source])
    return any(len(spans) >= TRUNK_FROM and sum(s > 1 for s in spans) > 1 for spans in fan.values())
