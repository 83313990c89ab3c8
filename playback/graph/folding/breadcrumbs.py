"""Breadcrumbs: the path of open modules around a card."""

from msgspec import Struct

from gradscribe.playback.graph.picture import Look, Picture


class Crumb(Struct, frozen=True):
    """One step of the path: the key of a frame or card, and its label."""

    key: str
    title: str


def breadcrumbs(picture: Picture, key: str) -> tuple[Crumb, ...]:
    """Return the path to a card, wire or frame, outermost module first; empty if unknown.

    The path of a wire is that of the card that takes its value.
    """
    frames = {frame.key: frame for frame in picture.frames}
    if key in frames:
        last, around = Crumb(key, frames[key].title), frames[key].parent
    else:
        wire = next((wire for wire in picture.wires if wire.key == key), None)
        wanted = wire.target if wire is not None else key
        card = next((card for card in picture.cards if card.key == wanted), None)
        if card is None:
            return ()
        last, around = Crumb(card.key, card.title or card.literal or card.name), card.frame
    path = [last]
    while around in frames:
        path.append(Crumb(around, frames[around].title))
        around = frames[around].parent
    return tuple(reversed(path))


def playing_card(look: Look) -> str:
    """Return the key of the card that is playing; empty for none."""
    return next((key for key, card in look.cards.items() if card.active), "")
