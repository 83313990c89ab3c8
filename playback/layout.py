"""Layout: where the cards, frames and wires of a picture stand.

Every frame is laid out alone, the innermost first; the places where wires pass its border become
the ports of its box one level up. `layout_level` says what a level is; the steps for one level, in
`layout_parts`, are `layout_layers`, `layout_grid`, `layout_order`, `layout_leaves`,
`layout_across` and `layout_routes`, in that order. Where something was shown before,
`layout_keep` and `layout_hold` see to it that it stays in its order.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from playback.layout_keep import swaps
from playback.layout_level import ENTRY, EXIT, Cancelled, Check, Laid, Level
from playback.layout_nest import Nest, assemble
from playback.layout_parts import side_by_side
from playback.layout_same import same
from playback.picture import Flow, Picture, Placement

__all__ = ["Cancelled", "forget", "place"]

KEPT_NODES = 20_000
"""How many nodes the levels kept from earlier calls may have together."""
WORST, WORST_MORE = 2, 12
"""What was there keeps its order while that crosses at most so much more, by factor and number."""

_one_at_a_time = Lock()
_kept: OrderedDict[Level, Laid] = OrderedDict()


def place(
    picture: Picture,
    direction: Flow = "down",
    cancelled: Callable[[], bool] | None = None,
    previous: tuple[Picture, Placement] | None = None,
) -> Placement:
    """Return where everything in a picture stands.

    Operands arrive at the target's edge in their order; long chains are straight; frames hold
    their own cards and nothing else. The same picture always gets the same placement. Levels are
    kept between calls, so that opening one module is cheap; a call waits for one that goes on.

    With ``previous`` neighbours of a row that were there before do not change sides, whatever was
    added, taken away, replaced, opened or closed. A frame is laid out afresh where that holds by
    itself, where most in it is new, and where keeping the order would cross wires more than
    `WORST` times as often. A card that an edit pulls below its row may pass others.

    Args:
        picture: with wires between its own cards; cycles are drawn as wires that climb.
        direction: of the flow.
        cancelled: asked between steps, from the calling thread.
        previous: what was shown before, and where it stood.

    Raises:
        Cancelled: ``cancelled`` said yes.
        ValueError: a wire names a card that is not there, or frames stand in each other.
    """

    def check() -> None:
        if cancelled is not None and cancelled():
            raise Cancelled

    seats = {}
    if previous is not None:
        old, placed = previous
        there = same(old, picture)
        seats = {key: placed.seats[was] for key, was in there.items() if was in placed.seats}
    nest = Nest(picture, direction, seats)
    with _one_at_a_time:
        return assemble(nest, lambda level: lay_out(level, check))


def forget() -> None:
    """Drop what is kept between calls, so that the next one is as slow as the first."""
    with _one_at_a_time:
        _kept.clear()


def lay_out(level: Level, check: Check) -> Laid:
    """Lay one level out, or return it as it was laid out before."""
    fresh = _remembered(level._replace(seats=()), check)
    known = sum(seat is not None for seat in level.seats)
    items = sum(node.kind not in (ENTRY, EXIT) for node in level.nodes)
    if 2 * known < items or not swaps(level.seats, fresh.x):
        return fresh
    kept = _remembered(level, check)
    # The next time it is asked for where it stands now, and shall stay there.
    there = [seat and now for seat, now in zip(level.seats, kept.seats, strict=True)]
    _kept.setdefault(level._replace(seats=tuple(there)), kept)
    return kept if kept.crossings <= WORST * fresh.crossings + WORST_MORE else fresh


def _remembered(level: Level, check: Check) -> Laid:
    laid = _kept.get(level)
    if laid is None:
        laid = _kept[level] = side_by_side(level, check)
        size = sum(len(kept.nodes) for kept in _kept)
        while size > KEPT_NODES and len(_kept) > 1:
            size -= len(_kept.popitem(last=False)[0].nodes)
    else:
        _kept.move_to_end(level)
    return laid
