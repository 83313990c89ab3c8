"""Changes to a picture, as the editing of a program makes them."""

import random

from msgspec.structs import replace

from gradscribe.playback.graph.picture import Card, Picture, Wire


def inserted(picture: Picture, at: int) -> Picture:
    """The picture with one op more, in the middle of a wire."""
    wire = picture.wires[at]
    place = next(n for n, card in enumerate(picture.cards) if card.key == wire.target)
    fresh = Card("fresh", "op", "fresh", frame=picture.cards[place].frame)
    cards = (*picture.cards[:place], fresh, *picture.cards[place:])
    wires = [replace(wire, target="fresh", operand=0, key="to-fresh")]
    wires.append(Wire("from-fresh", "fresh", wire.target, operand=wire.operand))
    return replace(
        picture, cards=cards, wires=(*picture.wires[:at], *wires, *picture.wires[at + 1 :])
    )


def deleted(picture: Picture, at: int) -> Picture:
    """The picture without a card; who used it uses its first operand."""
    gone = picture.cards[at].key
    feed = next((wire for wire in picture.wires if wire.target == gone), None)
    wires = []
    for wire in picture.wires:
        if wire.source == gone and feed is not None:
            wires.append(replace(wire, source=feed.source, output=feed.output))
        elif gone not in (wire.source, wire.target):
            wires.append(wire)
    cards = tuple(card for card in picture.cards if card.key != gone)
    return replace(picture, cards=cards, wires=tuple(w for w in wires if w.target != gone))


def given_an_operand(picture: Picture, at: int) -> Picture:
    """The picture with one leaf more, the last operand of the target of a wire."""
    target = picture.wires[at].target
    place = next(n for n, card in enumerate(picture.cards) if card.key == target)
    last = max(wire.operand for wire in picture.wires if wire.target == target)
    leaf = Card(
        "fresh", "parameter", "fresh", frame=picture.cards[place].frame, width=128.0, height=38.0
    )
    return replace(
        picture,
        cards=(*picture.cards[:place], leaf, *picture.cards[place:]),
        wires=(*picture.wires, Wire("from-fresh", "fresh", target, operand=last + 1)),
    )


def exchanged(picture: Picture, at: int) -> Picture:
    """The picture with another op in the place of one."""
    card = picture.cards[at]
    keys = {card.key: "fresh"}
    return replace(
        picture,
        cards=tuple(
            replace(one, key="fresh", title="fresh") if one.key == card.key else one
            for one in picture.cards
        ),
        wires=tuple(
            replace(
                wire,
                source=keys.get(wire.source, wire.source),
                target=keys.get(wire.target, wire.target),
            )
            for wire in picture.wires
        ),
    )


def edited(picture: Picture, rng: random.Random) -> Picture:
    """The picture after one small edit."""
    kind = rng.randrange(4)
    if kind == 1:
        return deleted(picture, rng.randrange(len(picture.cards)))
    if kind == 3:
        return exchanged(picture, rng.randrange(len(picture.cards)))
    return (inserted, given_an_operand)[kind // 2](picture, rng.randrange(len(picture.wires)))


def renamed(picture: Picture, name: str) -> Picture:
    """The picture with its fresh card called ``name``, so that another edit may follow."""
    keys = {"fresh": name, "to-fresh": f"to-{name}", "from-fresh": f"from-{name}"}

    def called(key: str) -> str:
        return keys.get(key, key)

    return replace(
        picture,
        cards=tuple(
            replace(card, key=called(card.key), title=called(card.title)) for card in picture.cards
        ),
        wires=tuple(
            replace(w, key=called(w.key), source=called(w.source), target=called(w.target))
            for w in picture.wires
        ),
    )
