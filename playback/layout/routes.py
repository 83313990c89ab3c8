"""y coordinates of the nodes of a grid, and the curves of its edges.

Inside a row's band a wire runs straight down in its own slot; between bands it is a cubic Bezier
curve with tangents along the flow. So a wire touches no card but its source and target.
"""

from collections.abc import Sequence

from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import ENTRY, EXIT, LEAF, LevelEdge, Point, Spacing

STRAIGHT = 0.5
"""Sideways shift, in scene units, up to which a wire counts as straight."""
FAR = 600.0
"""Sideways shift of a wire from which the gap between two rows becomes deeper."""
DEEPEST = 140.0
PIN_GAP = 34.0
"""Extra space between the border's pins and the first row, if a wire bends there."""
HEAD_SHARE = 0.7
"""Share of the space before the first row in which a wire runs straight."""
DROP = 60.0
"""Spare height of a band from which a leaf stands at its lower end, near its consumer."""


class Bands:
    """Bands of a grid's rows: tops, bottoms, and the y of the nodes in them."""

    def __init__(self, grid: LayeredGrid, x: Sequence[float], style: Spacing) -> None:
        self.grid = grid
        self.x = x
        self.style = style
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        self.trunks: dict[int, list[Point]] = {}
        """Link -> the points of a route along it, down to where edges branch."""
        self._stack()

    def _travel(self) -> list[float]:
        """Return the largest sideways shift of a wire below each row."""
        grid, x = self.grid, self.x
        travel = [0.0] * (len(grid.rows) + 1)
        for link, tail in enumerate(grid.tail):
            way = abs(x[tail] + grid.out[link] - x[grid.head[link]] - grid.into[link])
            row = grid.layer[tail]
            travel[row] = max(travel[row], way)
        return travel

    def _stack(self) -> None:
        grid, style = self.grid, self.style
        kinds = [{grid.kind[node] for node in row} for row in grid.rows]
        entries = bool(kinds) and ENTRY in kinds[0]
        exits = bool(kinds) and EXIT in kinds[-1]
        climbing = {grid.layer[column[0]] for column in grid.climbs.values()}
        rising = {grid.layer[column[-1]] - 1 for column in grid.climbs.values()}
        travel = self._travel()
        y = 0.0 if entries else style.before
        if -1 in rising:
            y += style.row_gap
        for number, row in enumerate(grid.rows):
            height = max((grid.height[node] for node in row), default=0.0)
            self.tops.append(y)
            self.bottoms.append(y + height)
            y += height
            bent = travel[number] > STRAIGHT or number in climbing or number in rising
            if number == len(grid.rows) - 1:
                y += style.row_gap if number in climbing else 0.0
            elif entries and number == 0:
                y += style.before + (PIN_GAP if bent else 0.0)
            elif exits and number == len(grid.rows) - 2:
                y += style.after + (PIN_GAP if bent else 0.0)
            else:
                y += row_gap_for(travel[number], style.row_gap)
        self.end = y if exits else y + style.after

    def top_of(self, node: int) -> float:
        """Return the top of a node: centred in its band, or low for a leaf in a high band."""
        grid = self.grid
        row, height = grid.layer[node], grid.height[node]
        spare = self.bottoms[row] - self.tops[row] - height
        if grid.kind[node] == LEAF and spare > DROP:
            return self.bottoms[row] - height - DROP / 4
        return self.tops[row] + spare / 2


def row_gap_for(travel: float, gap: float) -> float:
    """Return the space between two rows for a largest sideways shift of ``travel`` units."""
    return gap if travel <= FAR else min(DEEPEST, gap + (travel - FAR) * 0.03)


class Pen:
    """Builder of a route: lines and curves along the flow."""

    def __init__(self, points: list[Point]) -> None:
        self.points = points

    def down_to(self, y: float) -> None:
        """Add a straight line along the flow (or against it, for a back edge)."""
        x, start = self.points[-1]
        if abs(y - start) < 1e-6:
            return
        if (
            len(self.points) > 1
            and self._is_straight()
            and (start - self.points[-4][1]) * (y - start) > 0
        ):
            start = self.points[-4][1]
            del self.points[-3:]
        third = (y - start) / 3
        self.points += [(x, start + third), (x, y - third), (x, y)]

    def _is_straight(self) -> bool:
        a, b, c, d = self.points[-4:]
        return a[0] == b[0] == c[0] == d[0]

    def across_to(self, x: float, y: float) -> None:
        """Add a curve to another slot with tangents along the flow."""
        here, start = self.points[-1]
        if abs(x - here) <= 1e-6:
            self.down_to(y)
            return
        middle = (start + y) / 2
        self.points += [(here, middle), (x, middle), (x, y)]

    def turn_to(self, x: float, depth: float) -> None:
        """Add a U-turn to another slot at the same y, ``depth`` units beyond it."""
        here, y = self.points[-1]
        self.points += [(here, y + depth), (x, y + depth), (x, y)]


def _begun(bands: Bands, edge: LevelEdge) -> Pen:
    """Return a pen at the lower end of the source's band."""
    grid = bands.grid
    start = bands.x[edge.source] + edge.out
    pen = Pen([(start, bands.top_of(edge.source) + grid.height[edge.source])])
    pen.down_to(bands.bottoms[grid.layer[edge.source]])
    if grid.kind[edge.source] == ENTRY:
        # Straight past the frame's head, where its title is.
        pen.down_to(bands.style.before * HEAD_SHARE)
    return pen


def route_edge(bands: Bands, edge: LevelEdge, number: int) -> tuple[Point, ...]:
    """Return the points of an edge, from the border of its source to that of its target."""
    grid, x = bands.grid, bands.x
    end = x[edge.target] + edge.into
    top = bands.top_of(edge.target)
    path = grid.paths[number]
    # Edges along a trunk share the points of its route.
    shared = next((k for k in range(len(path) - 2, -1, -1) if path[k] in bands.trunks), -1)
    pen = Pen(bands.trunks[path[shared]][:]) if shared >= 0 else _begun(bands, edge)
    if number in grid.climbs:
        column = grid.climbs[number]
        turn = bands.style.row_gap * 0.5
        pen.turn_to(x[column[0]], turn)
        for bend in column:
            pen.across_to(x[bend], bands.bottoms[grid.layer[bend]])
            pen.down_to(bands.tops[grid.layer[bend]])
        pen.turn_to(end, -turn)
    else:
        for link in path[shared + 1 :]:
            head = grid.head[link]
            row = grid.layer[head]
            pen.across_to(x[head] + grid.into[link], bands.tops[row])
            if head != edge.target:
                pen.down_to(bands.bottoms[row])
                if len(grid.below[head]) > 1:
                    bands.trunks[link] = pen.points[:]
    pen.down_to(top)
    return tuple(pen.points)


def extend_route(points: list[Point], y: float) -> list[Point]:
    """Return a route extended straight to ``y``."""
    pen = Pen(points)
    pen.down_to(y)
    return pen.points
