"""Search in the graph: by name, op, shape, module path, or for NaN and infinities."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.non_finite import bad_snapshots
from gradscribe.playback.tape.scenes import Scene
from gradscribe.playback.text import symbols

NOT_FINITE = ("nan", "inf")
"""Queries for values that are not finite."""

_BETWEEN_WORDS = re.compile(r"[\s›>/]+")
"""Separators of words: a space, or the signs between the parts of a path."""

_SHAPE = re.compile(r"[\[(]?\s*\d+(\s*[x×*,]\s*\d+)+\s*,?\s*[\])]?|[\[(]\s*\d+\s*,?\s*[\])]")


class Match(Struct, frozen=True, gc=False):
    """A search result: an op, a leaf (value id) or a module call; ``op`` is None for leaves only.

    ``op`` is an index in `Tape.ops`, for a module the first op inside it.
    """

    op: int | None = None
    value: int | None = None
    call: int | None = None


def find(tape: Tape | Index, scene: Scene, query: str) -> tuple[Match, ...]:
    """Return the matches in a scene in order of execution; none for an empty query.

    Lengths such as ``16 × 8``, ``16x8`` or ``(16, 8)`` search for that shape, ``nan`` and ``inf``
    for values or gradients that contain them, anything else for a part of a name. Several words
    that are no part of one name search for a name in a module: ``h.5 softmax``.
    """
    query = query.strip().casefold()
    if not query:
        return ()
    search = _search_index(index_of(tape), scene)
    if query in NOT_FINITE or shape_of(query) is not None:
        return _in_order(search.ops_with(query), search.leaves_with(query), [])
    found = search.named((query,))
    words = tuple(_BETWEEN_WORDS.split(query))
    return found if found or len(words) == 1 else search.named(words)


def _in_order(
    ops: Iterable[int], leaves: Iterable[tuple[int, int]], calls: Iterable[tuple[int, int]]
) -> tuple[Match, ...]:
    """Return matches in order of execution: modules before what they contain, leaves before ops.

    ``leaves`` and ``calls`` come with their first op.
    """
    found: list[tuple[float, Match]] = [(op, Match(op=op)) for op in ops]
    found += [(first - 0.4, Match(value=leaf)) for leaf, first in leaves]
    found += [(first - 0.5, Match(op=first, call=call)) for call, first in calls]
    found.sort(key=lambda pair: pair[0])
    return tuple(match for _, match in found)


def build_index(index: Index, scenes: tuple[Scene, ...]) -> None:
    """Build the search index of a tape, so that the first search is quick."""
    for scene in scenes:
        _search_index(index, scene)
    for query in NOT_FINITE:
        bad_snapshots(index, query)


def find_all(
    tape: Tape | Index, scenes: tuple[Scene, ...], query: str, here: int
) -> tuple[tuple[int, Match], ...]:
    """Return the matches in all scenes, each with the number of its scene, in order.

    A leaf that several scenes use counts once: in scene ``here`` if it is there, else in the first.
    """
    found = [(n, match) for n, scene in enumerate(scenes) for match in find(tape, scene, query)]
    homes: dict[int, int] = {}
    for number, match in found:
        if match.value is not None and (number == here or match.value not in homes):
            homes[match.value] = number
    return tuple(pair for pair in found if pair[1].value is None or homes[pair[1].value] == pair[0])


def best(tape: Tape | Index, matches: Sequence[tuple[int, Match]], query: str, here: int) -> int:
    """Return the index of the match to show first; -1 where there is none.

    Matches of scene ``here`` come first, then those of later scenes. Within a scene a name that is
    the query comes before a name that begins with it, and that before any other.
    """
    index, wanted = index_of(tape), query.strip().casefold()
    ranks = [
        (number < here, number, _distance(index, match, wanted), n)
        for n, (number, match) in enumerate(matches)
    ]
    return min(ranks)[-1] if ranks else -1


def _distance(index: Index, match: Match, query: str) -> int:
    """Return 0 for a name that is the query, 1 for one that begins with it, else 2."""
    if query in NOT_FINITE or shape_of(query) is not None:
        return 0
    names = [name.casefold() for name in _names(index, match)]
    if query in names:
        return 0
    return 1 if any(name.startswith(query) for name in names) else 2


def _names(index: Index, match: Match) -> list[str]:
    """Return the names by which a match is known: in full, and their last parts."""
    if match.call is not None:
        call = index.tape.calls[match.call]
        names = [call.name, call.kind]
    elif match.value is not None:
        names = [index.values[match.value].name]
    else:
        op = index.op(match.op or 0)
        names = [symbols.op_title(op), op.op, *(index.values[v].name for v in op.outputs)]
    return [*names, *(name.rpartition(".")[2] for name in names)]


def shape_of(query: str) -> tuple[int, ...] | None:
    """Return the shape that a query denotes; None where it is no shape."""
    if not _SHAPE.fullmatch(query.strip()):
        return None
    return tuple(int(length) for length in re.findall(r"\d+", query))


def locate(picture: Picture, match: Match) -> tuple[str, bool]:
    """Return the key of the card or frame that shows a match, and True if it is the match itself.

    False: it is a folded module around the match, to be opened first. The key is empty where the
    picture does not contain the match.
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


def _search_index(index: Index, scene: Scene) -> "_SearchIndex":
    cache = index.cached("search", lambda _index: dict[int, _SearchIndex]())
    if scene.start not in cache:
        cache[scene.start] = _SearchIndex(index, scene)
    return cache[scene.start]


class _SearchIndex:
    """Search index of one scene: the texts of its ops, leaves and modules in lower case."""

    def __init__(self, index: Index, scene: Scene) -> None:
        self._index = index
        events = index.tape.events[scene.start : scene.stop]
        self._ops = [e.ref for e in events if e.kind == "op" and index.kinds[e.ref] == "forward"]
        self._named_ops = [(number, *self._texts(number)) for number in self._ops]
        leaves = _leaves(index, self._ops).items()
        self._leaves = [(leaf, op, *_path(index.values[leaf].name)) for leaf, op in leaves]
        calls, tape = _calls(index, self._ops).items(), index.tape
        self._calls = [
            (call, op, *_path(tape.calls[call].name), tape.calls[call].kind.casefold())
            for call, op in calls
        ]

    def _texts(self, number: int) -> tuple[str, str, str]:
        """Return an op's names, one per line, its path with its title, and that of its module."""
        op, values, calls = self._index.op(number), self._index.values, self._index.tape.calls
        names = (values[v].name.rpartition(".")[2] for v in op.outputs)
        title = symbols.op_title(op)
        path = calls[op.call].name.casefold() if op.call is not None else ""
        # Queries contain no line break.
        whole = f"{path}.{title.casefold()}" if path else title.casefold()
        return "\n".join((title, op.op, *names)).casefold(), whole, path

    def named(self, words: tuple[str, ...]) -> tuple[Match, ...]:
        """Return what has all words in its path and names, and one not just in its parent path."""
        return _in_order(
            (op for op, own, path, out in self._named_ops if _is_named(path, out, words, own)),
            ((leaf, op) for leaf, op, path, out in self._leaves if _is_named(path, out, words)),
            (
                (call, op)
                for call, op, path, out, kind in self._calls
                if _is_named(path, out, words, kind=kind)
            ),
        )

    def ops_with(self, query: str) -> list[int]:
        """Return the ops with a shape, or with values or gradients that are not finite."""
        index, shape = self._index, shape_of(query)
        if query in NOT_FINITE:
            bad = bad_snapshots(index, query)
            return [number for number in self._ops if bad and _is_bad(index, number, bad)]
        values = index.values
        return [n for n in self._ops if any(values[v].shape == shape for v in index.op(n).outputs)]

    def leaves_with(self, query: str) -> list[tuple[int, int]]:
        """Return the leaves that match as in `ops_with`, each with the first op that takes it."""
        index, shape = self._index, shape_of(query)
        leaves = [(leaf, op) for leaf, op, _, _ in self._leaves]
        if query in NOT_FINITE:
            bad = bad_snapshots(index, query)
            return [(leaf, op) for leaf, op in leaves if _leaf_is_bad(index, leaf, bad)]
        return [(leaf, op) for leaf, op in leaves if index.values[leaf].shape == shape]


def _path(name: str) -> tuple[str, str]:
    """Return a path and its parent path, in lower case."""
    return name.casefold(), name.casefold().rpartition(".")[0]


def _is_named(
    path: str, parent: str, words: tuple[str, ...], own: str = "", kind: str = ""
) -> bool:
    """Return whether all words are in a path or in its ``own`` names, and one not in ``parent``.

    A word in the parent path counts for what is there: ``attn`` is not each op inside ``attn``.
    ``kind`` is a class, whose name only counts as a whole.
    """
    return all(word in path or word in own or word == kind for word in words) and any(
        word == kind or word in own or (word in path and word not in parent) for word in words
    )


def _is_bad(index: Index, number: int, bad: frozenset[int]) -> bool:
    """Return whether a snapshot of an op's results or of their gradients is in ``bad``."""
    op = index.op(number)
    if any(index.values[value].snapshot in bad for value in op.outputs):
        return True
    runs = (index.tape.executions[n] for node in op.nodes for _, n in index.node_runs.get(node, ()))
    return any(got in bad for run in runs for got in run.received)


def _leaf_is_bad(index: Index, leaf: int, bad: frozenset[int]) -> bool:
    value = index.values[leaf]
    arrived = (arrival.snapshot for arrival in index.arrivals.get((leaf, 0), ()))
    return value.snapshot in bad or any(number in bad for number in arrived)


def _leaves(index: Index, ops: list[int]) -> dict[int, int]:
    """Return outside value -> the first op that takes it."""
    inside = set(ops)
    found: dict[int, int] = {}
    for op in ops:
        for number in index.op(op).inputs:
            if index.values[number].op not in inside:
                found.setdefault(index.first_version(number), op)
    return found


def _calls(index: Index, ops: list[int]) -> dict[int, int]:
    """Return module call around ops -> the first op inside."""
    found: dict[int, int] = {}
    for op in ops:
        call = index.op(op).call
        while call is not None and call not in found:
            found[call] = op
            call = index.tape.calls[call].parent
    return found
