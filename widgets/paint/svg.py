"""Pictures as SVG: what Qt's generator writes, made right for browsers and Inkscape."""

import re
from collections.abc import Callable
from html import unescape

from PySide6.QtCore import QBuffer, QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import QPainter

from widgets.paint import shapes
from widgets.theme import Theme

DPI = 96
"""A pixel of a picture is a pixel of a page, as the web has it."""
_EMPTY = re.compile(r"<g [^<>]*>\s*</g>\s*")
_TEXT = re.compile(
    r'<text (?P<how>[^>]*font-family="(?P<family>[^"]*)" font-size="(?P<px>[\d.]+)" '
    r'font-weight="(?P<weight>\d+)"[^>]*)>(?P<said>[^<]*)</text>'
)


def to_svg(size: QSizeF, theme: Theme, render_to: Callable[[QPainter, QRectF], None]) -> bytes:
    """Return the text of an SVG file of ``size`` with the canvas as its ground."""
    # Imported here: few windows ever export, and every window would wait for it.
    from PySide6.QtSvg import QSvgGenerator

    whole, held = QRectF(QPointF(), size), QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(held)
    generator.setResolution(DPI)
    generator.setSize(size.toSize())
    generator.setViewBox(QRect(QPointF().toPoint(), size.toSize()))
    generator.setTitle("Computation graph")
    generator.setDescription("Drawn by Gradscribe")
    painter = QPainter(generator)
    try:
        painter.fillRect(whole, theme.canvas)
        render_to(painter, whole)
    finally:
        painter.end()
    return finished(bytes(held.data().data()).decode()).encode()


def finished(svg: str) -> str:
    """Return an SVG of Qt's without its empty groups, and with texts that keep their room.

    Each text is told how long it is: where its font is missing, another one is squeezed or
    stretched to fit, so that no word leaves its card.
    """
    svg = _EMPTY.sub("", svg).replace("Sans Serif", "sans-serif")
    return _TEXT.sub(_with_length, svg)


def _with_length(found: re.Match[str]) -> str:
    said, px, weight = unescape(found["said"]), float(found["px"]), int(found["weight"])
    width = shapes.text_width(said, px, weight, "Mono" in found["family"])
    length = f' textLength="{width:.2f}" lengthAdjust="spacingAndGlyphs"' if len(said) > 1 else ""
    return f"<text {found['how'].rstrip()}{length}>{found['said']}</text>"
