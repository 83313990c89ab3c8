"""Order of the nodes in each row of a grid, with few crossings.

Barycenter sweeps (Sugiyama, Tagawa and Toda 1981) and exchanges of neighbours (transpose in
Gansner, Koutsofios, North and Vo 1993). Subtrees that feed a single consumer are removed first and
inserted at the end. The start is a depth-first walk up from the loss, operands from left to right,
so that the picture is stable while code is edited. Operands of a consumer stay in their order.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from gradscribe.playback.layout.grid import SEAT_UNIT, LayeredGrid
from gradscribe.playback.layout.level import BEND, Check

PATIENCE = 2
"""Rounds of sweeps without improvement before the search ends."""
FORCED_UP_TO = 200
"""Most nodes of a grid in which the order of operands is enforced; above it is only a tendency."""


class RowOrderer:
    """Search for the order of a grid's rows, which may be empty; its links are laid.

    ``check`` is called between steps; an exception it raises ends the search.
    """

    def __init__(self, grid: LayeredGrid, check: Check) -> None:
        self.grid = grid
        self.check = check
        self.forced = grid.size <= FORCED_UP_TO
        self.stamps = [0] * (len(grid.rows) + 1)
        """Version number per row, changed with its order; the last entry is a sentinel."""
        self._stamp = 0
        self._settled: dict[tuple[str, int], tuple[int, ...]] = {}
        """(task, row) -> stamps with which the task changed nothing, so it can be skipped."""
        self._counted: dict[int, tuple[tuple[int, int], int]] = {}
        self.hangs = self.hanging_nodes()
        hangs, tail, head = self.hangs, grid.tail, grid.head
        self.above = [
            [k for k in links if not hangs[tail[k]]] if not hangs[node] else []
            for node, links in enumerate(grid.above)
        ]
        self.below = [
            [k for k in links if not hangs[head[k]]] if not hangs[node] else []
            for node, links in enumerate(grid.below)
        ]
        sizes = [left + right + 1.0 for left, right in zip(grid.left, grid.right, strict=True)]
        self.out = [port / sizes[node] for port, node in zip(grid.out, tail, strict=True)]
        self.into = [port / sizes[node] for port, node in zip(grid.into, head, strict=True)]
        """Offsets of the links' ends from their nodes' axes, as shares of the nodes' widths."""
        self.operands = self._operands()
        self._pairs: dict[tuple[int, int], bool] = {}

    def _operands(self) -> dict[int, list[int]]:
        """Return consumer -> its operands in the order of their ports, if there are several."""
        found = {}
        for node, links in enumerate(self.above):
            if len(links) > 1:
                ends = list(dict.fromkeys(self.grid.tail[link] for link in links))
                if len(ends) > 1:
                    found[node] = ends
        return found

    def hanging_nodes(self) -> list[bool]:
        """Return which nodes hang: a single consumer, and only hanging nodes above them."""
        grid = self.grid
        hangs = [False] * len(grid.layer)
        above, below, tail = grid.above, grid.below, grid.tail
        for node in sorted(range(len(grid.layer)), key=grid.layer.__getitem__):
            if len(below[node]) != 1:
                continue
            if above[node]:
                hangs[node] = all(hangs[tail[link]] for link in above[node])
            else:
                # The top of a climbing back edge has nothing above it, yet is no leaf.
                hangs[node] = grid.kind[node] != BEND
        return hangs

    def run(self) -> None:
        """Set the grid's ``rows`` and ``seat``."""
        self.start()
        self.grid.update_seats()
        if any(len(row) > 1 for row in self.grid.rows):
            self._improve()
        self._put_back()

    def start(self) -> None:
        """Fill the rows by a depth-first walk up from the last results, operands left to right."""
        grid, hangs = self.grid, self.hangs
        grid.rows = [[] for _ in grid.rows]
        ends = [n for n in range(len(grid.layer)) if not hangs[n] and not grid.below[n]]
        ends.sort(key=lambda n: (grid.kind[n] != BEND, grid.layer[n], -n))
        seen = bytearray(len(grid.layer))
        for end in ends:
            seen[end] = 1
            stack = [(end, reversed(self.above[end]))]
            while stack:
                node, rest = stack[-1]
                for link in rest:
                    source = grid.tail[link]
                    if not seen[source]:
                        seen[source] = 1
                        stack.append((source, reversed(self.above[source])))
                        break
                else:
                    grid.rows[grid.layer[node]].append(node)
                    stack.pop()
        for row in grid.rows:
            row.reverse()

    def _row_crossings(self) -> list[int]:
        """Count the crossings below each row but the last; counts of unchanged rows are cached."""
        grid = self.grid
        whole, grid.below = grid.below, self.below
        counts = []
        for number in range(len(grid.rows) - 1):
            stamps = self.stamps[number], self.stamps[number + 1]
            known = self._counted.get(number)
            if known is None or known[0] != stamps:
                known = self._counted[number] = stamps, grid.row_crossings(grid.rows[number])
            counts.append(known[1])
        grid.below = whole
        return counts

    def _around(self, number: int) -> tuple[int, ...]:
        """Return the stamps of a row and its neighbours."""
        return self.stamps[number - 1], self.stamps[number], self.stamps[number + 1]

    def _improve(self) -> None:
        grid = self.grid
        best, best_rows = sum(self._row_crossings()), [row[:] for row in grid.rows]
        stale, stamps = 0, [-1, -1]
        for turn in range(40):
            if not best or stale >= PATIENCE or stamps[-2] == self._stamp:
                break
            stamps.append(self._stamp)
            self.check()
            downwards = turn % 2 == 0
            rows = range(1, len(grid.rows)) if downwards else range(len(grid.rows) - 2, -1, -1)
            for number in rows:
                self._sweep(number, downwards)
            if downwards:
                # After upward sweeps, too, exchanges improve little and cost a quarter of the time.
                self._exchange()
            count = sum(self._row_crossings())
            stale += 1
            if count < best:
                best, best_rows, stale = count, [row[:] for row in grid.rows], 0
        grid.rows = best_rows
        grid.update_seats()

    def _sweep(self, number: int, downwards: bool) -> None:
        """Sort a row by the barycenters of its nodes' neighbours in the previous row."""
        row = self.grid.rows[number]
        if len(row) < 2:
            return
        task, before = ("down" if downwards else "up", number), self._around(number)
        if self._settled.get(task) == before:
            return
        keys = self.barycenters(row, downwards)
        order = sorted(range(len(row)), key=keys.__getitem__)
        self._seat(number, [row[k] for k in order])
        if self.forced and number + 1 < len(self.grid.rows):
            self.enforce_operand_order(number)
        if self.grid.rows[number] != row:
            self._touch(number)
        else:
            self._settled[task] = before

    def barycenters(self, row: list[int], downwards: bool) -> list[float]:
        """Return the mean seat of each node's neighbours; without neighbours an interpolation."""
        seat, grid = self.grid.seat, self.grid
        ends, ports = (grid.tail, self.out) if downwards else (grid.head, self.into)
        around = self.above if downwards else self.below
        keys: list[float | None] = []
        lonely = False
        for node in row:
            links = around[node]
            if len(links) == 1:
                link = links[0]
                keys.append(seat[ends[link]] + ports[link])
            elif links:
                total = 0.0
                for link in links:
                    total += seat[ends[link]] + ports[link]
                keys.append(total / len(links))
            else:
                keys.append(None)
                lonely = True
        return _filled(keys) if lonely else keys  # type: ignore[return-value]

    def _touch(self, number: int) -> None:
        self._stamp += 1
        self.stamps[number] = self._stamp

    def _seat(self, number: int, row: list[int]) -> None:
        self.grid.rows[number] = row
        seat = self.grid.seat
        for place, node in enumerate(row):
            seat[node] = place

    def enforce_operand_order(self, number: int) -> None:
        """Redistribute the seats of each consumer's operands in the order of the operands."""
        row, seat = self.grid.rows[number], self.grid.seat
        moved = False
        for consumer in self.grid.rows[number + 1]:
            operands = self.operands.get(consumer)
            if operands is None:
                continue
            seats = [seat[node] for node in operands]
            ordered = sorted(seats)
            if seats == ordered:
                continue
            if not moved:
                row, moved = row[:], True
            for place, node in zip(ordered, operands, strict=True):
                row[place] = node
                seat[node] = place
        self.grid.rows[number] = row

    def _exchange(self) -> None:
        """Swap neighbours in a row where that saves crossings."""
        counts = [0, *self._row_crossings(), 0]
        for number, row in enumerate(self.grid.rows):
            if len(row) < 2 or not (counts[number] or counts[number + 1]):
                continue
            task, before = ("exchange", number), self._around(number)
            if self._settled.get(task) == before:
                continue
            uppers, lowers = self._ends(row, True), self._ends(row, False)
            if not self._exchange_row(row, uppers, lowers):
                self._settled[task] = before
                continue
            for _ in range(3):
                if not self._exchange_row(row, uppers, lowers):
                    break
            self._seat(number, row)
            self._touch(number)

    def _ends(self, row: list[int], upwards: bool) -> list[list[float]]:
        """Return per node the sorted ends of its links, encoded as numbers (`SEAT_UNIT`)."""
        grid = self.grid
        if upwards:
            around, ends, ports = self.above, grid.tail, grid.out
        else:
            around, ends, ports = self.below, grid.head, grid.into
        seat = grid.seat
        found = []
        for node in row:
            there = [seat[ends[link]] * SEAT_UNIT + ports[link] for link in around[node]]
            if len(there) > 1:
                there.sort()
            found.append(there)
        return found

    def _exchange_row(
        self, row: list[int], uppers: list[list[float]], lowers: list[list[float]]
    ) -> bool:
        moved = False
        up, low = uppers[0], lowers[0]
        for k in range(1, len(row)):
            next_up, next_low = uppers[k], lowers[k]
            gain = 0
            if up and next_up:
                gain = _inversions(up, next_up)
            if low and next_low:
                gain += _inversions(low, next_low)
            if gain > 0 and not self.must_precede(row[k - 1], row[k]):
                row[k - 1], row[k] = row[k], row[k - 1]
                uppers[k - 1], uppers[k] = next_up, up
                lowers[k - 1], lowers[k] = next_low, low
                moved = True
            else:
                up, low = next_up, next_low
        return moved

    def must_precede(self, first: int, second: int) -> bool:
        """Return whether ``first`` has to stay before ``second`` as an operand of a consumer."""
        if not self.forced:
            return False
        known = self._pairs.get((first, second))
        if known is None:
            grid = self.grid
            ports = {grid.head[link]: grid.into[link] for link in self.below[first]}
            known = self._pairs[first, second] = any(
                grid.into[link] > ports.get(grid.head[link], float("inf"))
                for link in self.below[second]
            )
        return known

    def _put_back(self) -> None:
        """Insert the hanging nodes into their rows, lowest first, each where it crosses least."""
        grid = self.grid
        for number in range(len(grid.rows) - 2, -1, -1):
            peeled = [
                (grid.tail[link], link)
                for consumer in grid.rows[number + 1]
                for link in grid.above[consumer]
                if self.hangs[grid.tail[link]]
            ]
            if peeled:
                self._insert(number, peeled)
        grid.update_seats()

    def _insert(self, number: int, peeled: Sequence[tuple[int, int]]) -> None:
        grid = self.grid
        core = grid.rows[number]
        seat, head, into = grid.seat, grid.head, grid.into
        ends = [
            (place, seat[head[link]] * SEAT_UNIT + into[link])
            for place, node in enumerate(core)
            for link in self.below[node]
        ]
        buckets: list[list[int]] = [[] for _ in range(len(core) + 1)]
        least = 0
        for node, link in peeled:
            low, high = self._between_siblings(link, len(core))
            late = not low and high < len(core)
            low = max(low, least)
            aim = seat[head[link]] * SEAT_UNIT + into[link]
            least = _best_slot(ends, aim, low, max(low, high), late)
            buckets[least].append(node)
        row = buckets[0][:]
        for place, node in enumerate(core):
            row.append(node)
            row.extend(buckets[place + 1])
        self._seat(number, row)

    def _between_siblings(self, link: int, size: int) -> tuple[int, int]:
        """Return the range of slots between the operands before and after that of ``link``."""
        grid = self.grid
        low, high = 0, size
        if not self.forced:
            return low, high
        for other in self.above[grid.head[link]]:
            place = grid.seat[grid.tail[other]]
            if grid.into[other] < grid.into[link]:
                low = max(low, place + 1)
            else:
                high = min(high, place)
        return (low, high) if low <= high else (0, size)


def _best_slot(
    ends: Sequence[tuple[int, float]], aim: float, low: int, high: int, late: bool
) -> int:
    """Return the slot from ``low`` to ``high`` where a link to ``aim`` crosses fewest others.

    Among equals the first, or with ``late`` the last: the slot nearest to its siblings.
    """
    if low == high:
        return low
    change = [0] * (high + 1)
    cost = 0
    for place, end in ends:
        step = (end > aim) - (end < aim)
        cost += step < 0
        if place < high:
            change[place + 1] += step
    best, slot = None, low
    for here in range(high + 1):
        cost += change[here]
        if here >= low and (best is None or cost < best or (late and cost == best)):
            best, slot = cost, here
    return slot


def _inversions(first: Sequence[float], second: Sequence[float]) -> int:
    """Return how many crossings fewer there are with ``second`` before ``first``."""
    if first[-1] < second[0]:
        return -len(first) * len(second)
    if second[-1] < first[0]:
        return len(first) * len(second)
    return sum(bisect_left(second, end) + bisect_right(second, end) - len(second) for end in first)


def _filled(keys: list[float | None]) -> list[float]:
    """Replace each None by the mean of the nearest keys before and after it."""
    before: list[float | None] = []
    for key in keys:
        before.append(key if key is not None or not before else before[-1])
    filled, last = [0.0] * len(keys), None
    for place in range(len(keys) - 1, -1, -1):
        key = keys[place]
        if key is not None:
            last = filled[place] = key
            continue
        near = [side for side in (before[place], last) if side is not None]
        filled[place] = sum(near) / len(near) if near else 0.0
    return filled
