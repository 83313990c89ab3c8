"""Lowering of leaves into a row right above their consumers, where that saves crossings.

A weight stands in the row of the card that feeds its consumer. Where that card also feeds another
card further down, its wire has to cross the weight's wire. With the weight one row lower it does
not.
"""

from collections.abc import Sequence

from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import BOX, EXIT, LEAF, OP, LevelEdge


def lower_leaves(grid: LayeredGrid, edges: Sequence[LevelEdge]) -> None:
    """Lower leaves in a grid with ordered rows, where that saves crossings.

    Other wires pass the new rows in bends; bends between two cards are `LayeredGrid.soft`.
    """
    if grid.climbs:
        return
    rows_above = range(len(grid.rows) - 1)
    chosen = {number: leaves for number in rows_above if (leaves := _saved(grid, number))}
    if not chosen:
        return
    net = {link: edge.net for edge, path in zip(edges, grid.paths, strict=True) for link in path}
    rows: list[list[int]] = []
    second: dict[int, int] = {}
    for number, row in enumerate(grid.rows):
        leaves = chosen.get(number, set())
        rows.append([node for node in row if node not in leaves])
        if leaves:
            rows.append(_between(grid, row, leaves, net, second))
    for number, path in enumerate(grid.paths):
        grid.paths[number] = [
            part for link in path for part in (link, second.get(link, -1)) if part >= 0
        ]
    grid.rows = rows
    for number, row in enumerate(rows):
        for node in row:
            grid.layer[node] = number
    grid.update_seats()


def _saved(grid: LayeredGrid, number: int) -> set[int]:
    """Return the leaves of a row if lowering them saves crossings, else an empty set."""
    row = grid.rows[number]
    leaves = {
        node
        for node in row
        if grid.kind[node] == LEAF
        and len(grid.below[node]) == 1
        and grid.kind[grid.head[grid.below[node][0]]] != EXIT
    }
    if not leaves:
        return leaves
    rest = [node for node in row if node not in leaves]
    return leaves if grid.row_crossings(rest) < grid.row_crossings(row) else set()


def _between(
    grid: LayeredGrid, row: list[int], leaves: set[int], net: dict[int, int], second: dict[int, int]
) -> list[int]:
    """Return the new row below ``row``: leaves and bends in the order of their targets.

    Adds the lower half of every divided link to ``second``.
    """
    links = [link for node in row for link in grid.below[node]]
    links.sort(key=lambda link: (grid.seat[grid.head[link]], grid.into[link]))
    made = []
    for link in links:
        tail, head = grid.tail[link], grid.head[link]
        if tail in leaves:
            made.append(tail)
            continue
        bend, second[link] = grid.cut(link, net[link])
        if grid.kind[tail] in (OP, BOX) and grid.kind[head] in (OP, BOX):
            grid.soft.add(bend)
        made.append(bend)
    return made
