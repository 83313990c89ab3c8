"""Conversion between scene units and the widget's pixels."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF

MAX_ZOOM = 4.0
MIN_ZOOM = 0.02
MAX_FIT_ZOOM = 1.5
"""Largest zoom at which a small graph is fitted."""


@dataclass(frozen=True)
class Camera:
    """A view of the scene: ``zoom`` pixels per scene unit; the scene's origin lies at (x, y)."""

    zoom: float = 1.0
    x: float = 0.0
    y: float = 0.0

    def to_view(self, point: QPointF) -> QPointF:
        """Return a scene point in widget pixels."""
        return QPointF(point.x() * self.zoom + self.x, point.y() * self.zoom + self.y)

    def to_scene(self, point: QPointF) -> QPointF:
        """Return a widget point in scene units."""
        return QPointF((point.x() - self.x) / self.zoom, (point.y() - self.y) / self.zoom)

    def box_to_view(self, box: QRectF) -> QRectF:
        """Return a scene rectangle in widget pixels."""
        size = QSizeF(box.width() * self.zoom, box.height() * self.zoom)
        return QRectF(self.to_view(box.topLeft()), size)

    def box_to_scene(self, box: QRectF) -> QRectF:
        """Return a widget rectangle in scene units."""
        size = QSizeF(box.width() / self.zoom, box.height() / self.zoom)
        return QRectF(self.to_scene(box.topLeft()), size)

    def moved(self, dx: float, dy: float) -> "Camera":
        """Return the camera after a drag by (``dx``, ``dy``) pixels."""
        return Camera(self.zoom, self.x + dx, self.y + dy)

    def zoomed(self, factor: float, about: QPointF) -> "Camera":
        """Return the camera zoomed so that the widget point ``about`` keeps its scene point."""
        zoom = max(MIN_ZOOM, min(MAX_ZOOM, self.zoom * factor))
        fixed = self.to_scene(about)
        return Camera(zoom, about.x() - fixed.x() * zoom, about.y() - fixed.y() * zoom)

    def interpolated(self, other: "Camera", share: float) -> "Camera":
        """Return the camera at a share (0 to 1) of the way to ``other``; zoom changes by ratio."""
        if share >= 1:
            return other
        zoom = self.zoom * (other.zoom / self.zoom) ** share
        return Camera(
            zoom, self.x + (other.x - self.x) * share, self.y + (other.y - self.y) * share
        )


def centered(box: QRectF, view: QSizeF, zoom: float) -> Camera:
    """Return the camera at ``zoom`` with ``box`` in the middle of a widget of size ``view``."""
    middle = box.center()
    return Camera(zoom, view.width() / 2 - middle.x() * zoom, view.height() / 2 - middle.y() * zoom)


def fitting(
    box: QRectF, view: QSizeF, closest: float = MAX_FIT_ZOOM, margin: float = 36.0
) -> Camera:
    """Return the camera that shows all of ``box`` with a margin in pixels, at most ``closest``."""
    across = max(1.0, view.width() - 2 * margin) / max(1.0, box.width())
    down = max(1.0, view.height() - 2 * margin) / max(1.0, box.height())
    zoom = max(MIN_ZOOM, min(closest, across, down))
    return centered(box, view, zoom)
