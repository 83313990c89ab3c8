"""Export of the graph as an image or as the bytes of a PNG, SVG or Graphviz file."""

from PySide6.QtCore import QBuffer, QSizeF
from PySide6.QtGui import QImage

from playback.dot import dot
from widgets.bits import whole
from widgets.graph_hand import GraphHand
from widgets.graph_still import SCALE, Still
from widgets.paint.drawing import Drawing
from widgets.paint.motion import Motion

SQUEEZED = 80
"""Quality passed to the PNG writer, where 100 is uncompressed: nearly the smallest file in half
the time."""


class GraphExport(GraphHand):
    """The part of the graph view that exports all it shows."""

    _drawing: Drawing
    _motion: Motion | None

    def still(self) -> Still:
        """Return a snapshot of what is shown now, to be painted elsewhere."""
        return Still(self._drawing, self._selected)

    def picture_size(self) -> QSizeF:
        """Return the size of the whole graph with its margin, in scene units."""
        return self.still().size

    def to_image(self, scale: float = SCALE) -> QImage:
        """Return the whole graph on its background; see `Still.image`."""
        return whole(self.still().image(scale))

    def encoded(self, kind: str, scale: float = SCALE) -> bytes:
        """Return the whole graph as the bytes of a file.

        Args:
            kind: ``png``; ``svg``, with real text; ``dot``, cards and wires for Graphviz.
            scale: pixels per scene unit of a PNG; see `Still.image`.
        """
        if kind == "dot":
            return dot(self._drawing.stage.picture).encode()
        if kind == "svg":
            return whole(self.still().svg())
        return png(self.to_image(scale))


def png(image: QImage) -> bytes:
    """Return an opaque image as the bytes of a PNG file.

    Other threads run meanwhile.
    """
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    opaque = image.convertToFormat(QImage.Format.Format_RGB888)
    opaque.save(buffer, "PNG", SQUEEZED)  # type: ignore[call-overload]
    return bytes(buffer.data().data())
