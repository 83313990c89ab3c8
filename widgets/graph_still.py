"""The graph as it looks at one moment, painted bit by bit while the view goes on."""

import math
from collections.abc import Generator

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QPainter

from playback.picture import Picture
from widgets.paint import overlay
from widgets.paint.drawing import Drawing
from widgets.paint.layer import HINTS
from widgets.paint.motion import Motion
from widgets.paint.svg import to_svg

MARGIN = 48.0
"""Kept free around an exported picture, in scene units."""
SCALE = 2.0
"""Pixels of an image per scene unit."""
LONGEST, MOST_PIXELS = 32_000, 40_000_000
"""No image is longer or has more pixels, 160 MB: thousands of ops in a chain would make one of
gigabytes, which hardly any program opens."""
STRIP = 4_000_000
"""So many pixels of the ground are painted in one step."""


class Still:
    """All that a drawing shows now; what becomes of the drawing later does not change it."""

    def __init__(self, drawing: Drawing, selected: str = "") -> None:
        self._drawing = Drawing(drawing.stage, drawing.theme, drawing.layers, drawing.look)
        self._drawing.tint_by(drawing.coloring)
        self._motion = Motion(self._drawing, drawing.look, 0)
        self._selected = selected

    def __len__(self) -> int:
        """Return in about how many steps it is painted."""
        stage = self._drawing.stage
        drawn = len(stage.cards) + len(stage.wires) + 2 * len(stage.frames) + len(stage.tiles)
        return drawn + len(_strips((self.size * self.image_scale()).toSize()))

    @property
    def picture(self) -> Picture:
        """What is painted."""
        return self._drawing.stage.picture

    @property
    def size(self) -> QSizeF:
        """The size of the whole picture with its margin, in scene units."""
        return self._drawing.stage.bounds.size() + QSizeF(2 * MARGIN, 2 * MARGIN)

    def image_scale(self, wanted: float = SCALE) -> float:
        """Return how many pixels per scene unit an image has: fewer than ``wanted`` if too many."""
        longest = max(self.size.width(), self.size.height())
        pixels = self.size.width() * self.size.height()
        return min(wanted, LONGEST / longest, math.sqrt(MOST_PIXELS / pixels))

    def image(self, scale: float = SCALE) -> Generator[None, None, QImage]:
        """Paint the picture on its ground, ``scale`` pixels per scene unit, step by step.

        A picture too big for that is made smaller, and shows what one sees at that size.
        """
        held = self.image_scale(scale)
        size = self.size * held
        image = QImage(size.toSize(), QImage.Format.Format_ARGB32_Premultiplied)
        painter = QPainter(image)
        try:
            # Memory that is touched for the first time takes its while.
            strips = _strips(image.size())
            for top in strips:
                painter.fillRect(0, top, image.width(), strips.step, self._drawing.theme.canvas)
                yield
            painter.setRenderHints(HINTS)
            yield from self._render(painter, QRectF(QPointF(), size), held < scale)
        finally:
            painter.end()
        return image

    def svg(self) -> Generator[None, None, bytes]:
        """Make an SVG file of the picture, with real text, step by step."""
        return to_svg(self.size, self._drawing.theme, self._render)

    def _render(
        self, painter: QPainter, box: QRectF, as_seen: bool = False
    ) -> Generator[None, None, None]:
        yield from overlay.render(
            painter, box, self._drawing, self._motion, self._selected, as_seen
        )


def _strips(size: QSize) -> range:
    """Return the tops of the strips in which the ground of an image is painted."""
    return range(0, size.height(), max(1, STRIP // max(1, size.width())))
