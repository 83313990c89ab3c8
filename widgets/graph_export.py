"""The graph as a picture for elsewhere: an image, the clipboard, the bytes of a file."""

import math

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
SCALE = 2.0
"""Pixels of an image per scene unit."""
LONGEST, MOST_PIXELS = 32_000, 40_000_000
"""No image is longer or has more pixels, 160 MB: thousands of ops in a chain would make one of
gigabytes, which hardly any program opens."""


SQUEEZED = 80
"""Of 100, which is not at all: nearly as small as can be, in half the time."""


def png(image: QImage) -> bytes:
    """Return an image without see-through parts as the bytes of a PNG file."""
    held = QBuffer()
    held.open(QBuffer.OpenModeFlag.WriteOnly)
    opaque = image.convertToFormat(QImage.Format.Format_RGB888)
    opaque.save(held, "PNG", SQUEEZED)  # type: ignore[call-overload]
    return bytes(held.data().data())


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

    def image_scale(self, wanted: float = SCALE) -> float:
        """Return how many pixels per scene unit an image has: fewer than ``wanted`` if too many."""
        size = self.picture_size()
        longest, pixels = max(size.width(), size.height()), size.width() * size.height()
        return min(wanted, LONGEST / longest, math.sqrt(MOST_PIXELS / pixels))

    def to_image(self, scale: float = SCALE) -> QImage:
        """Return the whole picture on its ground, ``scale`` pixels per scene unit.

        A picture too big for that is made smaller, and shows what one sees at that size.
        """
        held = self.image_scale(scale)
        seen = held < scale

        def paint(painter: QPainter, box: QRectF) -> None:
            overlay.render(painter, box, self._drawing, self._motion, self._selected, seen)

        return overlay.to_image(self.picture_size() * held, self._drawing.theme, paint)

    def encoded(self, kind: str, scale: float = SCALE) -> bytes:
        """Return the whole picture as the bytes of a file.

        Args:
            kind: ``png``; ``svg``, with real text; ``dot``, cards and wires for Graphviz.
            scale: of a PNG, in pixels per scene unit; see `to_image`.
        """
        if kind == "dot":
            return dot(self._drawing.stage.picture).encode()
        if kind == "svg":
            return to_svg(self.picture_size(), self._drawing.theme, self.render_to)
        return png(self.to_image(scale))

    def copy_picture(self) -> None:
        """Put the whole picture on the clipboard."""
        QGuiApplication.clipboard().setImage(self.to_image())
