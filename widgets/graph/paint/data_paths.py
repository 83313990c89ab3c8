"""Data paths: the wires upstream and downstream of a card or wire."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QRegion

from gradscribe.widgets.base.theme import faded
from gradscribe.widgets.graph.paint import shapes
from gradscribe.widgets.graph.paint.card import bubbles, failed_card
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.stage import Stage

MAX_CURVES = 300
"""Number of wires up to which a data path is painted as curves; else as straight lines."""

MAX_CROWD_WIRES = 1_000
"""Number of wires painted of a crowd, as they overlap anyway."""


@lru_cache(maxsize=1)
def data_path(stage: Stage, key: str) -> frozenset[str]:
    """Return the wires upstream and downstream of a card or wire."""
    if key in stage.wires:
        wire = stage.wires[key]
        back, ahead, wires = wire.source, wire.target, {key}
    elif key in stage.cards:
        back, ahead, wires = key, key, set[str]()
    else:
        return frozenset()
    wires |= _followed(back, stage.into, lambda wire: stage.wires[wire].source)
    wires |= _followed(ahead, stage.out_of, lambda wire: stage.wires[wire].target)
    return frozenset(wires)


def _followed(start: str, wires_at: dict[str, list[str]], end: Callable[[str], str]) -> set[str]:
    """Return the wires on all paths from a card, in the same direction."""
    wires, seen, waiting = set[str](), {start}, [start]
    while waiting:
        for wire in wires_at[waiting.pop()]:
            wires.add(wire)
            card = end(wire)
            if card not in seen:
                seen.add(card)
                waiting.append(card)
    return wires


def paint(painter: QPainter, drawing: GraphDrawing, key: str, area: QRectF, zoom: float) -> None:
    """Highlight the data path of a card or wire where it passes ``area`` (scene units)."""
    stage, whole = drawing.stage, data_path(drawing.stage, key)
    if not whole:
        return
    seen = [wire for wire in stage.wires_in(area) if wire in whole]
    crowd = [wire for wire in seen if wire in stage.crowded]
    if len(crowd) > MAX_CROWD_WIRES:
        # An even sample of them: they overlap anyway.
        rest = [wire for wire in seen if wire not in stage.crowded or wire == key]
        seen = rest + crowd[:: -(-len(crowd) // MAX_CROWD_WIRES)]
    color = faded(drawing.theme.selection, 0.75)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if len(seen) > MAX_CURVES:
        painter.setPen(QPen(color, max(1.0, 1.2 / zoom)))
        ends = ((stage.lines[wire][0], stage.lines[wire][-1]) for wire in seen)
        painter.drawLines([QLineF(*start, *end) for start, end in ends])
        return
    painter.save()
    clip_decorations(painter, drawing, seen)
    for wire in seen:
        dashes = (5.0, 3.5) if stage.wires[wire].dashed else ()
        painter.setPen(shapes.pen(color, 1.7 * max(1.0, 0.8 / zoom), dashes))
        painter.drawPath(stage.paths[wire])
    painter.restore()


def decoration_boxes(drawing: GraphDrawing, key: str) -> list[QRectF]:
    """Return the boxes of a card's decorations: bubble, badge, tag and error sign."""
    reading, box = drawing.reading(key), drawing.stage.boxes[key]
    boxes = [drawing.bubble(key), drawing.badge(key)]
    boxes += [bubbles.tag_box(box, reading.tag)] if reading.tag else []
    boxes += [failed_card.sign_box(box).adjusted(-1.5, -1.5, 1.5, 1.5)] if reading.failed else []
    return [box for box in boxes if box is not None]


def clip_decorations(painter: QPainter, drawing: GraphDrawing, wires: Iterable[str]) -> None:
    """Clip out the decorations of the cards at the wires' ends, and the wires' labels."""
    stage, placed = drawing.stage, drawing.tiles.placed()
    clear = QRegion(stage.bounds.adjusted(-400, -400, 400, 400).toAlignedRect())
    wires = list(wires)
    cards = {end for key in wires for end in (stage.wires[key].source, stage.wires[key].target)}
    labels = [name for key in wires for name in (key, f"{key}#part") if name in placed]
    over = [placed[name].box for name in labels]
    for key in cards:
        over += decoration_boxes(drawing, key)
    for box in over:
        clear = clear.subtracted(QRegion(box.toAlignedRect()))
    painter.setClipRegion(clear, Qt.ClipOperation.IntersectClip)
