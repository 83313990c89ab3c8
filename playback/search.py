"""Search in the graph: by name, op, shape, module path, or for NaN and infinities."""

import re
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from engine.tape import Snapshot, Tape, Value
from playback import symbols
from playback.index import Index, index_of
from playback.picture import Picture
from playback.scenes import Scene

BAD = ("nan", "inf")
"""Words that look for numbers which are none."""

_SHAPE = re.compile(r"[\[(]?\s*\d+(\s*[x×*,]\s*\d+)+\s*,?\s*[\])]?|[\[(]\s*\d+\s*,?\s*[\])]")


class Match(Struct, frozen=True):
    """Something found: an op, a leaf (value id) or a module call; ``op`` is set for all but leaves.

    ``op`` is an index in `Tape.ops`, for a module the first op inside it.
    """

    op: int | None = None
    value: int | None = None
    call: int | None = None


def find(tape: Tape | Index, scene: Scene, query: str) -> tuple[Match, ...]:
    """Return what matches in a scene, in the order in which it ran; nothing for an empty query.

    Lengths such as ``16 × 8``, ``16x8`` or ``(16, 8)`` look for that shape, ``nan`` and ``inf`` for
    values or gradients that hold one, anything else for a part of a name.
    """
    query = query.strip().casefold()
    if not query:
        return ()
    index = index_of(tape)
    events = index.tape.events[scene.start : scene.stop]
    ops = [e.ref for e in events if e.kind == "op" and index.kinds[e.ref] == "forward"]
    found: list[tuple[float, Match]] = []
    found += [(op, Match(op=op)) for op in ops if _fits(index, op, query)]
    found += [
        (first - 0.4, Match(value=leaf))
        for leaf, first in _leaves(index, ops).items()
        if _value_fits(index, index.values[leaf], query)
    ]
    found += [(op - 0.5, Match(op=op, call=call)) for call, op in _calls(index, ops, query)]
    return tuple(match for _, match in sorted(found, key=lambda pair: pair[0]))


def find_all(
    tape: Tape | Index, scenes: tuple[Scene, ...], query: str, here: int
) -> tuple[tuple[int, Match], ...]:
    """Return what matches in any scene, each with the number of its scene, in order.

    A leaf that several scenes use counts once: in scene ``here`` if that has it, else in the first.
    """
    found = [(n, match) for n, scene in enumerate(scenes) for match in find(tape, scene, query)]
    homes: dict[int, int] = {}
    for number, match in found:
        if match.value is not None and (number == here or match.value not in homes):
            homes[match.value] = number
    return tuple((n, m) for n, m in found if m.value is None or homes[m.value] == n)


def shape_of(query: str) -> tuple[int, ...] | None:
    """Return the shape that a query spells, None where it spells none."""
    if not _SHAPE.fullmatch(query.strip()):
        return None
    return tuple(int(length) for length in re.findall(r"\d+", query))


def locate(picture: Picture, match: Match) -> tuple[str, bool]:
    """Return the key of the card or frame that shows a match, and whether it is the match itself.

    False: it is a folded module around it, to be opened first. The key is empty where the picture
    shows nothing of it.
    """
    if match.call is not None:
        for frame in picture.frames:
            if frame.call == match.call:
                return frame.key, True
    if match.value is not None:
        key = picture.value_cards.get(match.value, "")
        cards = [card for card in picture.cards if card.key == key]
    else:
        cards = [card for card in picture.cards if match.op in card.ops]
    if not cards:
        return "", False
    card = cards[0]
    itself = card.kind != "module" or (card.call == match.call and card.repeats == 1)
    return card.key, itself


def _fits(index: Index, number: int, query: str) -> bool:
    op = index.op(number)
    if query in BAD:
        return _is_bad(index, number, query)
    shape = shape_of(query)
    if shape is not None:
        return any(index.values[v].shape == shape for v in op.outputs)
    names = [index.values[v].name for v in op.outputs]
    words = [symbols.title(op), op.op, *(name.rsplit(".", 1)[-1] for name in names)]
    return any(query in word.casefold() for word in words)


def _value_fits(index: Index, value: Value, query: str) -> bool:
    if query in BAD:
        known = [value.snapshot, *(a.snapshot for a in index.arrivals.get((value.id, 0), ()))]
        return any(_holds(index.snapshot(number), query) for number in known)
    shape = shape_of(query)
    if shape is not None:
        return value.shape == shape
    return _ends_in(value.name.casefold(), query)


def _ends_in(path: str, query: str) -> bool:
    """Tell whether a query is in a path and not already in the path of what is around it."""
    return query in path and query not in path.rpartition(".")[0]


def _is_bad(index: Index, number: int, query: str) -> bool:
    op = index.op(number)
    for value in op.outputs:
        if _holds(index.snapshot(index.values[value].snapshot), query):
            return True
    runs = (index.tape.executions[n] for node in op.nodes for _, n in index.node_runs.get(node, ()))
    return any(_holds(index.snapshot(got), query) for run in runs for got in run.received)


def _holds(snapshot: Snapshot | None, query: str) -> bool:
    if snapshot is None:
        return False
    if snapshot.nan or snapshot.inf:
        return bool(snapshot.nan if query == "nan" else snapshot.inf)
    array = snapshot.array()
    if array is None or array.dtype.kind not in "fc":
        return False
    return bool((np.isnan(array) if query == "nan" else np.isinf(array)).any())


def _leaves(index: Index, ops: list[int]) -> dict[int, int]:
    """Return the values from outside that ops take -> the first op that does."""
    inside = set(ops)
    found: dict[int, int] = {}
    for op in ops:
        for number in index.op(op).inputs:
            if index.values[number].op not in inside:
                found.setdefault(index.home(number), op)
    return found


def _calls(index: Index, ops: list[int], query: str) -> Iterator[tuple[int, int]]:
    """Yield the module calls that match, each with its first op."""
    if query in BAD or shape_of(query) is not None:
        return
    seen: set[int] = set()
    for op in ops:
        call = index.op(op).call
        while call is not None and call not in seen:
            seen.add(call)
            one = index.tape.calls[call]
            if _ends_in(one.name.casefold(), query) or query == one.kind.casefold():
                yield call, op
            call = one.parent
