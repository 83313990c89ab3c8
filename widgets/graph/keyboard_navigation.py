"""Arrow key navigation: along the wires, between neighbours in a row, and onto the wires."""

from typing import Literal

from PySide6.QtCore import QPointF

from gradscribe.widgets.graph.paint.stage import Stage

Direction = Literal["up", "down", "left", "right"]

_SIDE: dict[Direction, tuple[float, float]] = {
    "up": (0, -1),
    "down": (0, 1),
    "left": (-1, 0),
    "right": (1, 0),
}


def start_card(stage: Stage) -> str:
    """Return the card to start from: what failed, the loss, else the last; empty for none."""
    ends = [key for key, card in stage.cards.items() if card.failed]
    ends += [key for key, card in stage.cards.items() if card.kind == "loss"]
    return ends[0] if ends else stage.card_keys[-1] if stage.card_keys else ""


def next_card(stage: Stage, key: str, way: Direction) -> str:
    """Return the next card from ``key`` in a direction; ``key`` itself where there is none.

    From a wire that is the card at its end.
    """
    forward, back = _along(stage)
    if key in stage.wires:
        wire = stage.wires[key]
        return {forward: wire.target, back: wire.source}.get(way) or next_wire(stage, key, way)
    if key not in stage.cards:
        return start_card(stage)
    if way == forward:
        keys = [stage.wires[wire].target for wire in stage.out_of[key]]
    elif way == back:
        keys = [stage.wires[wire].source for wire in stage.into[key]]
    else:
        return _neighbour(stage, key, way)
    return keys[0] if keys else _neighbour(stage, key, way)


def next_wire(stage: Stage, key: str, way: Direction) -> str:
    """Return the wire by which a card is left in a direction; empty where there is none.

    From a wire that is the one before or after it, of those that leave its source or enter its
    target.
    """
    forward, back = _along(stage)
    if key not in stage.wires:
        wires = {forward: stage.out_of, back: stage.into}.get(way, {}).get(key, ())
        return next(iter(wires), "")
    wire = stage.wires[key]
    near = list(dict.fromkeys([*stage.out_of[wire.source], *stage.into[wire.target]]))
    turn = 1 if way in ("right", "down") else -1
    return near[(near.index(key) + turn) % len(near)]


def _along(stage: Stage) -> tuple[Direction, Direction]:
    """Return the direction in which values flow, and that in which gradients flow."""
    return ("down", "up") if stage.flows_down else ("right", "left")


def _neighbour(stage: Stage, key: str, way: Direction) -> str:
    """Return the nearest card on one side, preferring the same row or column."""
    here = stage.boxes[key].center()
    smallest, nearest = float("inf"), key
    for other, box in stage.boxes.items():
        gap = _gap(here, box.center(), way)
        if other != key and gap < smallest:
            smallest, nearest = gap, other
    return nearest


def _gap(here: QPointF, there: QPointF, way: Direction) -> float:
    dx, dy = _SIDE[way]
    away = there - here
    ahead = away.x() * dx + away.y() * dy
    aside = abs(away.x() * dy) + abs(away.y() * dx)
    return float("inf") if ahead <= 1 or aside > 2 * ahead + 40 else ahead + 3 * aside
