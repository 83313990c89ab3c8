"""SVG for browsers and Inkscape: sizes, texts that keep their room, no empty groups."""

import re
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtSvg import QSvgRenderer

from widgets.paint import shapes
from widgets.paint.svg import DPI, finished, to_svg
from widgets.theme import Theme

SPACE = "{http://www.w3.org/2000/svg}"
WORDS = ("x Wᵀ + b", "a < b & c", "∇ 0.5", "Größe 数")


@pytest.fixture(params=["light", "dark"])
def theme(request, qapp):
    return Theme.load(request.param)


@pytest.fixture
def drawn(theme):
    def paint(painter, box):
        for number, words in enumerate(WORDS):
            row = QRectF(20, 20 + 30 * number, 300, 24)
            shapes.write(painter, row, words, theme.ink, 13, 600)

    return to_svg(QSizeF(400, 200), theme, paint)


def test_a_pixel_of_the_picture_is_a_pixel_of_the_page(drawn):
    root = ElementTree.fromstring(drawn)
    assert root.get("viewBox") == "0 0 400 200"
    for name, size in (("width", 400), ("height", 200)):
        assert float(root.get(name).removesuffix("mm")) / 25.4 * DPI == pytest.approx(size, abs=0.1)


def test_texts_are_texts_that_know_their_length(drawn):
    texts = list(ElementTree.fromstring(drawn).iter(f"{SPACE}text"))
    # A letter that the font lacks is a text of its own.
    assert "".join(text.text for text in texts) == "".join(WORDS)
    for text in texts:
        width = shapes.text_width(text.text, 13, 600)
        if len(text.text) > 1:
            assert float(text.get("textLength")) == pytest.approx(width, abs=0.01)
            assert text.get("lengthAdjust") == "spacingAndGlyphs"
        assert text.get("font-family").split(",")[-1] in ("sans-serif", "monospace")


def test_the_ground_is_the_canvas_and_nothing_is_empty(drawn, theme):
    text = drawn.decode()
    assert text.index(theme.canvas.name()) < text.index("<text")
    assert not re.search(r"<g [^<>]*>\s*</g>", text)
    assert "Sans Serif" not in text
    assert QSvgRenderer(drawn).isValid()


def test_a_single_letter_is_left_as_it_is_and_so_is_what_is_no_text():
    how = 'font-family="Inter" font-size="13" font-weight="600"'
    assert "textLength" not in finished(f"<text {how} >x</text>")
    assert finished("<path d='M0,0 L1,1'/>") == "<path d='M0,0 L1,1'/>"
