"""Following what plays: switched on or off, paused by the user's hand, and the view to show."""

from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSizeF

from gradscribe.playback.graph.picture import Look
from gradscribe.widgets.graph import viewport
from gradscribe.widgets.graph.camera import Camera, centered
from gradscribe.widgets.graph.paint.stage import Stage

Follows = Literal["off", "first view", "on"]
"""*first view*: until the camera is moved, in the view of a large graph that is shown at first."""


class CameraFollower:
    """State of a camera that follows what plays; the boxes to follow are found once a look."""

    def __init__(self) -> None:
        self.mode: Follows = "first view"
        self.is_paused = False
        """True since the user has moved the camera."""
        self._boxes: tuple[QRectF, QRectF] | None = None

    def is_on(self, first_view: bool) -> bool:
        """Return whether the camera follows; ``first_view``: a part is shown, as at first."""
        if self.mode == "first view":
            return first_view
        return self.mode == "on" and not self.is_paused

    def forget(self) -> None:
        """Find the boxes again: another position or picture is shown."""
        self._boxes = None

    def view(self, stage: Stage, look: Look, camera: Camera, size: QSizeF) -> Camera | None:
        """Return the view that follows from ``camera``; None where nothing is to be moved."""
        if QRectF(QPointF(), size).contains(camera.box_to_view(stage.bounds)):
            return None
        return viewport.view_with(stage.bounds, self._find(stage, look), camera, size)

    def close_view(self, stage: Stage, look: Look, zoom: float, size: QSizeF) -> Camera | None:
        """Return the view of what is active at ``zoom``; None where nothing is active."""
        box, _ = self._find(stage, look)
        if box.isEmpty():
            return None
        near = centered(box, size, zoom)
        return self.view(stage, look, near, size) or near

    def _find(self, stage: Stage, look: Look) -> tuple[QRectF, QRectF]:
        if self._boxes is None:
            self._boxes = viewport.active_boxes(stage, look)
        return self._boxes
