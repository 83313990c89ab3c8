"""A snapshot of the graph at one moment, painted in steps or as a file while the view goes on."""

import math
from collections.abc import Generator

from PySide6.QtCore import QBuffer, QPointF, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QPainter

from gradscribe.playback.graph.dot import to_dot
from gradscribe.playback.graph.picture import Picture
from gradscribe.widgets.base.drive import run_to_end
from gradscribe.widgets.graph.paint import overlay
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.layer import HINTS
from gradscribe.widgets.graph.paint.motion import Motion
from gradscribe.widgets.graph.paint.svg import to_svg

MARGIN = 48.0
"""Free margin around an exported graph, in scene units."""
SCALE = 2.0
"""Pixels of an image per scene unit."""
MAX_SIDE, MAX_PIXELS = 32_000, 40_000_000
"""Limits of an image's longer side and of its area (160 MB): a chain of thousands of ops would
take gigabytes, which hardly any program opens."""
STRIP_PIXELS = 4_000_000
"""Background pixels filled per step."""
PNG_QUALITY = 80
"""Quality passed to the PNG writer, where 100 is uncompressed: nearly the smallest file in half
the time."""


class GraphSnapshot:
    """A copy of what a drawing shows now, unaffected by later changes of the drawing."""

    def __init__(self, drawing: GraphDrawing, selected: str = "") -> None:
        self._drawing = GraphDrawing(drawing.stage, drawing.theme, drawing.layers, drawing.look)
        self._drawing.set_tinter(drawing.coloring)
        self._motion = Motion(self._drawing, drawing.look, 0)
        self._selected = selected

    def __len__(self) -> int:
        """Return roughly the number of steps in which it is painted."""
        stage = self._drawing.stage
        drawn = len(stage.cards) + len(stage.wires) + 2 * len(stage.frames) + len(stage.tiles)
        return drawn + len(_strips((self.size * self.image_scale()).toSize()))

    @property
    def picture(self) -> Picture:
        """The picture that is painted."""
        return self._drawing.stage.picture

    @property
    def size(self) -> QSizeF:
        """The size of the whole graph with its margin, in scene units."""
        return self._drawing.stage.bounds.size() + QSizeF(2 * MARGIN, 2 * MARGIN)

    def image_scale(self, wanted: float = SCALE) -> float:
        """Return an image's pixels per scene unit: ``wanted``, or fewer if it were too large."""
        longest = max(self.size.width(), self.size.height())
        pixels = self.size.width() * self.size.height()
        return min(wanted, MAX_SIDE / longest, math.sqrt(MAX_PIXELS / pixels))

    def image(self, scale: float = SCALE) -> Generator[None, None, QImage]:
        """Paint the graph on its background in steps, ``scale`` pixels per scene unit.

        A graph too big for that is scaled down, and shown in the detail of that zoom.
        """
        actual = self.image_scale(scale)
        size = self.size * actual
        image = QImage(size.toSize(), QImage.Format.Format_ARGB32_Premultiplied)
        with QPainter(image) as painter:
            # The first access to fresh memory is slow: one step per strip.
            strips = _strips(image.size())
            for top in strips:
                painter.fillRect(0, top, image.width(), strips.step, self._drawing.theme.canvas)
                yield
            painter.setRenderHints(HINTS)
            yield from self._render(painter, QRectF(QPointF(), size), actual < scale)
        return image

    def svg(self) -> Generator[None, None, bytes]:
        """Write the graph as an SVG file with real text, in steps."""
        return to_svg(self.size, self._drawing.theme, self._render)

    def encode(self, kind: str, scale: float = SCALE) -> bytes:
        """Return the graph as the bytes of a file, painted at once.

        Args:
            kind: ``png``; ``svg``, with real text; ``dot``, cards and wires for Graphviz.
            scale: pixels per scene unit of a PNG; see `image`.
        """
        if kind == "dot":
            return to_dot(self.picture).encode()
        if kind == "svg":
            return run_to_end(self.svg())
        return png_bytes(run_to_end(self.image(scale)))

    def _render(
        self, painter: QPainter, box: QRectF, as_seen: bool = False
    ) -> Generator[None, None, None]:
        yield from overlay.render(
            painter, box, self._drawing, self._motion, self._selected, as_seen
        )


def _strips(size: QSize) -> range:
    """Return the tops of the strips in which the background of an image is filled."""
    return range(0, size.height(), max(1, STRIP_PIXELS // max(1, size.width())))


def png_bytes(image: QImage) -> bytes:
    """Return an opaque image as the bytes of a PNG file.

    Other threads run meanwhile.
    """
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    opaque = image.convertToFormat(QImage.Format.Format_RGB888)
    opaque.save(buffer, "PNG", PNG_QUALITY)  # type: ignore[call-overload]
    return bytes(buffer.data().data())
