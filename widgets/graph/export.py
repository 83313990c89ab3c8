"""Export of the graph as an image or as the bytes of a PNG, SVG or Graphviz file."""

from PySide6.QtCore import QBuffer, QSizeF
from PySide6.QtGui import QImage

from gradscribe.playback.graph.dot import to_dot
from gradscribe.widgets.base.drive import run_to_end
from gradscribe.widgets.graph.input import GraphHand
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.motion import Motion
from gradscribe.widgets.graph.snapshot import SCALE, GraphSnapshot

PNG_QUALITY = 80
"""Quality passed to the PNG writer, where 100 is uncompressed: nearly the smallest file in half
the time."""


class GraphExport(GraphHand):
    """The part of the graph view that exports all it shows."""

    _drawing: GraphDrawing
    _motion: Motion | None

    def snapshot(self) -> GraphSnapshot:
        """Return a snapshot of what is shown now, to be painted elsewhere."""
        return GraphSnapshot(self._drawing, self._selected)

    def picture_size(self) -> QSizeF:
        """Return the size of the whole graph with its margin, in scene units."""
        return self.snapshot().size

    def to_image(self, scale: float = SCALE) -> QImage:
        """Return the whole graph on its background; see `GraphSnapshot.image`."""
        return run_to_end(self.snapshot().image(scale))

    def encode(self, kind: str, scale: float = SCALE) -> bytes:
        """Return the whole graph as the bytes of a file.

        Args:
            kind: ``png_bytes``; ``svg``, with real text; ``to_dot``, cards and wires for Graphviz.
            scale: pixels per scene unit of a PNG; see `GraphSnapshot.image`.
        """
        if kind == "dot":
            return to_dot(self._drawing.stage.picture).encode()
        if kind == "svg":
            return run_to_end(self.snapshot().svg())
        return png_bytes(self.to_image(scale))


def png_bytes(image: QImage) -> bytes:
    """Return an opaque image as the bytes of a PNG file.

    Other threads run meanwhile.
    """
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    opaque = image.convertToFormat(QImage.Format.Format_RGB888)
    opaque.save(buffer, "PNG", PNG_QUALITY)  # type: ignore[call-overload]
    return bytes(buffer.data().data())
