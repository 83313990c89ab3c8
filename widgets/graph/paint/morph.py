"""Animated transition between pictures: cards glide to their new places, wires bend along."""

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath

from gradscribe.playback.layout.matching import match_keys
from gradscribe.widgets.graph.paint import frames
from gradscribe.widgets.graph.paint.drawing import Detail, GraphDrawing, detail_at
from gradscribe.widgets.graph.paint.wire import wires
from gradscribe.widgets.graph.paint.wire.tokens import ease_out

MAX_CARDS = 250
"""Pictures with more cards jump: the motion could not be followed."""
DURATION_MS = 250


class Morph:
    """Transition from the picture ``old`` to ``new``, matched by `playback.layout.matching`.

    ``shift`` (scene units) is added to old places, to make up for a move of the view that keeps a
    header in place. A module that opens grows out of its card; a module that closes shrinks.
    """

    def __init__(self, old: GraphDrawing, new: GraphDrawing, shift: QPointF | None = None) -> None:
        self._new = new
        by = shift if shift is not None else QPointF()
        boxes, frames_ = old.stage.boxes, old.stage.frame_boxes
        was = match_keys(old.stage.picture, new.stage.picture)
        self._boxes = {key: boxes[k].translated(by) for key, k in was.items() if k in boxes}
        self._frames = {key: frames_[k].translated(by) for key, k in was.items() if k in frames_}
        wires_ = {(w.source, w.target, w.operand): key for key, w in old.stage.wires.items()}
        self._lines = {}
        """Former lines of the new picture's wires, where they existed before."""
        for key, wire in new.stage.wires.items():
            ends = was.get(wire.source, ""), was.get(wire.target, "")
            before = wires_.get((*ends, wire.operand))
            if before is not None:
                self._lines[key] = [(x + by.x(), y + by.y()) for x, y in old.stage.lines[before]]

    @staticmethod
    def is_worthwhile(old: GraphDrawing, new: GraphDrawing) -> bool:
        """Return whether anything moves at all, and few enough cards to be followed."""
        if max(len(old.stage.cards), len(new.stage.cards)) > MAX_CARDS:
            return False
        if not new.stage.resembles(old.stage):
            return False
        return old.stage.boxes != new.stage.boxes

    def paint(
        self, painter: QPainter, area: QRectF, zoom: float, share: float, sprites: bool
    ) -> None:
        """Paint the transition at ``share`` (0 to 1), in scene units.

        ``sprites``: cache the cards' pixmaps; not worthwhile while the zoom changes too.
        """
        at = ease_out(share)
        self._paint_frames(painter, zoom, at)
        for key in self._new.stage.wires:
            painter.setOpacity(1.0 if key in self._lines else at)
            self._paint_wire(painter, key, at)
        detail = detail_at(zoom)
        for key, box in self._new.stage.boxes.items():
            before = self._boxes.get(key)
            painter.setOpacity(at if before is None else 1.0)
            before = before or self._origin(key, box)
            shift = QPointF() if before is None else (before.center() - box.center()) * (1 - at)
            if not box.translated(shift).adjusted(-60, -60, 60, 60).intersects(area):
                continue
            painter.save()
            painter.translate(shift)
            near: Detail = "block" if detail == "speck" else detail
            self._new.paint_card(painter, key, zoom, near, sprites)
            painter.restore()
        painter.setOpacity(1.0)

    def _origin(self, key: str, box: QRectF) -> QRectF | None:
        """Return the start box of a new card: its former frame, or the card of its module."""
        if key in self._frames:
            return QRectF(self._frames[key].topLeft(), box.size())
        frame = self._new.stage.cards[key].frame
        while frame in self._new.stage.frames:
            if frame in self._boxes:
                return self._boxes[frame]
            frame = self._new.stage.frames[frame].parent
        return None

    def _paint_frames(self, painter: QPainter, zoom: float, at: float) -> None:
        stage = self._new.stage
        for key in stage.frame_order:
            box, before = stage.frame_boxes[key], self._frames.get(key) or self._boxes.get(key)
            painter.setOpacity(at if before is None else 1.0)
            between = box if before is None else _between(before, box, at)
            frames.paint(painter, between, stage.depths[key], self._new.theme)
            self._new.paint_head(painter, key, between, zoom)
        painter.setOpacity(1.0)

    def _paint_wire(self, painter: QPainter, key: str, at: float) -> None:
        new = self._new
        line, before = new.stage.lines[key], self._lines.get(key)
        if before is not None and len(before) == len(line):
            line = [
                (ax + (bx - ax) * at, ay + (by - ay) * at)
                for (ax, ay), (bx, by) in zip(before, line, strict=True)
            ]
        path = QPainterPath(QPointF(*line[0]))
        for x, y in line[1:]:
            path.lineTo(x, y)
        how = wires.tone(new.look.wires.get(key), new.look.phase, new.layers.gradients)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        crowded = key in new.stage.crowded
        painter.setPen(wires.wire_pen(how, new.stage.wires[key].dashed, new.theme, crowded))
        painter.drawPath(path)


def _between(a: QRectF, b: QRectF, at: float) -> QRectF:
    corner = QLineF(a.topLeft(), b.topLeft()).pointAt(at)
    far = QLineF(a.bottomRight(), b.bottomRight()).pointAt(at)
    return QRectF(corner, far)
