"""x coordinates: the position across the flow of every node of a grid.

The blocks of `layout_blocks` move towards the weighted mean of their neighbours, in order of their
rank, so that a leaf never pushes the spine; the order inside the rows is preserved by construction.
"""

from gradscribe.playback.layout.blocks import Blocks, path_lengths
from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import BEND, BOX, ENTRY, EXIT, LEAF, OP, Check

ROUNDS = 12
REST_DISTANCE = 0.05
"""Movement in a round, in scene units, below which a block counts as at rest."""
SNAP = 24.0
"""Distance of axes, in scene units, up to which blocks are put on the same line."""
SNAP_MASS = 8
WIDTH_FACTOR, EXTRA_WIDTH = 1.1, 240.0
"""A level may be this much wider than its blocks packed tightly, by factor and in units."""


Tie = tuple[int, float, float]
"""Another block, the desired offset to the right of it, and the weight."""


class Relaxation:
    """Iterative movement of blocks to the weighted mean of their neighbours."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        grid = blocks.grid
        mass = {OP: 4, BOX: 4, BEND: 1, LEAF: 0, ENTRY: 0, EXIT: 0}
        self.held: dict[int, float] = {}
        self.masses = masses = [
            sum(mass[grid.kind[node]] for node in members) for members in blocks.members
        ]
        spine = max(12, max(masses, default=0) // 2)
        bends = {BEND, LEAF, ENTRY, EXIT}
        self.rank = [
            0 if m >= spine else 3 if not m else 2 if bends.issuperset(kinds) else 1
            for m, kinds in zip(
                masses, ([grid.kind[n] for n in nodes] for nodes in blocks.members), strict=True
            )
        ]
        self.ties: list[list[Tie]] = [[] for _ in masses]
        for link, (tail, head) in enumerate(zip(grid.tail, grid.head, strict=True)):
            first, second = blocks.lead[tail], blocks.lead[head]
            if first == second:
                continue
            apart = blocks.offset[tail] - blocks.offset[head]
            if link in blocks.cut or blocks.main[link] == 2:
                apart += blocks.shift(link)
            else:
                apart += grid.out[link] - grid.into[link]
            weight = 1.0 if BEND in (grid.kind[tail], grid.kind[head]) else 2.0
            # The neighbours on its main line move a card, side branches hardly do.
            weight *= 40.0 if blocks.main[link] == 2 else 1.0
            self.ties[first].append((second, -apart, weight))
            self.ties[second].append((first, apart, weight))
        self.ties = [self._effective_ties(block, ties) for block, ties in enumerate(self.ties)]

    def _effective_ties(self, block: int, ties: list[Tie]) -> list[Tie]:
        """Return the ties that may move a block: to heavier or equal blocks, else all but leaves.

        Leaves move nothing: they stand next to the spine and would pull it along for ever.
        """
        ranks = self.rank
        limit = ranks[block]
        if limit < 3 and all(ranks[other] > limit for other, _, _ in ties):
            limit = 2
        return [tie for tie in ties if ranks[tie[0]] <= limit]

    def _snap(self, x: list[float], low: list[float], high: list[float]) -> None:
        """Fix blocks of cards that are almost on one line to that line."""
        blocks = self.blocks
        firsts = (
            next((n for n in members if blocks.grid.kind[n] in (OP, BOX)), -1)
            for members in blocks.members
        )
        lines = sorted(
            (x[block] + blocks.offset[node], block, blocks.offset[node])
            for block, node in enumerate(firsts)
            if self.masses[block] >= SNAP_MASS and node >= 0
        )
        group: list[tuple[float, int, float]] = []
        for place, line in enumerate(lines):
            group.append(line)
            if place + 1 < len(lines) and lines[place + 1][0] - line[0] <= SNAP:
                continue
            weight = sum(self.masses[block] for _, block, _ in group)
            middle = sum(axis * self.masses[block] for axis, block, _ in group) / weight
            middle = max(middle, *(low[block] + offset for _, block, offset in group))
            middle = min(middle, *(high[block] + offset for _, block, offset in group))
            if len(group) > 1 and middle - group[0][0] < 2 * SNAP > line[0] - middle:
                self.held.update({block: middle - offset for _, block, offset in group})
            group = []

    def _aim(self, block: int, x: list[float]) -> float:
        if block in self.held:
            return self.held[block]
        total = weights = 0.0
        for other, delta, weight in self.ties[block]:
            total += weight * (x[other] + delta)
            weights += weight
        return total / weights if weights else x[block]

    def run(self, rounds: int, check: Check) -> list[float]:
        """Return the x of every block."""
        blocks = self.blocks
        count = len(blocks.members)
        leftmost, rightmost = self._limits()
        x = [(a + b) / 2 for a, b in zip(leftmost, rightmost, strict=True)]
        ranks = [[b for b in range(count) if self.rank[b] == rank] for rank in range(4)]
        snapped = False
        for turn in range(rounds):
            check()
            past = x[:]
            self._round(ranks, x, leftmost, rightmost)
            if turn and turn % 3 == 0:
                # Otherwise two blocks that aim at each other's places swap them for ever.
                x[:] = [(was + now) / 2 for was, now in zip(past, x, strict=True)]
            at_rest = _is_at_rest(past, x)
            if not snapped and (at_rest or turn == rounds - 3):
                snapped = True
                self._snap(x, leftmost, rightmost)
                free = [[b for b in members if b not in self.held] for members in ranks]
                ranks, at_rest = [list(self.held), *free], at_rest and not self.held
            if snapped and at_rest:
                break
        for turn in range(rounds):
            check()
            past = x[:]
            self._polish(x, turn % 2 == 1)
            if _is_at_rest(past, x):
                break
        return x

    def _round(
        self, ranks: list[list[int]], x: list[float], leftmost: list[float], rightmost: list[float]
    ) -> None:
        """Move every block as close to its aim as blocks of higher rank allow."""
        push_apart, aim_of = self.blocks.push_apart, self._aim
        low, high = leftmost[:], rightmost[:]
        fresh = True
        for members in ranks:
            if not members:
                continue
            if not fresh:
                low, high = push_apart(low, True), push_apart(high, False)
            fresh = False
            lefts, rights = low[:], high[:]
            for block in members:
                aim = min(max(aim_of(block, x), low[block]), high[block])
                lefts[block] = rights[block] = aim
            lefts, rights = push_apart(lefts, True), push_apart(rights, False)
            for block in members:
                x[block] = low[block] = high[block] = (lefts[block] + rights[block]) / 2

    def _polish(self, x: list[float], upwards: bool) -> None:
        """Move each block in turn as far towards its aim as its neighbours allow."""
        before, after = self.blocks.before, self.blocks.after
        count = len(x)
        for block in range(count - 1, -1, -1) if upwards else range(count):
            aim = self._aim(block, x)
            for other, apart in before[block]:
                if x[other] + apart > aim:
                    aim = x[other] + apart
            for other, apart in after[block]:
                if x[other] - apart < aim:
                    aim = x[other] - apart
            x[block] = aim

    def _limits(self) -> tuple[list[float], list[float]]:
        """Return the leftmost and rightmost x of each block, for a level of limited width."""
        blocks = self.blocks
        lefts = blocks.push_apart([0.0] * len(blocks.members), True)
        width = max(lefts, default=0.0) * WIDTH_FACTOR + EXTRA_WIDTH
        return lefts, blocks.push_apart([width] * len(blocks.members), False)


def _is_at_rest(past: list[float], x: list[float]) -> bool:
    """Return whether the last round moved every block by less than `REST_DISTANCE`."""
    return all(abs(a - b) < REST_DISTANCE for a, b in zip(past, x, strict=True))


def assign_x(grid: LayeredGrid, card_gap: float, check: Check) -> list[float]:
    """Return the axis of every node and bend, the leftmost extent at 0.

    Args:
        grid: with its rows in order.
        card_gap: free space between cards, in scene units.
        check: called between steps; what it raises ends the work.
    """
    blocks = Blocks(grid, card_gap, *path_lengths(grid))
    blocks.limit_width(check)
    count = len(grid.layer)
    rounds = ROUNDS if count < 2_000 else ROUNDS // 2
    places = Relaxation(blocks).run(rounds, check)
    x = [places[blocks.lead[node]] + blocks.offset[node] for node in range(count)]
    start = min((x[node] - grid.left[node] for node in range(count)), default=0.0)
    return [axis - start for axis in x]
