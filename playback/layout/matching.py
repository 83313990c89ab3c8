"""Matching of the cards and frames of two pictures.

Keys are numbered: ``op:mul:x:2`` is the third product named ``x``. A new product further up shifts
all of them, so pictures are compared like texts (`difflib`), card by card in order of execution.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

from gradscribe.playback.graph.picture import Card, Picture

MAX_PAIRS = 400_000
"""Most pairs of cards, between the first and the last change, to compare; above, keys decide."""

Stem = tuple[str, str, str, str]


def match_keys(old: Picture, new: Picture) -> dict[str, str]:
    """Return key in ``new`` -> key in ``old`` for all cards and frames that existed before.

    A card that replaces another card between the same neighbours matches it.
    """
    found = _cards(old.cards, new.cards)
    frames = {frame.key for frame in old.frames}
    # An opened module is a frame in place of a card, a closed module a card in place of a frame.
    folded = {card.key for card in old.cards if card.kind == "module"}
    found |= {frame.key: frame.key for frame in new.frames if frame.key in frames | folded}
    found |= {card.key: card.key for card in new.cards if card.key in frames}
    return found


def _cards(old: Sequence[Card], new: Sequence[Card]) -> dict[str, str]:
    before, after = [_signature(card) for card in old], [_signature(card) for card in new]
    most = min(len(before), len(after))
    start = next((n for n in range(most) if before[n] != after[n]), most)
    rest = next((n for n in range(most - start) if before[-1 - n] != after[-1 - n]), most - start)
    pairs = [(n, n) for n in range(start)]
    pairs += [(len(before) - n, len(after) - n) for n in range(1, rest + 1)]
    old_part, new_part = before[start : len(before) - rest], after[start : len(after) - rest]
    if len(old_part) * len(new_part) <= MAX_PAIRS:
        blocks = SequenceMatcher(None, old_part, new_part, autojunk=False).get_opcodes()
        for tag, a, a_end, b, b_end in blocks:
            if tag == "equal" or (tag == "replace" and a_end - a == b_end - b):
                pairs += [(start + a + n, start + b + n) for n in range(a_end - a)]
    found = {new[b].key: old[a].key for a, b in pairs}
    taken, by_key = set(found.values()), {card.key for card in old}
    for card in new:
        if card.key not in found and card.key in by_key and card.key not in taken:
            found[card.key] = card.key
    return found


def _signature(card: Card) -> Stem:
    return card.kind, card.title, card.name, card.frame
