"""Across: the x of every node of a grid.

Nodes that should form a straight line (the spine up from the loss, long edges) become rigid
blocks. Blocks then move towards the mean of their neighbours, heavy ones first, so that a leaf
never pushes the spine; the order inside the rows is kept by construction.
"""

from bisect import bisect_left, insort
from itertools import pairwise

from playback.layout_grid import Grid
from playback.layout_level import BEND, BOX, ENTRY, EXIT, LEAF, OP, Check

BEND_GAP = 18.0
"""Between a long edge and its neighbours in a row."""
SAME_GAP = 10.0
"""Between two long edges of one value."""
SPREAD, SPREAD_MORE = 1.25, 600.0
"""A level may be this much wider than its widest row, by factor and in units, before it is cut."""
ROUNDS = 12
REST = 0.05
"""Blocks that move less than this in a round have found their places, in scene units."""
BOX_ROW = 106.0
SNAP = 24.0
"""Blocks whose axes lie this near to each other are put on one line."""
SNAP_MASS = 8
ROOM, ROOM_MORE = 1.1, 240.0
"""A level may be this much wider than its blocks packed tightly, by factor and in units."""


Tie = tuple[int, float, float]
"""Another block, how far right of it this one would like to stand, and how much."""


class Blocks:
    """Rigid blocks of a grid, what keeps them apart and what draws them together."""

    def __init__(self, grid: Grid, card_gap: float, depth: list[int], rest: list[int]) -> None:
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
        """Links that would like to be straight, strongest first, as (strength, link)."""
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
        for link, votes in enumerate(chosen):
            tail, head = grid.tail[link], grid.head[link]
            through = self.depth[tail] + self.rest[head]
            bends = grid.kind[tail] == grid.kind[head] == BEND
            if votes == 2 or bends:
                wanted.append((-through - 1e6 * bends - 1e9 * (through == spine > 6), link))
        wanted.sort()
        return wanted

    def shift(self, link: int) -> float:
        """How far the head's axis stands right of the tail's when the link is straight.

        Cards and frames line up by their axes, or a stack of frames would drift sideways.
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
        """Join nodes along the wanted links that are not cut and do not cross stronger ones."""
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

    # --- what keeps blocks apart

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
                apart = grid.right[first] + self.gap(first, second) + grid.left[second]
                apart += offset[first] - offset[second]
                pair = (lead[first], lead[second])
                if apart > least.get(pair, float("-inf")):
                    least[pair] = apart
                    self.meet[pair] = number
        count = len(self.members)
        self.before: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        self.after: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        for (first, second), apart in least.items():
            self.before[second].append((first, apart))
            self.after[first].append((second, apart))
        waits = [len(pairs) for pairs in self.before]
        self.sequence = [block for block in range(count) if not waits[block]]
        for block in self.sequence:
            for other, _ in self.after[block]:
                waits[other] -= 1
                if not waits[other]:
                    self.sequence.append(other)
        self._pairs = [
            (other, block, apart) for block in self.sequence for other, apart in self.before[block]
        ]

    def pushed(self, aims: list[float], rightwards: bool) -> list[float]:
        """Blocks at their aims or as far beyond as those before them push them."""
        x = aims[:]
        if rightwards:
            for before, after, apart in self._pairs:
                least = x[before] + apart
                if least > x[after]:
                    x[after] = least
        else:
            for before, after, apart in reversed(self._pairs):
                most = x[after] - apart
                if most < x[before]:
                    x[before] = most
        return x

    # --- too wide

    def slim(self, check: Check) -> None:
        """Cut blocks while a staircase of them makes the level much wider than its widest row."""
        grid = self.grid
        widest = max(
            sum(grid.right[a] + self.gap(a, b) + grid.left[b] for a, b in pairwise(row))
            for row in grid.rows
        )
        limit = SPREAD * widest + SPREAD_MORE
        for turn in range(30):
            check()
            x = self.pushed([0.0] * len(self.members), True)
            end = max(range(len(x)), key=x.__getitem__)
            if x[end] <= limit or not self._cut_chain(x, end, (turn + 1) / 64):
                return
            self.build()

    def _cut_chain(self, x: list[float], block: int, share: float) -> bool:
        """Cut some of the joints by which the chain that pushed ``block`` changes its row."""
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


def _lengths(grid: Grid) -> tuple[list[int], list[int]]:
    """Find the longest ways from the sources to each node and on from it; leaves weigh least."""
    count = len(grid.layer)
    depth, rest = [0] * count, [0] * count
    weigh = {OP: 2, BEND: 0, LEAF: 0, ENTRY: 1, EXIT: 1}
    # An open frame is as long as the rows inside it.
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


class Relaxation:
    """Moving blocks to the mean of their neighbours."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        grid = blocks.grid
        mass = {OP: 4, BOX: 4, BEND: 1, LEAF: 0, ENTRY: 0, EXIT: 0}
        self.held: dict[int, float] = {}
        self.masses = masses = [
            sum(mass[grid.kind[node]] for node in members) for members in blocks.members
        ]
        spine = max(12, max(masses, default=0) // 2)
        self.rank = [0 if m >= spine else 1 if m else 2 for m in masses]
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
            # What a card shares its main line with moves it, side branches hardly do.
            weight *= 40.0 if blocks.main[link] == 2 else 1.0
            self.ties[first].append((second, -apart, weight))
            self.ties[second].append((first, apart, weight))
        self.ties = [self._firm(block, ties) for block, ties in enumerate(self.ties)]

    def _firm(self, block: int, ties: list[Tie]) -> list[Tie]:
        """Return the ties that may move a block: to what is no lighter, else to the heaviest.

        Leaves move nothing: they stand beside the spine, and would pull it along for ever.
        """
        ranks = self.rank
        limit = ranks[block]
        if limit < 2 and all(ranks[other] > limit for other, _, _ in ties):
            limit = 1
        return [tie for tie in ties if ranks[tie[0]] <= limit]

    def _snap(self, x: list[float], low: list[float], high: list[float]) -> None:
        """Hold blocks of cards that stand almost in one line in that line."""
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
        ranks = [[b for b in range(count) if self.rank[b] == rank] for rank in range(3)]
        snapped = False
        for turn in range(rounds):
            check()
            past = x[:]
            self._round(ranks, x, leftmost, rightmost)
            at_rest = _rests(past, x)
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
            if _rests(past, x):
                break
        return x

    def _round(
        self, ranks: list[list[int]], x: list[float], leftmost: list[float], rightmost: list[float]
    ) -> None:
        """Move every block to its aim or as near as those of higher rank leave it room."""
        pushed, aim_of = self.blocks.pushed, self._aim
        low, high = leftmost[:], rightmost[:]
        fresh = True
        for members in ranks:
            if not members:
                continue
            if not fresh:
                low, high = pushed(low, True), pushed(high, False)
            fresh = False
            lefts, rights = low[:], high[:]
            for block in members:
                aim = min(max(aim_of(block, x), low[block]), high[block])
                lefts[block] = rights[block] = aim
            lefts, rights = pushed(lefts, True), pushed(rights, False)
            for block in members:
                x[block] = low[block] = high[block] = (lefts[block] + rights[block]) / 2

    def _polish(self, x: list[float], upwards: bool) -> None:
        """Move each block in turn as far towards its aim as its neighbours leave it room."""
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
        """How far left and right each block may go: a little more room than all need."""
        blocks = self.blocks
        lefts = blocks.pushed([0.0] * len(blocks.members), True)
        width = max(lefts, default=0.0) * ROOM + ROOM_MORE
        return lefts, blocks.pushed([width] * len(blocks.members), False)


def _rests(past: list[float], x: list[float]) -> bool:
    """Tell whether another round would move nothing that anybody could see."""
    return all(abs(a - b) < REST for a, b in zip(past, x, strict=True))


def across(grid: Grid, card_gap: float, check: Check) -> list[float]:
    """Return the axis of every node and bend, the leftmost extent at 0.

    Args:
        grid: with its rows in order.
        card_gap: free space between cards, in scene units.
        check: called between steps; what it raises ends the work.
    """
    blocks = Blocks(grid, card_gap, *_lengths(grid))
    blocks.slim(check)
    count = len(grid.layer)
    rounds = ROUNDS if count < 2_000 else ROUNDS // 2
    places = Relaxation(blocks).run(rounds, check)
    x = [places[blocks.lead[node]] + blocks.offset[node] for node in range(count)]
    start = min((x[node] - grid.left[node] for node in range(count)), default=0.0)
    return [axis - start for axis in x]
