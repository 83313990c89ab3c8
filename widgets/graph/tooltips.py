"""Tool tips of the graph: a few lines about a card, a wire or a frame."""

from gradscribe.engine.protocol.tape import Value
from gradscribe.playback.graph.description import card_name
from gradscribe.playback.graph.marks import SHARED
from gradscribe.playback.graph.picture import Card, CardLook, Wire
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.graph.paint import frames
from gradscribe.widgets.graph.paint.drawing import GraphDrawing

_CUT = {
    "data": tr(".data cuts the graph here: no gradient comes back"),
    "detach": tr("detach cuts the graph here: no gradient comes back"),
    "no_grad": tr("this ran under no_grad: no gradient comes back"),
    "grad": tr("grad() ran without create_graph: no gradient comes back through its result"),
}
_NORM = tr("∇ is the norm of a gradient: the length of all its numbers taken together")


def tip(drawing: GraphDrawing, key: str) -> str:
    """Return the tool tip of a card, wire or frame, in lines; empty for any other key."""
    stage = drawing.stage
    if key in stage.cards:
        return "\n".join(_card(drawing, stage.cards[key]))
    if key in stage.wires:
        return "\n".join(_wire(drawing, stage.wires[key]))
    return frames.describe(stage.frames[key]) if key in stage.frames else ""


def key_at(drawing: GraphDrawing, x: float, y: float) -> str:
    """Return the key of the card or wire whose bubble or label is at a scene point, or empty."""
    for key, label in drawing.tiles.placed().items():
        if label.box.contains(x, y):
            return key.removesuffix("#part")
    for key in drawing.look.cards.keys() & drawing.stage.boxes.keys():
        bubble = drawing.bubble(key)
        if bubble is not None and bubble.contains(x, y):
            return key
    return ""


def _card(drawing: GraphDrawing, card: Card) -> list[str]:
    reading, tape = drawing.reading(card.key), drawing.stage.reader.tape
    value = drawing.stage.reader.value(card)
    title = card.title or card.literal
    lines = [f"{card.name} · {title}" if card.name not in ("", title) else title]
    if card.note:
        lines.append(card.note)
    if value is not None:
        lines.append(_what(value))
    if reading.state == "waiting":
        lines.append(tr("not reached yet"))
    elif value is None and card.key in drawing.stage.picture.node_cards.values():
        lines.append(tr("no number: torch computed it inside backward and did not save it"))
    elif reading.number:
        lines.append(tr("value {number}", number=reading.number))
    if reading.bad:
        lines.append(tr("holds {bad}", bad=reading.bad))
    look = drawing.look.cards.get(card.key)
    if reading.gradient and look is not None:
        lines += _gradient(reading.gradient, look)
    if card.leaves and look is not None and look.inside:
        lines += drawing.parameters.lines(card, look.inside)
    if look is not None and look.visits:
        lines.append(_order(look))
    if reading.update:
        lines.append(tr("update: {update}", update=reading.update))
    lines += _marks(card, look)
    if reading.failed and reading.failed != card.note:
        lines.append(tr("backward stopped here: {failed}", failed=reading.failed))
    line = tape.ops[card.op].place.line if card.op is not None and card.op < len(tape.ops) else 0
    if card.is_failed_call and tape.fault is not None:
        line = tape.fault.place.line
    line = line or (value.place.line if value is not None else 0)
    return [*lines, tr("line {line}", line=line)] if line else lines


def _what(value: Value) -> str:
    gets = tr("requires a gradient") if value.requires_grad else tr("no gradient")
    return f"{formatting.shape(value.shape)} · {value.dtype} · {gets}"


def _gradient(gradient: str, look: CardLook) -> list[str]:
    if look.gradient is None and look.reset:
        return [
            tr(".grad was set to None") if look.reset == "none" else tr(".grad was set to zeros")
        ]
    lines = [tr("gradient {gradient}", gradient=gradient)]
    if look.past:
        lines.append(tr("of an earlier backward pass"))
    if look.returned:
        lines.append(tr("returned by grad, not added to .grad"))
    return [*lines, _NORM] if gradient.startswith("∇") else lines


def _order(look: CardLook) -> str:
    """Return the place of a card's nodes in the order of their pass, and their visits."""
    several = look.last_order != look.first_order
    last = tr(" to {last_order:,}", last_order=look.last_order) if several else ""
    place = (
        tr(
            "backward nodes {first_order:,}{last} of {of:,}",
            first_order=look.first_order,
            last=last,
            of=look.of,
        )
        if several
        else tr(
            "backward node {first_order:,}{last} of {of:,}",
            first_order=look.first_order,
            last=last,
            of=look.of,
        )
    )
    return tr(
        "{place} in its pass · {visits}",
        place=place,
        visits=ngettext("{count:,} visit", "{count:,} visits", look.visits),
    )


def _cut_text(cut: str) -> str:
    """Return why the gradient stops at a wire with a cut."""
    if cut.endswith("()"):
        return tr("{cut} takes plain numbers out of the tensor: no gradient comes back", cut=cut)
    return _CUT.get(cut, tr("{cut} has no derivative: no gradient comes back", cut=cut))


def _marks(card: Card, look: CardLook | None) -> list[str]:
    lines = []
    if card.mark.startswith(SHARED):
        shared = card.mark.removeprefix(SHARED).partition(" · ")[0].strip()
        lines.append(tr("shares memory with every card marked {shared}", shared=shared))
    if look is not None and look.version is not None:
        lines.append(
            tr(
                "changed in place since: its memory now holds version {version}",
                version=look.version,
            )
        )
    if card.repeats > 1:
        lines.append(
            tr("{repeats} similar stretches of ops in a row", repeats=card.repeats)
            if card.call is None
            else tr("{repeats} similar modules in a row", repeats=card.repeats)
        )
        if card.value is not None:
            lines.append(tr("numbers and gradient are those of the last"))
    if card.cut and card.kind not in ("data", "constant"):
        lines.append(tr("cut off: no gradient passes"))
    return lines


def _wire(drawing: GraphDrawing, wire: Wire) -> list[str]:
    stage, look = drawing.stage, drawing.look.wires.get(wire.key)
    source, target = stage.cards[wire.source], stage.cards[wire.target]
    lines = [f"{card_name(source)} → {card_name(target)}"]
    if wire.part:
        lines.append(tr("output {part} of {title}", part=wire.part, title=source.title))
    tape = stage.reader.tape
    value = next((v for v in tape.values if v.id == wire.value), None)
    if value is not None:
        carried = look is not None and look.carried
        number = (
            snapshot_text.value(stage.reader.snapshot(value.snapshot)) if carried else tr("not yet")
        )
        lines.append(
            tr(
                "forward: {number} · {shape} · {dtype}",
                number=number,
                shape=formatting.shape(value.shape),
                dtype=value.dtype,
            )
        )
    if wire.broadcast is not None:
        small, large = map(formatting.shape, wire.broadcast)
        lines.append(tr("broadcast: {small} is copied to {large}", small=small, large=large))
        if not wire.dashed:
            lines.append(
                tr("its gradient is the sum of {large} down to {small}", large=large, small=small)
            )
    if wire.cut:
        lines.append(_cut_text(wire.cut))
    elif wire.dashed:
        lines.append(tr("no gradient comes back: this value requires none"))
    shares = [snapshot_text.gradient(stage.reader.snapshot(s)) for s in look.shares] if look else []
    if shares:
        factor = (
            tr(" (received {factor})", factor=look.factor)
            if look is not None and look.factor
            else ""
        )
        lines.append(tr("back: {join}{factor}", join=tr(" and ").join(shares), factor=factor))
        if any(share.startswith("∇") for share in shares):
            lines.append(_NORM)
    return lines
