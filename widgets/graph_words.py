"""Text descriptions of the graph for screen readers and tool tips."""

from playback.picture import Card, Wire
from playback.text import count
from widgets.paint import failed
from widgets.paint.drawing import Drawing
from widgets.paint.reading import NABLA, WAITING, Reading


def words(drawing: Drawing, key: str) -> str:
    """Return a description of a card or wire; for any other key, of the graph and its state."""
    stage = drawing.stage
    if key in stage.cards:
        inputs = [_name(stage.cards[stage.wires[wire].source]) for wire in stage.into[key]]
        return spoken(stage.cards[key], drawing.reading(key), inputs)
    if key in stage.wires:
        wire = stage.wires[key]
        source, target = stage.cards[wire.source], stage.cards[wire.target]
        return spoken_wire(wire, _name(source), _name(target), drawing.label_words(key))
    size = f"{count(len(stage.cards), 'card')}, {count(len(stage.wires), 'wire')}"
    return ". ".join(part for part in (size, drawing.look.caption) if part)


def _name(card: Card) -> str:
    return card.name or card.title or card.literal


def spoken(card: Card, reading: Reading, inputs: list[str]) -> str:
    """Return a card's description for a screen reader."""
    kind = {"op": "operation", "data": "input"}.get(card.kind, card.kind)
    parts = [f"{kind} {card.title}"]
    if card.name and card.name != card.title:
        parts.append(f"named {card.name}")
    if reading.state == "waiting":
        parts.append(WAITING)
    elif reading.number:
        parts.append(f"value {reading.number}")
    if reading.shape:
        parts.append(f"shape {reading.shape.replace('×', 'by')}")
    if reading.bad:
        parts.append(f"holds {reading.bad}")
    if reading.gradient:
        parts.append(f"gradient {reading.gradient.replace(NABLA, 'norm')}")
    if reading.failed:
        parts.append(f"the program stopped here: {reading.failed}")
    if card.mark:
        parts.append(card.mark)
    if card.cut:
        parts.append("no gradient passes")
    if inputs:
        relation = "given" if failed.is_call(card) else "made from"
        parts.append(f"{relation} {' and '.join(inputs)}")
    return ", ".join(parts)


def spoken_wire(wire: Wire, source: str, target: str, label: str) -> str:
    """Return a wire's description for a screen reader."""
    parts = [f"value from {source} to {target}"]
    if wire.shape:
        parts.append(f"shape {wire.shape.replace('×', 'by')}")
    if wire.dashed:
        parts.append("no gradient comes back")
    if label:
        parts.append(f"gradient back {label.replace(NABLA, 'norm')}")
    return ", ".join(parts)
