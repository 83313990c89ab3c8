"""The graph as a picture for elsewhere: an image, the clipboard, the bytes of a file."""

from PySide6.QtCore import QBuffer, QRectF, QSizeF
from PySide6.QtGui import QGuiApplication, QImage, QPainter

from playback.dot import dot
from widgets.graph_hand import GraphHand
from widgets.paint import overlay
from widgets.paint.drawing import Drawing
from widgets.paint.motion import Motion
from widgets.paint.svg import to_svg

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

    def encoded(self, kind: str, scale: float = 2.0) -> bytes:
        """Return the whole picture as the bytes of a file.

        Args:
            kind: ``png``; ``svg``, with real text; ``dot``, cards and wires for Graphviz.
            scale: of a PNG, in pixels per scene unit.
        """
        if kind == "dot":
            return dot(self._drawing.stage.picture).encode()
        if kind == "svg":
            return to_svg(self.picture_size(), self._drawing.theme, self.render_to)
        held = QBuffer()
        held.open(QBuffer.OpenModeFlag.WriteOnly)
        self.to_image(scale).save(held, "PNG")  # type: ignore[call-overload]
        return bytes(held.data().data())

    def copy_picture(self) -> None:
        """Put the whole picture on the clipboard."""
        QGuiApplication.clipboard().setImage(self.to_image())
