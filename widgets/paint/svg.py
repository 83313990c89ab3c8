"""Pictures as SVG: what Qt's generator writes, made right for browsers and Inkscape."""

import re
from collections.abc import Callable, Generator, Iterator
from html import unescape

from PySide6.QtCore import QBuffer, QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import QPainter

from widgets.paint import shapes
from widgets.theme import Theme

DPI = 96
"""A pixel of a picture is a pixel of a page, as the web has it."""
SHEET = 40
"""So many steps are made with one generator."""
_BODY = "</defs>"
_UNUSED = re.compile(
    r'\s+font-family="[^"]*" font-size="[^"]*" font-weight="[^"]*" font-style="\w+" *\n>'
)
"""The font of a group; each text has its own."""
_EMPTY = re.compile(r"<g [^<>]*>\s*</g>\s*")
_TEXT = re.compile(
    r'<text (?P<how>[^>]*font-family="(?P<family>[^"]*)" font-size="(?P<px>[\d.]+)" '
    r'font-weight="(?P<weight>\d+)"[^>]*)>(?P<said>[^<]*)</text>'
)


def to_svg(
    size: QSizeF, theme: Theme, render: Callable[[QPainter, QRectF], Iterator[None]]
) -> Generator[None, None, bytes]:
    """Make the text of an SVG file of ``size`` with the canvas as its ground, step by step.

    ``render`` is to yield with its own `save` of the painter open and no other.
    """
    whole, sheets = QRectF(QPointF(), size), _Sheets(size)
    try:
        sheets.painter.fillRect(whole, theme.canvas)
        for number, _ in enumerate(render(sheets.painter, whole), 1):
            if number % SHEET == 0:
                sheets.turn()
            yield
    finally:
        sheets.painter.end()
    return sheets.finish()


class _Sheets:
    """One SVG file made with many of Qt's generators.

    A generator keeps all it was given until the painter ends, which with thousands of cards took
    two seconds.
    """

    def __init__(self, size: QSizeF) -> None:
        self._size = size
        self._made: list[bytes] = []
        self.painter = QPainter()
        self._begin()

    def turn(self) -> None:
        """Go on with a fresh generator."""
        transform, hints = self.painter.worldTransform(), self.painter.renderHints()
        self.painter.restore()
        self.painter.end()
        self._made.append(finished(self._body()).encode())
        self._begin()
        self.painter.save()
        self.painter.setRenderHints(hints)
        self.painter.setWorldTransform(transform)

    def finish(self) -> bytes:
        """Return the whole file; the painter has ended."""
        body = finished(self._body())
        return b"".join([self._head.encode(), *self._made, body.encode(), b"</svg>\n"])

    def _begin(self) -> None:
        # Imported here: few windows ever export, and every window would wait for it.
        from PySide6.QtSvg import QSvgGenerator

        self._held = QBuffer()
        self._generator = QSvgGenerator()
        self._generator.setOutputDevice(self._held)
        self._generator.setResolution(DPI)
        self._generator.setSize(self._size.toSize())
        self._generator.setViewBox(QRect(QPointF().toPoint(), self._size.toSize()))
        self._generator.setTitle("Computation graph")
        self._generator.setDescription("Drawn by Gradscribe")
        self.painter.begin(self._generator)

    def _body(self) -> str:
        """Return what was painted with the present generator."""
        svg = bytes(self._held.data().data()).decode()
        start = svg.index(_BODY) + len(_BODY)
        self._head = svg[:start]
        return svg[start : svg.rindex("</svg>")]


def finished(svg: str) -> str:
    """Return an SVG of Qt's without its empty groups, and with texts that keep their room.

    Each text is told how long it is: where its font is missing, another one is squeezed or
    stretched to fit, so that no word leaves its card. Images keep the corners of their pixels.
    """
    svg = _UNUSED.sub(">", _EMPTY.sub("", svg)).replace("Sans Serif", "sans-serif")
    svg = svg.replace("<image ", '<image style="image-rendering:pixelated" ')
    return _TEXT.sub(_with_length, svg)


def _with_length(found: re.Match[str]) -> str:
    said, px, weight = unescape(found["said"]), float(found["px"]), int(found["weight"])
    width = shapes.text_width(said, px, weight, "Mono" in found["family"])
    length = f' textLength="{width:.2f}" lengthAdjust="spacingAndGlyphs"' if len(said) > 1 else ""
    return f"<text {found['how'].rstrip()}{length}>{found['said']}</text>"
