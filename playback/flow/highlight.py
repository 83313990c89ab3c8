"""Answers of the graph on the canvas: the cards that stay while all others fade."""

from typing import Literal

from msgspec import Struct

from gradscribe.playback.flow import network
from gradscribe.playback.graph.picture import Card, Picture
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting

Question = Literal["before", "after", "cut", "bottlenecks", "critical", "gradient"]
TITLES: dict[Question, str] = {
    "before": "What leads here",
    "after": "What follows",
    "cut": "Where it is cut",
    "bottlenecks": "Bottlenecks",
    "critical": "Critical path by time",
    "gradient": "Gradient graph",
}
ABOUT_ONE: tuple[Question, ...] = ("before", "after", "cut", "bottlenecks")
"""Questions about one card; the others are about the whole picture."""


class Highlight(Struct, frozen=True):
    """A question, and the key of the card that it is about; empty for the whole picture."""

    question: Question
    key: str = ""


class Answer(Struct, frozen=True):
    """The keys of the cards that stay, and a sentence."""

    cards: frozenset[str]
    words: str

    hides: bool = False
    """True if the other cards are not shown at all."""


def answer(index: Index, picture: Picture, asked: Highlight) -> Answer | None:
    """Return the answer on a picture; None if its card is not there."""
    if asked.question == "critical":
        return _critical(index, picture)
    if asked.question == "gradient":
        return _gradient(index, picture)
    card = next((card for card in picture.cards if card.key == asked.key), None)
    if card is None:
        return None
    values = _values(index, card)
    name = card.name or card.title
    if not values:
        return Answer(frozenset({card.key}), f"{name} is no tensor of the graph")
    if asked.question in ("before", "after"):
        found = (network.before if asked.question == "before" else network.after)(index, values)
        cards = _cards(index, picture, found) | {card.key}
        number = formatting.count(len(cards) - 1, "card")
        verb = "lead to" if asked.question == "before" else "follow from"
        return Answer(cards, f"{number} {verb if len(cards) != 2 else _singular(verb)} {name}")
    value = values[-1]
    roots = network.roots(index, network.last_pass(index, value))
    if asked.question == "cut":
        return _cut(index, picture, card, value, roots)
    return _bottlenecks(index, picture, card, value, roots)


def _singular(verb: str) -> str:
    return {"lead to": "leads to", "follow from": "follows from"}[verb]


def _values(index: Index, card: Card) -> list[int]:
    """Return the values that a card made, or that it is."""
    made = [output for op in card.ops for output in index.op(op).outputs]
    if not made and card.op is not None:
        made = list(index.op(card.op).outputs)
    return made or ([card.value] if card.value is not None else [])


def _cards(index: Index, picture: Picture, values: set[int]) -> frozenset[str]:
    """Return the keys of the cards of some values (nodes of the graph)."""
    return frozenset(
        card.key
        for card in picture.cards
        if any(network.node_of(index, value) in values for value in _values(index, card))
    )


def _op_cards(picture: Picture, ops: set[int]) -> frozenset[str]:
    return frozenset(c.key for c in picture.cards if c.op in ops or ops.intersection(c.ops))


def _cut(index: Index, picture: Picture, card: Card, value: int, roots: list[int]) -> Answer:
    name = card.name or card.title
    if not index.values[value].requires_grad:
        return Answer(frozenset({card.key}), f"{name} does not require a gradient")
    on_way = network.between(index, value, roots)
    ops = network.cut(index, value, roots)
    cards = _op_cards(picture, set(ops)) | {card.key}
    if roots and not on_way:
        after = network.after(index, [value])
        words = f"{name} does not lead to the loss"
        return Answer(_cards(index, picture, after) | {card.key}, words)
    if not ops:
        return Answer(_cards(index, picture, on_way) | {card.key}, f"{name} is cut nowhere")
    places = [_place(index, op) for op in ops[:4]]
    more = f" and {len(ops) - 4} more" if len(ops) > 4 else ""
    return Answer(cards, f"{name} is cut at {', '.join(places)}{more}")


def _place(index: Index, number: int) -> str:
    op = index.op(number)
    return f"{op.op}, line {op.place.line}" if op.place.line else op.op


def _bottlenecks(
    index: Index, picture: Picture, card: Card, value: int, roots: list[int]
) -> Answer:
    name = card.name or card.title
    ends = roots or [n for n in network.after(index, [value]) if not network.uses(index).succ[n]]
    chain = network.bottlenecks(index, value, ends[-1]) if ends else []
    if not chain:
        return Answer(frozenset({card.key}), f"{name} does not lead to the loss")
    cards = _cards(index, picture, set(chain)) | {card.key}
    number = formatting.count(len(chain), "tensor")
    return Answer(cards, f"Every way from {name} to the loss passes {number}")


def _critical(index: Index, picture: Picture) -> Answer:
    ops = sorted({op for card in picture.cards for op in (*card.ops, card.op) if op is not None})
    times = index.tape.times
    if not ops or not times:
        return Answer(frozenset(), "No times were recorded")
    path = network.critical_path(index, ops)
    spent = sum(times[op] for op in path)
    whole = sum(times[op] for op in ops if op < len(times))
    words = f"{formatting.count(len(path), 'op')}, {formatting.duration(spent)}"
    return Answer(_op_cards(picture, set(path)), f"{words} of {formatting.duration(whole)}")


def _gradient(index: Index, picture: Picture) -> Answer:
    cards = frozenset(
        card.key
        for card in picture.cards
        if any(index.values[value].requires_grad for value in _values(index, card))
    )
    hidden = formatting.count(len(picture.cards) - len(cards), "card")
    return Answer(cards, f"{hidden} without a gradient not shown", hides=True)
