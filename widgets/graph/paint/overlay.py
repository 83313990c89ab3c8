"""Painters on top of the still layer: marks, the rim; and whole graphs for export."""

from collections.abc import Iterator

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPalette, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.graph.camera import Camera, fitting
from gradscribe.widgets.graph.paint import background, data_paths, shapes
from gradscribe.widgets.graph.paint.card import cards
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.motion import Motion

CORNER = 10.0


def paint_ground(painter: QPainter, view: QRectF, camera: Camera, theme: Theme) -> None:
    """Paint the empty canvas."""
    painter.fillRect(view, theme.canvas)
    background.paint_dots(painter, view, camera, theme)


def paint_marks(
    painter: QPainter, drawing: GraphDrawing, hovered: str, selected: str, zoom: float, area: QRectF
) -> None:
    """Highlight the data path of what is hovered, mostly its own wires, and ring the selection."""
    stage, theme = drawing.stage, drawing.theme
    data_paths.paint(painter, drawing, hovered, area, zoom)
    thick = max(1.0, 0.8 / zoom)
    near = [*stage.into.get(hovered, ()), *stage.out_of.get(hovered, ())]
    # Wires of a crowd cannot be distinguished: only the data path is highlighted.
    near = [key for key in near if key not in stage.crowded]
    near += [hovered] if hovered in stage.wires else []
    chosen = [selected] if selected in stage.wires else []
    painter.save()
    if near or chosen:
        data_paths.clip_decorations(painter, drawing, near + chosen)
    for key in near:
        _light(painter, drawing, key, 2.2 * thick)
    for key in chosen:
        _light(painter, drawing, key, 3.0 * thick)
    painter.restore()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for key, width, color in ((hovered, 1.6, theme.line_strong), (selected, 2.4, theme.selection)):
        if key in stage.cards and not (key == hovered and key == selected and width < 2):
            _ring(painter, drawing, key, width * thick, color)


def _ring(painter: QPainter, drawing: GraphDrawing, key: str, width: float, color: object) -> None:
    """Stroke a card's border; its bubble and tag stay above the line."""
    card, box = drawing.stage.cards[key], drawing.stage.boxes[key]
    painter.save()
    outside = QPainterPath()
    outside.addRect(box.adjusted(-40, -40, 200, 40))
    for over in data_paths.decoration_boxes(drawing, key):
        outside = outside.subtracted(shapes.rounded(over, over.height() / 2))
    painter.setClipPath(outside, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(color, width))  # type: ignore[call-overload]
    painter.drawPath(cards.body_path(card, box))
    painter.restore()


def _light(painter: QPainter, drawing: GraphDrawing, key: str, width: float) -> None:
    theme, path = drawing.theme, drawing.stage.paths[key]
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(faded(theme.selection, 0.18), width + 6))
    painter.drawPath(path)
    dashes = (5.0, 3.5) if drawing.stage.wires[key].dashed else ()
    painter.setPen(shapes.pen(theme.selection, width, dashes))
    painter.drawPath(path)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.selection)
    painter.drawPolygon(drawing.stage.heads[key])


def paint_rim(
    painter: QPainter, widget: QWidget, theme: Theme, focused: bool, stale: str = ""
) -> None:
    """Round the widget's corners, draw border and focus ring, and the notice of a stale graph."""
    view = QRectF(widget.rect())
    corners = QPainterPath()
    corners.addRect(view)
    inside = shapes.rounded(view.adjusted(0.5, 0.5, -0.5, -0.5), CORNER)
    window = widget.palette().color(QPalette.ColorRole.Window)
    painter.fillPath(corners.subtracted(inside), window)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.selection if focused else theme.line, 2.0 if focused else 1.0))
    painter.drawPath(inside)
    if stale:
        background.paint_stale(painter, view, theme, stale)


def render(
    painter: QPainter,
    box: QRectF,
    drawing: GraphDrawing,
    motion: Motion | None,
    selected: str,
    as_seen: bool = False,
) -> Iterator[None]:
    """Paint the whole graph into ``box`` as vectors, in steps; tokens rest in the middle of wires.

    Until the end the drawing must not be used otherwise. ``as_seen``: in no more detail than a
    window shows at that size.
    """
    bounds = drawing.stage.bounds
    camera = fitting(bounds, QSizeF(box.size()), closest=1000.0, margin=0.04 * box.width())
    painter.save()
    try:
        drawing.set_zoom(camera.zoom if as_seen else 1.0)
        painter.translate(box.left() + camera.x, box.top() + camera.y)
        painter.scale(camera.zoom, camera.zoom)
        area = bounds.adjusted(-60, -60, 60, 60)
        yield from drawing.steps(painter, area, camera.zoom, sprites=as_seen)
        paint_marks(painter, drawing, "", selected, drawing.zoom, area)
        if motion is not None:
            motion.paint(painter, area, camera.zoom, 2.0)
    finally:
        painter.restore()
