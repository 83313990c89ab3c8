"""Answers of the graph on the canvas: the cards that stay while all others fade."""

from typing import Literal

from msgspec import Struct

from gradscribe.playback.flow import network, way_text
from gradscribe.playback.flow.ways import Way, on_ways, ways
from gradscribe.playback.graph.gradients.gradient_graph import values_of
from gradscribe.playback.graph.picture import Card, Picture
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

Question = Literal["ways", "before", "after", "cut", "bottlenecks", "critical"]
TITLES: dict[Question, str] = {
    "ways": tr("Ways to the loss"),
    "before": tr("What leads here"),
    "after": tr("What follows"),
    "cut": tr("Where it is cut"),
    "bottlenecks": tr("Bottlenecks"),
    "critical": tr("Critical path by time"),
}
ABOUT_ONE: tuple[Question, ...] = ("ways", "before", "after", "cut", "bottlenecks")
"""Questions about one card; the others are about the whole picture."""


class Highlight(Struct, frozen=True):
    """A question, and the key of the card that it is about; empty for the whole picture."""

    question: Question
    key: str = ""
    way: int = -1
    """Index of the only way to be shown; -1 for all."""


class Answer(Struct, frozen=True):
    """The keys of the cards that stay, in the order in which they light up, and a sentence."""

    cards: tuple[str, ...]
    words: str
    ways: int = 0
    """Number of ways that can be shown one by one."""


def answer(index: Index, picture: Picture, asked: Highlight) -> Answer | None:
    """Return the answer on a picture; None if its card is not there."""
    if asked.question == "critical":
        return _critical(index, picture)
    card = next((card for card in picture.cards if card.key == asked.key), None)
    if card is None:
        return None
    values = values_of(index, card)
    if not values:
        return Answer(
            (card.key,), tr("{value} is no tensor of the graph", value=card.name or card.title)
        )
    if asked.question == "before":
        return _before(index, picture, card, values)
    if asked.question == "after":
        return _after(index, picture, card, values)
    value = values[-1]
    if asked.question == "ways":
        return _ways(index, picture, card, value, asked.way)
    value = network.version_in_pass(index, value)
    roots = network.roots(index, network.last_pass(index, value))
    if asked.question == "cut":
        return _cut(index, picture, card, value, roots)
    return _bottlenecks(index, picture, card, value, roots)


def _before(index: Index, picture: Picture, card: Card, values: list[int]) -> Answer:
    cards = _cards(index, picture, network.before(index, values) | set(values))
    # From the card back to the leaves.
    cards = (card.key, *(key for key in reversed(cards) if key != card.key))
    verb = "lead" if len(cards) != 2 else "leads"
    number = ngettext("{count:,} card", "{count:,} cards", len(cards) - 1)
    return Answer(
        cards,
        tr("{number} {verb} to {value}", number=number, verb=verb, value=card.name or card.title),
    )


def _after(index: Index, picture: Picture, card: Card, values: list[int]) -> Answer:
    cards = _cards(index, picture, network.after(index, values))
    cards = (card.key, *(key for key in cards if key != card.key))
    verb = "follow" if len(cards) != 2 else "follows"
    number = ngettext("{count:,} card", "{count:,} cards", len(cards) - 1)
    return Answer(
        cards,
        tr("{number} {verb} from {value}", number=number, verb=verb, value=card.name or card.title),
    )


def _ways(index: Index, picture: Picture, card: Card, value: int, number: int) -> Answer:
    found, name = ways(index, value), card.name or card.title
    if not found.count:
        value = network.version_in_pass(index, value)
        cut = _cut(index, picture, card, value, _roots(index, value))
        return Answer(cut.cards, f"{way_text.summary(found, name)}: {cut.words}")
    count = len(found.listed)
    if 0 <= number < count:
        shown = found.listed[number]
        text = way_text.way(index, shown, found.seed)
        size = way_text.amount(shown, found.is_norm)
        cards = _way_cards(index, picture, card, shown)
        return Answer(
            cards,
            tr(
                "Way {value} of {count}: {text}  {size}",
                value=number + 1,
                count=count,
                text=text,
                size=size,
            ),
            count,
        )
    cards = _cards(index, picture, on_ways(index, value))
    cards = (card.key, *(key for key in cards if key != card.key))
    words = "; ".join(filter(None, (way_text.summary(found, name), way_text.equation(found))))
    return Answer(cards, words, count)


def _roots(index: Index, value: int) -> list[int]:
    return network.roots(index, network.last_pass(index, value))


def _way_cards(index: Index, picture: Picture, card: Card, way: Way) -> tuple[str, ...]:
    """Return the cards of a way in its order; of several ways all that the first op leads to."""
    if way.count > 1:
        made = index.op(way.steps[0].op).outputs
        nodes = set().union(*(on_ways(index, value) for value in made))
        return (card.key, *_cards(index, picture, nodes))
    homes = {op: shown.key for shown in picture.cards for op in (*shown.ops, shown.op)}
    found = {card.key: None}
    found.update((homes[step.op], None) for step in way.steps if step.op in homes)
    return tuple(found)


def _cards(index: Index, picture: Picture, values: set[int]) -> tuple[str, ...]:
    """Return the keys of the cards of some values (nodes of the graph), in their order."""
    return tuple(
        card.key
        for card in picture.cards
        if any(network.node_of(index, value) in values for value in values_of(index, card))
    )


def _op_cards(picture: Picture, ops: set[int]) -> tuple[str, ...]:
    return tuple(c.key for c in picture.cards if c.op in ops or ops.intersection(c.ops))


def _cut(index: Index, picture: Picture, card: Card, value: int, roots: list[int]) -> Answer:
    name = card.name or card.title
    if not index.values[value].requires_grad:
        return Answer((card.key,), tr("{name} does not require a gradient", name=name))
    ops = network.cut(index, value, roots)
    if roots and not network.between(index, value, roots):
        ends = (index.values[end].op for end in network.dead_ends(index, value))
        ops = sorted({op for op in ends if op is not None})
        words = tr("{name} does not lead to the loss", name=name)
        if ops:
            words += tr(
                ": it ends at {places}, which no op uses (item(), float() and numpy() "
                "leave the graph)",
                places=_places(index, ops),
            )
    elif ops:
        words = tr("{name} is cut at {places}", name=name, places=_places(index, ops))
    else:
        words = (
            tr("{name} is cut nowhere", name=name)
            if roots
            else tr("{name} is cut nowhere; no backward has run", name=name)
        )
    cards = _op_cards(picture, set(ops))
    if not ops:
        on_way = network.between(index, value, roots) or network.after(index, [value])
        cards = _cards(index, picture, on_way)
    return Answer((card.key, *(key for key in cards if key != card.key)), words)


def _places(index: Index, ops: list[int]) -> str:
    more = tr(" and {value} more", value=len(ops) - 4) if len(ops) > 4 else ""
    return ", ".join(_place(index, op) for op in ops[:4]) + more


def _place(index: Index, number: int) -> str:
    op = index.op(number)
    return tr("{op}, line {line}", op=op.op, line=op.place.line) if op.place.line else op.op


def _bottlenecks(
    index: Index, picture: Picture, card: Card, value: int, roots: list[int]
) -> Answer:
    name = card.name or card.title
    ends = [root for root in roots if network.between(index, value, [root])]
    ends = ends or network.dead_ends(index, value)
    chain = network.bottlenecks(index, value, ends[-1]) if ends else []
    if not chain:
        return Answer((card.key,), tr("{name} does not lead to the loss", name=name))
    end = tr("the loss") if roots else _name(index, ends[-1])
    cards = _cards(index, picture, set(chain))
    number = ngettext("{count:,} tensor", "{count:,} tensors", len(chain))
    return Answer(
        (card.key, *cards),
        tr("Every way from {name} to {end} passes {number}", name=name, end=end, number=number),
    )


def _name(index: Index, value: int) -> str:
    made = index.values[value]
    return made.name or (made.maker if made.op is None else index.op(made.op).op)


def _critical(index: Index, picture: Picture) -> Answer:
    ops = sorted({op for card in picture.cards for op in (*card.ops, card.op) if op is not None})
    times = index.tape.times
    path = network.critical_path(index, ops) if times else []
    if not path:
        return Answer((), tr("No times were recorded"))
    spent = sum(times[op] for op in path)
    whole = sum(times[op] for op in ops if op < len(times))
    slowest = max(path, key=lambda op: times[op])
    words = tr(
        "{ops}, {duration} of {duration_2}; slowest {place}: {duration_3}",
        ops=ngettext("{count:,} op", "{count:,} ops", len(path)),
        duration=formatting.duration(spent),
        duration_2=formatting.duration(whole),
        place=_place(index, slowest),
        duration_3=formatting.duration(times[slowest]),
    )
    return Answer(_op_cards(picture, set(path)), words)
