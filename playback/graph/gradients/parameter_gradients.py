"""Weakest and strongest gradient among the parameters inside a folded module, along the tape."""

import heapq
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from gradscribe.playback.graph.picture import Card
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

STARVED = 1000.0
"""Least factor between the strongest gradients of a block and of its siblings that is marked."""
LEAST_SIBLINGS = 3
"""Fewest blocks of a kind that are compared with each other."""


class GradientRange(NamedTuple):
    """Norms of the weakest and the strongest gradient of some parameters, and their leaves' ids.

    A norm that is not finite counts as the strongest.
    """

    weakest: int
    least: float
    strongest: int
    most: float


class ParameterGradients:
    """The gradients of the parameters inside the folded modules of one picture."""

    def __init__(self, index: Index, cards: Sequence[Card]) -> None:
        self._index, self._cards = index, cards
        self._norms: dict[int, float] = {}
        self._courses: dict[str, tuple[list[int], list[GradientRange | None]]] = {}
        self._starved: dict[str, tuple[float, str]] | None = None

    def are_known(self, card: Card) -> bool:
        """Return whether a parameter inside a card gets a gradient anywhere on the tape."""
        return any(leaf in self._index.grads for leaf in card.leaves)

    def at(self, card: Card, position: int) -> GradientRange | None:
        """Return the range after the first ``position`` events; None before any gradient."""
        events, ranges = self._course(card)
        found = bisect_left(events, position)
        return ranges[found - 1] if found else None

    def starvation(self, card: Card) -> float:
        """Return by what factor gradients of a block are smaller than its siblings', else 0.

        The block is the card itself, or one of the repeats in it.
        """
        return self._starvation(card)[0]

    def _starvation(self, card: Card) -> tuple[float, str]:
        """Return the factor, and the path of the block if it is a repeat in the card."""
        if self._starved is None:
            self._starved = dict(self._compared())
        return self._starved.get(card.key, (0.0, ""))

    def lines(self, card: Card, position: int) -> list[str]:
        """Return lines for a tool tip: which parameter has which gradient."""
        found = self.at(card, position)
        if found is None:
            return []
        least, most = (formatting.number(norm) for norm in (found.least, found.most))
        if found.weakest == found.strongest:
            return [tr("gradient of {name}: {least}", name=self._name(found.weakest), least=least)]
        lines = [
            tr("weakest gradient: {least} of {name}", least=least, name=self._name(found.weakest)),
            tr("strongest gradient: {most} of {name}", most=most, name=self._name(found.strongest)),
        ]
        factor, block = self._starvation(card)
        if factor:
            where = tr("in {block} ", block=block) if block else ""
            lines.append(
                tr(
                    "{where}about {rounded} times smaller than in blocks like it",
                    where=where,
                    rounded=_rounded(factor),
                )
            )
        return lines

    def _name(self, leaf: int) -> str:
        value = self._index.values[leaf]
        return value.name or value.maker or "a parameter"

    def _course(self, card: Card) -> tuple[list[int], list[GradientRange | None]]:
        """Return the events at which a card's range changes, and the ranges."""
        if card.key not in self._courses:
            changes = [
                (grad.event, leaf, grad.snapshot)
                for leaf in card.leaves
                for grad in self._index.grads.get(leaf, ())
            ]
            self._courses[card.key] = self._swept(sorted(changes, key=lambda change: change[0]))
        return self._courses[card.key]

    def _swept(
        self, changes: Iterable[tuple[int, int, int | None]]
    ) -> tuple[list[int], list[GradientRange | None]]:
        events: list[int] = []
        ranges: list[GradientRange | None] = []
        now: dict[int, float] = {}
        low: list[tuple[float, int]] = []
        high: list[tuple[float, int]] = []
        for event, leaf, snapshot in changes:
            norm = None if snapshot is None else self._norm(snapshot)
            if norm is None:
                now.pop(leaf, None)
            else:
                now[leaf] = norm
                heapq.heappush(low, (norm, leaf))
                heapq.heappush(high, (-norm, leaf))
            # Entries of gradients that were replaced stay in the heaps until they come up.
            while low and now.get(low[0][1]) != low[0][0]:
                heapq.heappop(low)
            while high and now.get(high[0][1]) != -high[0][0]:
                heapq.heappop(high)
            found = GradientRange(low[0][1], low[0][0], high[0][1], -high[0][0]) if low else None
            if events and events[-1] == event:
                ranges[-1] = found
            else:
                events.append(event)
                ranges.append(found)
        return events, ranges

    def _norm(self, number: int) -> float | None:
        """Return the norm of a snapshot, infinite for NaN; None where it is not known."""
        if number not in self._norms:
            snapshot = self._index.snapshot(number)
            norm = None if snapshot is None else snapshot_text.norm(snapshot)
            if norm is None:
                return None
            self._norms[number] = math.inf if math.isnan(norm) else norm
        return self._norms[number]

    def _compared(self) -> Iterable[tuple[str, tuple[float, str]]]:
        """Yield the cards with far smaller gradients than most blocks of their kind."""
        groups: dict[tuple[object, ...], list[tuple[str, float]]] = defaultdict(list)
        for card in self._cards:
            if card.call is None or card.kind != "module" or not self.are_known(card):
                continue
            if card.repeats > 1:
                for factor, block in _starved(self._repeats(card)):
                    yield card.key, (factor, block)
                continue
            call = self._index.tape.calls[card.call]
            most = max((r.most for r in self._course(card)[1] if r is not None), default=0.0)
            groups[call.kind, call.parameters].append((card.key, most))
        for rows in groups.values():
            for factor, key in _starved(rows):
                yield key, (factor, "")

    def _repeats(self, card: Card) -> list[tuple[str, float]]:
        """Return path and strongest gradient of each of the blocks in a card of repeats."""
        assert card.call is not None
        path = self._index.tape.calls[card.call].name.rpartition(".")[0]
        found: dict[str, float] = defaultdict(float)
        for leaf in card.leaves:
            name = self._index.values[leaf].name
            block = name.removeprefix(f"{path}.").partition(".")[0]
            snapshots = (grad.snapshot for grad in self._index.grads.get(leaf, ()))
            norms = [self._norm(number) or 0.0 for number in snapshots if number is not None]
            if name.startswith(f"{path}.") and norms:
                found[f"{path}.{block}"] = max(found[f"{path}.{block}"], *norms)
        return list(found.items())


def _starved(rows: list[tuple[str, float]]) -> Iterable[tuple[float, str]]:
    """Yield factor and key of each of some blocks that is far below the median."""
    usual = median(most for _, most in rows) if len(rows) >= LEAST_SIBLINGS else 0.0
    for key, most in rows:
        if math.isfinite(usual) and usual >= STARVED * most > 0:
            yield usual / most, key


def _rounded(factor: float) -> str:
    """Return a factor with one significant digit: ``10,000``."""
    return f"{round(factor, -math.floor(math.log10(factor))):,.0f}"
