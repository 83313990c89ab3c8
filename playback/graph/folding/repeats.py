"""Folding of what is long or wide without modules: repeated ops, and rows of leaves."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

import numpy as np

from gradscribe.playback.graph.folding.units import ModuleUnit
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import symbols
from gradscribe.playback.translation import tr

MAX_ITEMS = 32
"""Cards in a unit from which repeated ops fold: a longer column is illegible on one page."""
MAX_PERIOD = 24
"""Longest sequence of ops that is recognized as repeated."""
MIN_TIMES, MIN_FOLDED = 3, 8
"""Fewest repeats, and fewest ops of all repeats, that fold."""
SPLIT = 20
"""Most repeats that an opened stretch shows; more are divided into that many parts."""
MIN_LEAVES = 9
"""Leaves with the same users from which they fold into one card."""
_NAMED = 3
"""Most ops of a sequence that its title lists."""


def fold_repeated_ops(index: Index, top: ModuleUnit) -> None:
    """Group stretches of repeated ops into units, in ``top`` and every unit inside."""
    names: Counter[str] = Counter()
    for unit in [top, *top.all_units()]:
        if unit.repeats == 1 and len(unit.items) > MAX_ITEMS:
            _fold(index, unit, names)


def _fold(index: Index, unit: ModuleUnit, names: Counter[str]) -> None:
    signs = [_sign(index, item) for item in unit.items]
    items: list[ModuleUnit | int] = []
    at = 0
    for start, period, times in stretches(signs):
        items += unit.items[at:start]
        at = start + period * times
        words = _sequence(index, unit.items[start : start + period])
        names[words] += 1
        key = f"ops:{words}#{names[words] - 1}"
        items.append(_unit(unit, key, words, unit.items[start:at], times))
    if at:
        unit.items = items + unit.items[at:]
        unit.ops = [item for item in unit.items if not isinstance(item, ModuleUnit)]
        unit.rows = set(range(len(unit.items)))


def _unit(
    parent: ModuleUnit, key: str, words: str, items: list["ModuleUnit | int"], times: int
) -> ModuleUnit:
    """Return the unit of a stretch, divided into parts where it would be too long when open."""
    group = ModuleUnit(key, (), parent, [], items, times, title=words)
    if times > SPLIT:
        period = len(items) // times
        size = -(-times // SPLIT)
        parts = [items[at : at + size * period] for at in range(0, len(items), size * period)]
        group.items = [
            _unit(group, f"{key}/{number}", words, part, len(part) // period)
            for number, part in enumerate(parts)
        ]
    else:
        group.ops = [item for item in items if not isinstance(item, ModuleUnit)]
        for item in items:
            if isinstance(item, ModuleUnit):
                item.parent = group
    group.rows = set(range(len(group.items)))
    return group


def stretches(signs: Sequence[Hashable]) -> list[tuple[int, int, int]]:
    """Return (start, period, times) of the stretches in which a sequence of signs repeats.

    From left to right, each is the stretch that covers most from its start on.
    """
    numbers: dict[Hashable, int] = {}
    row = np.array([numbers.setdefault(sign, len(numbers)) for sign in signs])
    count = len(row)
    best, periods = np.zeros(count, int), np.ones(count, int)
    for period in range(1, min(MAX_PERIOD, count // MIN_TIMES) + 1):
        differs = np.flatnonzero(row[period:] != row[:-period])
        ends = np.append(differs, count - period)
        places = np.arange(count - period)
        same = ends[np.searchsorted(differs, places)] - places
        times = same // period + 1
        covered = np.where((times >= MIN_TIMES) & (times * period >= MIN_FOLDED), times * period, 0)
        better = covered > best[: count - period]
        best[: count - period][better] = covered[better]
        periods[: count - period][better] = period
    found, at = [], 0
    while at < count:
        if best[at]:
            found.append((at, int(periods[at]), int(best[at] // periods[at])))
        at += int(best[at]) or 1
    return found


def _sign(index: Index, item: ModuleUnit | int) -> Hashable:
    """Return the signature by which items are equal: the op, its line and numbers of operands.

    Ops that the program spells out on lines of their own are not folded.
    """
    if isinstance(item, ModuleUnit):
        kinds = {index.tape.calls[call].kind for call in item.calls}
        return (*sorted(kinds), item.repeats, item.title, len(item.all_ops()))
    op = index.op(item)
    return op.op, op.place.line, len(op.inputs), len(op.outputs), bool(op.nodes)


def _sequence(index: Index, items: Sequence[ModuleUnit | int]) -> str:
    """Return the words for a repeated sequence: ``view, t``."""
    words = []
    for item in items[:_NAMED]:
        if isinstance(item, ModuleUnit):
            words.append(index.tape.calls[item.calls[0]].kind if item.calls else item.title)
        else:
            words.append(symbols.op_title(index.op(item)))
    more = len(items) - _NAMED
    return ", ".join(words) + (tr(" and {more} more", more=more) if more > 0 else "")


def words(unit: ModuleUnit) -> str:
    """Return the folding of a unit in words: ``700 × view``."""
    several = f"({unit.title})" if ", " in unit.title else unit.title
    return f"{unit.repeats} × {several}"


def rows_of_leaves(index: Index, users: dict[int, frozenset[str]]) -> dict[str, list[int]]:
    """Return title -> leaves (first versions) that fold into one card.

    ``users``: leaf -> the keys of the cards that take it. Leaves fold where many have the same
    users; they are named after what their names have in common.
    """
    same: dict[frozenset[str], list[int]] = defaultdict(list)
    for leaf, cards in users.items():
        same[cards].append(leaf)
    found: dict[str, list[int]] = {}
    for leaves in same.values():
        if len(leaves) < MIN_LEAVES:
            continue
        title = _common([index.values[leaf].name for leaf in leaves])
        again = sum(known.partition(" #")[0] == title for known in found)
        found[f"{title} #{again + 1}" if again else title] = leaves
    return found


def _common(names: list[str]) -> str:
    """Return the path that names share: ``enc.layers.0``; ``leaves`` for none."""
    paths = [name.replace("[", ".[").split(".") for name in names]
    shared = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return ".".join(shared).replace(".[", "[") or "leaves"
