"""Layered (Sugiyama) layout of a picture: positions of cards and frames, routes of wires.

Every frame is laid out alone, the innermost first; the points where wires pass its border become
the ports of its box one level up. `layout_level` defines a level; the steps for one level, in
`layout_parts`, are `layout_layers`, `layout_grid`, `layout_order`, `layout_leaves`,
`layout_across` and `layout_routes`, in that order. `layout_keep` and `layout_hold` preserve the
order of what was shown before. The framework of layers, bends and sweeps is that of Sugiyama,
Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", 1981.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from gradscribe.playback.graph.picture import Flow, Picture, Placement
from gradscribe.playback.layout.components import lay_out_components
from gradscribe.playback.layout.level import ENTRY, EXIT, Cancelled, Check, Level, LevelLayout
from gradscribe.playback.layout.matching import match_keys
from gradscribe.playback.layout.nesting import LevelTree, assemble
from gradscribe.playback.layout.previous import count_swaps

__all__ = ["Cancelled", "clear_cache", "place"]

CACHED_NODES = 20_000
"""Most nodes of all cached levels together."""
CROSSINGS_FACTOR, EXTRA_CROSSINGS = 2, 12
"""Most crossings, by factor and number over a fresh layout, for which the old order is kept."""

_lock = Lock()
_cache: OrderedDict[Level, LevelLayout] = OrderedDict()


def place(
    picture: Picture,
    direction: Flow = "down",
    cancelled: Callable[[], bool] | None = None,
    previous: tuple[Picture, Placement] | None = None,
) -> Placement:
    """Return the placement of a picture.

    Operands arrive at the target's edge in their order; long chains are straight; a frame encloses
    its own cards only. The result is deterministic. Levels are cached between calls, so that
    opening a module is cheap; concurrent calls wait for each other.

    With ``previous``, old neighbours in a row do not change sides, whatever was added, removed,
    replaced, opened or closed. A frame is laid out afresh if that preserves the order anyway, if
    most of it is new, or if preserving the order would cost too many crossings (`CROSSINGS_FACTOR`,
    `EXTRA_CROSSINGS`). A card that an edit moves below its row may pass others.

    Args:
        picture: with wires between its own cards; cycles are drawn as wires that run upwards.
        direction: of the flow.
        cancelled: called between steps, in the calling thread; True aborts.
        previous: the picture shown before, and its placement.

    Raises:
        Cancelled: ``cancelled`` returned True.
        ValueError: a wire refers to a missing card, or frames contain each other.
    """

    def check() -> None:
        if cancelled is not None and cancelled():
            raise Cancelled

    seats = {}
    if previous is not None:
        old, placed = previous
        there = match_keys(old, picture)
        seats = {key: placed.seats[was] for key, was in there.items() if was in placed.seats}
    nest = LevelTree(picture, direction, seats)
    with _lock:
        return assemble(nest, lambda level: lay_out_level(level, check))


def clear_cache() -> None:
    """Clear the cache of levels, so that the next call is as slow as the first."""
    with _lock:
        _cache.clear()


def lay_out_level(level: Level, check: Check) -> LevelLayout:
    """Lay out one level, or return its cached layout."""
    fresh = _cached(level._replace(seats=()), check)
    known = sum(seat is not None for seat in level.seats)
    items = sum(node.kind not in (ENTRY, EXIT) for node in level.nodes)
    if 2 * known < items or not count_swaps(level.seats, fresh.x):
        return fresh
    stable = _cached(level, check)
    # The next request has these seats, and must get the same layout.
    there = [seat and now for seat, now in zip(level.seats, stable.seats, strict=True)]
    _cache.setdefault(level._replace(seats=tuple(there)), stable)
    return (
        stable
        if stable.crossings <= CROSSINGS_FACTOR * fresh.crossings + EXTRA_CROSSINGS
        else fresh
    )


def _cached(level: Level, check: Check) -> LevelLayout:
    laid = _cache.get(level)
    if laid is None:
        laid = _cache[level] = lay_out_components(level, check)
        size = sum(len(cached.nodes) for cached in _cache)
        while size > CACHED_NODES and len(_cache) > 1:
            size -= len(_cache.popitem(last=False)[0].nodes)
    else:
        _cache.move_to_end(level)
    return laid
