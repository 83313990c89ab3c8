"""Blocks: nodes of a grid that form a straight line, such as the spine up from the loss.

The idea of rigid blocks of vertically aligned nodes, kept apart by their neighbours in the rows, is
that of Brandes and Köpf, "Fast and simple horizontal coordinate assignment", 2001. Here a link is
to be straight if it joins two bends, or is the median at both ends of the links on longest paths.
"""

from bisect import bisect_left, insort
from itertools import pairwise

from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import BEND, BOX, ENTRY, EXIT, LEAF, OP, Check

BEND_GAP = 18.0
"""Gap between a long edge and its neighbours in a row."""
SAME_GAP = 10.0
"""Gap between two long edges of the same value."""
WIDTH_FACTOR, EXTRA_WIDTH = 1.25, 600.0
"""Greatest width of a level, by factor and units over its widest row, before blocks are cut."""
BOX_ROW = 106.0


class Blocks:
    """Rigid blocks of a grid, and the distances that keep them apart."""

    def __init__(
        self, grid: LayeredGrid, card_gap: float, depth: list[int], rest: list[int]
    ) -> None:
        self.grid = grid
        self.card_gap = card_gap
        self.depth = depth
        self.rest = rest
        self.wanted = self._wanted()
        self.cut: set[int] = set()
        self.lead: list[int] = []
        self.build()

    # --- alignment

    def _wanted(self) -> list[tuple[float, int]]:
        """Return the links that should be straight, as (negative strength, link), sorted."""
        grid = self.grid
        chosen = [0] * len(grid.tail)
        self.main = main = [0] * len(grid.tail)
        for around, ends, length in (
            (grid.above, grid.tail, self.depth),
            (grid.below, grid.head, self.rest),
        ):
            for links in around:
                if len(links) > 1:
                    lengths = [length[ends[link]] for link in links]
                    most = max(lengths)
                    links = [k for k, far in zip(links, lengths, strict=True) if far == most]
                for link in links:
                    main[link] += 1
                if len(links) % 2:
                    chosen[links[len(links) // 2]] += 1
        spine = max(self.depth, default=0)
        wanted = []
        reach = self._reach()
        for link, votes in enumerate(chosen):
            tail, head = grid.tail[link], grid.head[link]
            through = self.depth[tail] + self.rest[head]
            bends = grid.kind[tail] == grid.kind[head] == BEND
            if votes == 2 or bends:
                # Where a trunk forks, the longer part goes straight on and the branch leaves it.
                far = 1e6 + 1e4 * reach[head] if bends else 0.0
                wanted.append((-through - far - 1e9 * (through == spine > 6), link))
        wanted.sort()
        return wanted

    def _reach(self) -> list[int]:
        """Return for every bend the number of bends that its longest edge still passes below it."""
        grid = self.grid
        reach = [0] * len(grid.layer)
        for row in reversed(grid.rows):
            for node in row:
                if grid.kind[node] == BEND:
                    heads = [grid.head[link] for link in grid.below[node]]
                    far = [reach[head] + 1 for head in heads if grid.kind[head] == BEND]
                    reach[node] = max(far, default=0)
        return reach

    def shift(self, link: int) -> float:
        """Return the offset of the head's axis from the tail's if the link is straight.

        Cards and frames are aligned by their axes; otherwise a stack of frames drifts sideways.
        """
        grid = self.grid
        tail, head = grid.tail[link], grid.head[link]
        if grid.kind[tail] in (OP, BOX) and grid.kind[head] in (OP, BOX):
            return 0.0
        if grid.kind[tail] == LEAF and grid.kind[head] == OP:
            return 0.0
        if tail in grid.soft or head in grid.soft:
            return 0.0
        return grid.out[link] - grid.into[link]

    def build(self) -> None:
        """Join nodes along the wanted links that are not cut and do not cross a stronger link."""
        grid = self.grid
        count = len(grid.layer)
        down, up = [-1] * count, [-1] * count
        taken: list[list[tuple[int, int]]] = [[] for _ in grid.rows]
        for _, link in self.wanted:
            tail, head = grid.tail[link], grid.head[link]
            if link in self.cut or down[tail] >= 0 or up[head] >= 0:
                continue
            pair = (grid.seat[tail], grid.seat[head])
            others = taken[grid.layer[tail]]
            place = bisect_left(others, pair)
            if place and others[place - 1][1] > pair[1]:
                continue
            if place < len(others) and others[place][1] < pair[1]:
                continue
            insort(others, pair)
            down[tail] = up[head] = link
        self.up = up
        self.lead = [-1] * count
        self.offset = [0.0] * count
        self.members: list[list[int]] = []
        for row in grid.rows:
            for node in row:
                if up[node] < 0:
                    self._gather(node, down)
        self._separate()

    def _gather(self, node: int, down: list[int]) -> None:
        number = len(self.members)
        members = []
        offset = 0.0
        while True:
            self.lead[node], self.offset[node] = number, offset
            members.append(node)
            link = down[node]
            if link < 0:
                break
            offset += self.shift(link)
            node = self.grid.head[link]
        self.members.append(members)

    # --- separation

    def gap(self, first: int, second: int) -> float:
        """Return the free space between two neighbours in a row."""
        grid = self.grid
        loose = (grid.kind[first] > BOX) + (grid.kind[second] > BOX)
        if not loose:
            return self.card_gap
        same = loose == 2 and grid.net[first] == grid.net[second] >= 0
        return SAME_GAP if same else BEND_GAP

    def _separate(self) -> None:
        grid, lead, offset = self.grid, self.lead, self.offset
        least: dict[tuple[int, int], float] = {}
        self.meet: dict[tuple[int, int], int] = {}
        for number, row in enumerate(grid.rows):
            for first, second in pairwise(row):
                distance = grid.right[first] + self.gap(first, second) + grid.left[second]
                distance += offset[first] - offset[second]
                pair = (lead[first], lead[second])
                if distance > least.get(pair, float("-inf")):
                    least[pair] = distance
                    self.meet[pair] = number
        count = len(self.members)
        self.before: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        self.after: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        for (first, second), distance in least.items():
            self.before[second].append((first, distance))
            self.after[first].append((second, distance))
        waits = [len(pairs) for pairs in self.before]
        self.sequence = [block for block in range(count) if not waits[block]]
        for block in self.sequence:
            for other, _ in self.after[block]:
                waits[other] -= 1
                if not waits[other]:
                    self.sequence.append(other)
        self._pairs = [
            (other, block, distance)
            for block in self.sequence
            for other, distance in self.before[block]
        ]

    def push_apart(self, aims: list[float], rightwards: bool) -> list[float]:
        """Return the blocks' x: their aims, or as far beyond as the blocks before them require."""
        x = aims[:]
        if rightwards:
            for before, after, distance in self._pairs:
                least = x[before] + distance
                if least > x[after]:
                    x[after] = least
        else:
            for before, after, distance in reversed(self._pairs):
                most = x[after] - distance
                if most < x[before]:
                    x[before] = most
        return x

    # --- limit of the width

    def limit_width(self, check: Check) -> None:
        """Cut blocks while a staircase of blocks makes the level much wider than its widest row."""
        grid = self.grid
        widest = max(
            sum(grid.right[a] + self.gap(a, b) + grid.left[b] for a, b in pairwise(row))
            for row in grid.rows
        )
        limit = WIDTH_FACTOR * widest + EXTRA_WIDTH
        for turn in range(30):
            check()
            x = self.push_apart([0.0] * len(self.members), True)
            end = max(range(len(x)), key=x.__getitem__)
            if x[end] <= limit or not self._cut_chain(x, end, (turn + 1) / 64):
                return
            self.build()

    def _cut_chain(self, x: list[float], block: int, share: float) -> bool:
        """Cut some of the joints at which the chain that pushes ``block`` changes its row."""
        grid, bend = self.grid, BEND
        joints = []
        leaving = -1
        while x[block] > 0.0:
            pushing = [other for other, apart in self.before[block] if x[other] + apart >= x[block]]
            if not pushing:
                break
            entering = self.meet[pushing[0], block]
            if leaving >= 0:
                rows = range(min(entering, leaving), max(entering, leaving))
                nodes = self.members[block][1:]
                joints += [self.up[n] for n in nodes if grid.layer[n] - 1 in rows]
            block, leaving = pushing[0], entering
        strength = {link: s for s, link in self.wanted}

        def cost(link: int) -> tuple[bool, float]:
            bends = grid.kind[grid.tail[link]] == grid.kind[grid.head[link]] == bend
            return bends, -strength[link]

        joints.sort(key=cost)
        self.cut.update(joints[: 1 + int(len(joints) * share)])
        return bool(joints)


def path_lengths(grid: LayeredGrid) -> tuple[list[int], list[int]]:
    """Return the weighted lengths of the longest paths to each node and from it."""
    count = len(grid.layer)
    depth, rest = [0] * count, [0] * count
    weigh = {OP: 2, BEND: 0, LEAF: 0, ENTRY: 1, EXIT: 1}
    # An open frame counts as many steps as it has rows.
    weight = [weigh.get(kind, 0) for kind in grid.kind]
    for node, kind in enumerate(grid.kind):
        if kind == BOX:
            weight[node] = 2 + 2 * int(grid.height[node] / BOX_ROW)
    rows = sorted(range(count), key=grid.layer.__getitem__)
    tail, head, above, below = grid.tail, grid.head, grid.above, grid.below
    for node in rows:
        most = 0
        for link in above[node]:
            if depth[tail[link]] > most:
                most = depth[tail[link]]
        depth[node] = most + weight[node]
    for node in reversed(rows):
        most = 0
        for link in below[node]:
            if rest[head[link]] > most:
                most = rest[head[link]]
        rest[node] = most + weight[node]
    return depth, rest
