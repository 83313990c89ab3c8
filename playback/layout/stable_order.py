"""Order of rows in which old nodes stay in their order and new nodes are placed between them."""

from collections.abc import Sequence

from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import Check
from gradscribe.playback.layout.order import RowOrderer


class StableRowOrderer(RowOrderer):
    """Search for the order of rows in which old nodes never pass each other."""

    def __init__(
        self, grid: LayeredGrid, check: Check, places: Sequence[float], held: Sequence[bool]
    ) -> None:
        """``places``: approximate x of nodes and bends; ``held``: the nodes that existed before."""
        self.places = places
        self.held = [*held, *[False] * (len(grid.layer) - len(held))]
        super().__init__(grid, check)

    def hanging_nodes(self) -> list[bool]:
        """Return that no node hangs: none is peeled off, since all have an initial position."""
        return [False] * len(self.grid.layer)

    def start(self) -> None:
        """Fill the rows by position: old nodes at their old one, new nodes at an estimate."""
        grid = self.grid
        grid.rows = [[] for _ in grid.rows]
        for node in sorted(range(len(grid.layer)), key=self.places.__getitem__):
            grid.rows[grid.layer[node]].append(node)

    def barycenters(self, row: list[int], downwards: bool) -> list[float]:
        """Return the means of the neighbours, made non-decreasing along the held nodes."""
        keys = super().barycenters(row, downwards)
        held = [place for place, node in enumerate(row) if self.held[node]]
        for place, key in zip(held, _isotonic([keys[place] for place in held]), strict=True):
            keys[place] = key
        return keys

    def enforce_operand_order(self, number: int) -> None:
        """Put the operands of a consumer in order if all of them are new."""
        whole = self.operands
        self.operands = {
            consumer: whole[consumer]
            for consumer in self.grid.rows[number + 1]
            if consumer in whole and not any(self.held[node] for node in whole[consumer])
        }
        super().enforce_operand_order(number)
        self.operands = whole

    def must_precede(self, first: int, second: int) -> bool:
        """Return whether ``first`` has to stay before ``second``."""
        return (self.held[first] and self.held[second]) or super().must_precede(first, second)


def _isotonic(keys: Sequence[float]) -> list[float]:
    """Return the isotonic regression of ``keys`` (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for key in keys:
        total, count = key, 1
        while pools and pools[-1][0] * count >= total * pools[-1][1]:
            more, size = pools.pop()
            total, count = total + more, count + size
        pools.append((total, count))
    return [total / count for total, count in pools for _ in range(count)]
