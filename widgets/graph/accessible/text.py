"""Text descriptions of the graph for screen readers."""

from gradscribe.playback.graph.description import (
    card_label,
    card_name,
    describe_card,
    describe_wire,
    wire_label,
)
from gradscribe.playback.translation import ngettext
from gradscribe.widgets.graph.paint.drawing import GraphDrawing


def describe(drawing: GraphDrawing, key: str) -> str:
    """Return a description of a card or wire; for any other key, of the graph and its state."""
    stage = drawing.stage
    if key in stage.cards:
        inputs = [card_name(stage.cards[stage.wires[wire].source]) for wire in stage.into[key]]
        ordered = drawing.layers.order
        return describe_card(stage.cards[key], drawing.reading(key), inputs, ordered)
    if key in stage.wires:
        wire = stage.wires[key]
        source, target = stage.cards[wire.source], stage.cards[wire.target]
        return describe_wire(wire, card_name(source), card_name(target), drawing.label_text(key))
    cards = ngettext("{count:,} card", "{count:,} cards", len(stage.cards))
    wires = ngettext("{count:,} wire", "{count:,} wires", len(stage.wires))
    return ". ".join(part for part in (f"{cards}, {wires}", drawing.look.caption) if part)


def label(drawing: GraphDrawing, key: str) -> str:
    """Return a short name of a card or wire: ``mul, z, value 6, gradient 16``; empty for others."""
    stage = drawing.stage
    if key in stage.cards:
        return card_label(stage.cards[key], drawing.reading(key))
    if key in stage.wires:
        wire = stage.wires[key]
        source, target = stage.cards[wire.source], stage.cards[wire.target]
        return wire_label(card_name(source), card_name(target), drawing.label_text(key))
    return ""
