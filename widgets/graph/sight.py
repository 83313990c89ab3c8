"""The part of the graph in view, as slides of a lecture have it."""

from PySide6.QtCore import QPointF, QSizeF

from gradscribe.engine.protocol.lecture.slides import Sight
from gradscribe.widgets.graph.camera import MAX_ZOOM, MIN_ZOOM, Camera
from gradscribe.widgets.graph.paint.stage import Stage


def sight_of(stage: Stage, camera: Camera, view: QSizeF) -> Sight:
    """Return the part that a camera shows in a widget of size ``view`` in pixels.

    It is measured from the card next to its middle; without any card it is the whole graph.
    """
    middle = camera.to_scene(QPointF(view.width() / 2, view.height() / 2))
    away = {key: _distance(box.center(), middle) for key, box in stage.boxes.items()}
    card = min(away, key=away.__getitem__, default="")
    if not card:
        return Sight()
    offset = middle - stage.boxes[card].center()
    size = view / camera.zoom
    return Sight(card, offset.x(), offset.y(), size.width(), size.height())


def camera_of(stage: Stage, sight: Sight, view: QSizeF) -> Camera | None:
    """Return the camera that shows a part; None for all of the graph, or without its card."""
    box = stage.boxes.get(sight.card)
    if box is None or not (sight.width and sight.height):
        return None
    zoom = min(view.width() / sight.width, view.height() / sight.height)
    zoom = max(MIN_ZOOM, min(MAX_ZOOM, zoom))
    middle = box.center() + QPointF(sight.x, sight.y)
    return Camera(zoom, view.width() / 2 - middle.x() * zoom, view.height() / 2 - middle.y() * zoom)


def _distance(one: QPointF, other: QPointF) -> float:
    return (one - other).manhattanLength()
