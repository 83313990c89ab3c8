"""The graph as a picture for elsewhere: an image, the clipboard, the bytes of a file."""

from PySide6.QtCore import QBuffer, QSizeF
from PySide6.QtGui import QImage

from playback.dot import dot
from widgets.bits import whole
from widgets.graph_hand import GraphHand
from widgets.graph_still import SCALE, Still
from widgets.paint.drawing import Drawing
from widgets.paint.motion import Motion

SQUEEZED = 80
"""Of 100, which is not at all: nearly as small as can be, in half the time."""


class GraphExport(GraphHand):
    """The part of the graph view that hands out pictures of all it shows."""

    _drawing: Drawing
    _motion: Motion | None

    def still(self) -> Still:
        """Return all that is shown now, to be painted elsewhere."""
        return Still(self._drawing, self._selected)

    def picture_size(self) -> QSizeF:
        """Return the size of the whole picture with its margin, in scene units."""
        return self.still().size

    def to_image(self, scale: float = SCALE) -> QImage:
        """Return the whole picture on its ground; see `Still.image`."""
        return whole(self.still().image(scale))

    def encoded(self, kind: str, scale: float = SCALE) -> bytes:
        """Return the whole picture as the bytes of a file.

        Args:
            kind: ``png``; ``svg``, with real text; ``dot``, cards and wires for Graphviz.
            scale: of a PNG, in pixels per scene unit; see `Still.image`.
        """
        if kind == "dot":
            return dot(self._drawing.stage.picture).encode()
        if kind == "svg":
            return whole(self.still().svg())
        return png(self.to_image(scale))


def png(image: QImage) -> bytes:
    """Return an image without see-through parts as the bytes of a PNG file.

    Other threads go on meanwhile.
    """
    held = QBuffer()
    held.open(QBuffer.OpenModeFlag.WriteOnly)
    opaque = image.convertToFormat(QImage.Format.Format_RGB888)
    opaque.save(held, "PNG", SQUEEZED)  # type: ignore[call-overload]
    return bytes(held.data().data())
