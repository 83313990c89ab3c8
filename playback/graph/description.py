"""Descriptions of cards and wires in words, for screen readers."""

from gradscribe.playback.graph.picture import Card, CardKind, Wire
from gradscribe.playback.graph.reading import EN_DASH, NABLA, WAITING, CardReading
from gradscribe.playback.translation import tr


def card_name(card: Card) -> str:
    """Return a card's name, else its title or number."""
    return card.name or card.title or card.literal


def card_label(card: Card, reading: CardReading) -> str:
    """Return a card's short name for a screen reader: ``mul, z, value 6, gradient 16``."""
    parts = [card.title or card.literal]
    if card.name and card.name != card.title:
        parts.append(card.name)
    if reading.state == "waiting":
        parts.append(tr("not reached yet"))
    elif reading.number and reading.number != card.literal:
        parts.append(tr("value {number}", number=reading.number))
    elif reading.shape:
        parts.append(tr("shape {shape}", shape=reading.shape.replace("×", tr("by"))))
    if reading.bad:
        parts.append(tr("holds {numbers}", numbers=reading.bad))
    if reading.gradient:
        parts.append(tr("gradient {number}", number=_spoken(reading.gradient)))
    if reading.failed:
        parts.append(tr("the program stopped here"))
    return ", ".join(parts)


def wire_label(source: str, target: str, share: str) -> str:
    """Return a wire's short name; ``share``: the gradient that came back along it, or empty."""
    if not share:
        return tr("from {source} to {target}", source=source, target=target)
    return tr(
        "from {source} to {target}, gradient back {share}",
        source=source,
        target=target,
        share=_spoken(share),
    )


KINDS: dict[CardKind, str] = {
    "parameter": tr("parameter"),
    "data": tr("input"),
    "constant": tr("constant"),
    "op": tr("operation"),
    "loss": tr("loss"),
    "module": tr("module"),
}
"""Kinds of cards in words."""


def _spoken(number: str) -> str:
    return number.replace(NABLA, tr("norm"))


def describe_card(
    card: Card, reading: CardReading, inputs: list[str], ordered: bool = False
) -> str:
    """Return a card's description for a screen reader; ``ordered``: with order and visits."""
    parts = [tr("{kind} {title}", kind=KINDS[card.kind], title=card.title)]
    if card.name and card.name != card.title:
        parts.append(tr("named {name}", name=card.name))
    if reading.state == "waiting":
        parts.append(WAITING)
    elif reading.number:
        parts.append(tr("value {number}", number=reading.number))
    if reading.shape:
        parts.append(tr("shape {replace}", replace=reading.shape.replace("×", tr("by"))))
    if reading.bad:
        parts.append(tr("holds {bad}", bad=reading.bad))
    if reading.gradient:
        parts.append(tr("gradient {replace}", replace=reading.gradient.replace(NABLA, tr("norm"))))
    if ordered and reading.order:
        place, visits = reading.order.removeprefix("#").split(" · ")
        place = place.replace(EN_DASH, tr(" to "))
        parts.append(
            tr("backward node {place}, visit {visits}", place=place, visits=visits[:-1])
            if visits == "1×"
            else tr("backward node {place}, visits {visits}", place=place, visits=visits[:-1])
        )
    if reading.tint is not None and reading.tint.least is not None:
        parts.append(tr("gradients of parameters {words}", words=reading.tint.words))
    if reading.failed:
        parts.append(tr("the program stopped here: {failed}", failed=reading.failed))
    if reading.tag:
        parts.append(reading.tag)
    if card.cut:
        parts.append(tr("no gradient passes"))
    if inputs:
        relation = tr("given") if card.is_failed_call else tr("made from")
        words = tr(" and ").join(inputs)
        parts.append(tr("{relation} {words}", relation=relation, words=words))
    return ", ".join(parts)


def describe_wire(wire: Wire, source: str, target: str, label: str) -> str:
    """Return a wire's description for a screen reader."""
    parts = [tr("value from {source} to {target}", source=source, target=target)]
    if wire.shape:
        parts.append(tr("shape {replace}", replace=wire.shape.replace("×", tr("by"))))
    if wire.dashed:
        parts.append(tr("no gradient comes back"))
    if label:
        parts.append(tr("gradient back {replace}", replace=label.replace(NABLA, tr("norm"))))
    return ", ".join(parts)
