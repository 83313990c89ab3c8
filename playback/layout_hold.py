"""Order with what was there before held: new nodes and bends find their places between it."""

from collections.abc import Sequence

from playback.layout_grid import Grid
from playback.layout_level import Check
from playback.layout_order import Orderer


class Holder(Orderer):
    """The search for the order of rows in which old nodes never pass each other."""

    def __init__(
        self, grid: Grid, check: Check, places: Sequence[float], held: Sequence[bool]
    ) -> None:
        """See `hold`."""
        self.places = places
        self.held = [*held, *[False] * (len(grid.layer) - len(held))]
        super().__init__(grid, check)

    def hanging(self) -> list[bool]:
        """Nothing is peeled off: it has its place."""
        return [False] * len(self.grid.layer)

    def start(self) -> None:
        """Fill the rows: everything where it stood, what is new where it is guessed to stand."""
        grid = self.grid
        grid.rows = [[] for _ in grid.rows]
        for node in sorted(range(len(grid.layer)), key=self.places.__getitem__):
            grid.rows[grid.layer[node]].append(node)

    def keys(self, row: list[int], downwards: bool) -> list[float]:
        """Means as everywhere, but rising along the nodes that are held."""
        keys = super().keys(row, downwards)
        held = [place for place, node in enumerate(row) if self.held[node]]
        for place, key in zip(held, _rising([keys[place] for place in held]), strict=True):
            keys[place] = key
        return keys

    def force(self, number: int) -> None:
        """Give the operands of a consumer an order, where all of them are new."""
        whole = self.operands
        self.operands = {
            consumer: whole[consumer]
            for consumer in self.grid.rows[number + 1]
            if consumer in whole and not any(self.held[node] for node in whole[consumer])
        }
        super().force(number)
        self.operands = whole

    def bound(self, first: int, second: int) -> bool:
        """Tell whether ``first`` has to stay before ``second``."""
        return (self.held[first] and self.held[second]) or super().bound(first, second)


def _rising(keys: Sequence[float]) -> list[float]:
    """Return the rising numbers nearest to ``keys``: neighbours that fall are put at their mean."""
    pools: list[tuple[float, int]] = []
    for key in keys:
        total, count = key, 1
        while pools and pools[-1][0] * count >= total * pools[-1][1]:
            more, size = pools.pop()
            total, count = total + more, count + size
        pools.append((total, count))
    return [total / count for total, count in pools for _ in range(count)]


def hold(grid: Grid, check: Check, places: Sequence[float], held: Sequence[bool]) -> None:
    """Set the grid's ``rows`` and ``seat``; held nodes of a row keep the order of their places.

    Args:
        grid: with its links laid.
        check: called now and then; what it raises ends the search.
        places: about where every node and bend would stand.
        held: which nodes were there before.
    """
    Holder(grid, check, places, held).run()
