"""The graph as a picture for elsewhere: an image, the clipboard, a PNG, SVG or DOT file."""

from pathlib import Path

from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QGuiApplication, QImage, QPainter

from playback.dot import dot
from widgets.graph_hand import GraphHand
from widgets.paint import overlay
from widgets.paint.drawing import Drawing
from widgets.paint.motion import Motion

MARGIN = 48.0
"""Kept free around an exported picture, in scene units."""


class GraphExport(GraphHand):
    """The part of the graph view that hands out pictures of all it shows."""

    _drawing: Drawing
    _motion: Motion | None

    def render_to(self, painter: QPainter, box: QRectF) -> None:
        """Paint the whole picture, as vectors and without the ground, to fit into ``box``."""
        overlay.render(painter, box, self._drawing, self._motion, self._selected)

    def picture_size(self) -> QSizeF:
        """Return the size of the whole picture with its margin, in scene units."""
        return self._drawing.stage.bounds.size() + QSizeF(2 * MARGIN, 2 * MARGIN)

    def to_image(self, scale: float = 2.0) -> QImage:
        """Return the whole picture on its ground, ``scale`` pixels per scene unit."""
        size = self.picture_size() * scale
        return overlay.to_image(size, self._drawing.theme, self.render_to)

    def export_png(self, path: str | Path, scale: float = 2.0) -> bool:
        """Write the whole picture as PNG; False if the file could not be written."""
        return bool(self.to_image(scale).save(str(path), "PNG"))  # type: ignore[call-overload]

    def copy_picture(self) -> None:
        """Put the whole picture on the clipboard."""
        QGuiApplication.clipboard().setImage(self.to_image())

    def export_dot(self, path: str | Path) -> bool:
        """Write cards and wires in the DOT language; False if the file could not be written."""
        try:
            Path(path).write_text(dot(self._drawing.stage.picture), encoding="utf-8")
        except OSError:
            return False
        return True

    def export_svg(self, path: str | Path) -> bool:
        """Write the whole picture as SVG with real text; False if it could not be written."""
        return overlay.write_svg(
            str(path), self.picture_size(), self._drawing.theme, self.render_to
        )
