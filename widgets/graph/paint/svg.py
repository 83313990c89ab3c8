"""SVG export: the output of Qt's generator, corrected for browsers and Inkscape."""

import re
from collections.abc import Callable, Generator, Iterator
from html import unescape

from PySide6.QtCore import QBuffer, QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import QPainter

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import shapes

DPI = 96
"""Resolution at which a pixel of the drawing is a pixel of a web page."""
STEPS_PER_GENERATOR = 40
"""Steps painted with the same generator."""
_BODY = "</defs>"
_UNUSED = re.compile(
    r'\s+font-family="[^"]*" font-size="[^"]*" font-weight="[^"]*" font-style="\w+" *\n>'
)
"""The font of a group; each text has its own."""
_EMPTY = re.compile(r"<g [^<>]*>\s*</g>\s*")
_TEXT = re.compile(
    r'<text (?P<how>[^>]*font-family="(?P<family>[^"]*)" font-size="(?P<px>[\d.]+)" '
    r'font-weight="(?P<weight>\d+)"[^>]*)>(?P<text>[^<]*)</text>'
)


def to_svg(
    size: QSizeF, theme: Theme, render: Callable[[QPainter, QRectF], Iterator[None]]
) -> Generator[None, None, bytes]:
    """Paint an SVG file of ``size`` on the canvas colour, in steps; return its bytes.

    ``render`` must yield with its own `save` of the painter open and no other.
    """
    whole, sheets = QRectF(QPointF(), size), _ChunkedSvg(size)
    try:
        sheets.painter.fillRect(whole, theme.canvas)
        for number, _ in enumerate(render(sheets.painter, whole), 1):
            if number % STEPS_PER_GENERATOR == 0:
                sheets.turn()
            yield
    finally:
        sheets.painter.end()
    return sheets.finish()


class _ChunkedSvg:
    """An SVG file written by a series of Qt's generators.

    A generator retains all its input until the painter ends, which with thousands of cards took two
    seconds.
    """

    def __init__(self, size: QSizeF) -> None:
        self._size = size
        self._chunks: list[bytes] = []
        self.painter = QPainter()
        self._begin()

    def turn(self) -> None:
        """Continue with a fresh generator."""
        transform, hints = self.painter.worldTransform(), self.painter.renderHints()
        self.painter.restore()
        self.painter.end()
        self._chunks.append(fix_svg(self._body()).encode())
        self._begin()
        self.painter.save()
        self.painter.setRenderHints(hints)
        self.painter.setWorldTransform(transform)

    def finish(self) -> bytes:
        """Return the whole file; the painter must have ended."""
        body = fix_svg(self._body())
        return b"".join([self._head.encode(), *self._chunks, body.encode(), b"</svg>\n"])

    def _begin(self) -> None:
        # Imported here: few windows ever export, and the import would delay every window.
        from PySide6.QtSvg import QSvgGenerator

        self._buffer = QBuffer()
        self._generator = QSvgGenerator()
        self._generator.setOutputDevice(self._buffer)
        self._generator.setResolution(DPI)
        self._generator.setSize(self._size.toSize())
        self._generator.setViewBox(QRect(QPointF().toPoint(), self._size.toSize()))
        self._generator.setTitle("Computation graph")
        self._generator.setDescription("Drawn by Gradscribe")
        self.painter.begin(self._generator)

    def _body(self) -> str:
        """Return the SVG elements painted with the current generator."""
        svg = bytes(self._buffer.data().data()).decode()
        start = svg.index(_BODY) + len(_BODY)
        self._head = svg[:start]
        return svg[start : svg.rindex("</svg>")]


def fix_svg(svg: str) -> str:
    """Return Qt's SVG without its empty groups, and with the width of each text fixed.

    Where a text's font is missing, its ``textLength`` squeezes or stretches another to fit, so that
    no word leaves its card. Images are scaled without smoothing.
    """
    svg = _UNUSED.sub(">", _EMPTY.sub("", svg)).replace("Sans Serif", "sans-serif")
    svg = svg.replace("<image ", '<image style="image-rendering:pixelated" ')
    return _TEXT.sub(_with_length, svg)


def _with_length(match: re.Match[str]) -> str:
    text, px, weight = unescape(match["text"]), float(match["px"]), int(match["weight"])
    width = shapes.text_width(text, px, weight, "Mono" in match["family"])
    length = f' textLength="{width:.2f}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
    return f"<text {match['how'].rstrip()}{length}>{match['text']}</text>"
