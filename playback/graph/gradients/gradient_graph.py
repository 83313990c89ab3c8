"""The part of a picture that gradients can pass."""

from msgspec import structs

from gradscribe.playback.graph.picture import Card, Frame, Picture
from gradscribe.playback.tape.index import Index


def values_of(index: Index, card: Card) -> list[int]:
    """Return the ids of the values that a card made, or of the leaf that it is."""
    made = [output for op in card.ops for output in index.op(op).outputs]
    if not made and card.op is not None:
        made = list(index.op(card.op).outputs)
    return made or ([card.value] if card.value is not None else [])


def gradient_graph(index: Index, picture: Picture) -> Picture:
    """Return a picture of the cards that require a gradient alone; `Picture.hidden` counts others.

    The call that failed stays. A picture without any such card is returned unchanged.
    """
    keys = {
        card.key
        for card in picture.cards
        if any(index.values[value].requires_grad for value in values_of(index, card))
    }
    if not keys:
        return picture
    keys |= {card.key for card in picture.cards if card.failed}
    cards = tuple(card for card in picture.cards if card.key in keys)
    wires = tuple(wire for wire in picture.wires if wire.source in keys and wire.target in keys)
    wired = {wire.key for wire in wires}
    return structs.replace(
        picture,
        cards=cards,
        wires=wires,
        frames=_around(picture.frames, cards),
        edge_wires={at: key for at, key in picture.edge_wires.items() if key in wired},
        node_cards={node: key for node, key in picture.node_cards.items() if key in keys},
        value_cards={value: key for value, key in picture.value_cards.items() if key in keys},
        hidden=len(picture.cards) - len(cards),
    )


def _around(frames: tuple[Frame, ...], cards: tuple[Card, ...]) -> tuple[Frame, ...]:
    """Return the frames around some cards, and those around these."""
    parents = {frame.key: frame.parent for frame in frames}
    used: set[str] = set()
    for card in cards:
        key = card.frame
        while key and key not in used:
            used.add(key)
            key = parents.get(key, "")
    return tuple(frame for frame in frames if frame.key in used)
