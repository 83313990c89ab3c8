"""SVG for browsers and Inkscape: sizes, texts that keep their room, no empty groups."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from gradscribe.widgets.base.drive import run_to_end
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import shapes, svg
from gradscribe.widgets.graph.paint.card.thumbnail import MAX_CELLS, draw_thumbnail
from gradscribe.widgets.graph.paint.svg import DPI, fix_svg, to_svg

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
            yield

    return run_to_end(to_svg(QSizeF(400, 200), theme, paint))


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
    assert "textLength" not in fix_svg(f"<text {how} >x</text>")
    assert fix_svg("<path d='M0,0 L1,1'/>") == "<path d='M0,0 L1,1'/>"


def row_of(count, theme):
    """Paint boxes in a row, each with its number, under a transform of one's own."""

    def paint(painter, _box):
        painter.save()
        try:
            painter.translate(7.0, 3.0)
            painter.scale(0.5, 0.5)
            for number in range(count):
                shapes.fill(painter, QRectF(40 * number, 0, 30, 30), 4, theme.forward)
                shapes.write(painter, QRectF(40 * number, 0, 30, 30), f"n{number}", theme.ink, 13)
                yield
        finally:
            painter.restore()

    return paint


def test_of_many_generators_becomes_one_picture(theme, monkeypatch):
    size = QSizeF(800, 40)
    monkeypatch.setattr(svg, "STEPS_PER_GENERATOR", 1000)
    alone = run_to_end(to_svg(size, theme, row_of(30, theme)))
    monkeypatch.setattr(svg, "STEPS_PER_GENERATOR", 7)
    many = run_to_end(to_svg(size, theme, row_of(30, theme)))
    trees = [ElementTree.fromstring(made) for made in (alone, many)]
    for tag in ("text", "path", "rect", "title"):
        one, other = ([e.attrib | {"": e.text} for e in t.iter(SPACE + tag)] for t in trees)
        assert one == other
    images = []
    for made in (alone, many):
        image = QImage(800, 40, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        QSvgRenderer(made).render(painter)
        painter.end()
        images.append(image)
    assert images[0] == images[1]


def test_no_generator_is_given_more_than_it_can_end_in_a_moment(theme, monkeypatch):
    ended, finish = [], svg.fix_svg
    monkeypatch.setattr(svg, "fix_svg", lambda text: ended.append(len(text)) or finish(text))
    run_to_end(to_svg(QSizeF(800, 40), theme, row_of(300, theme)))
    assert len(ended) == 300 // svg.STEPS_PER_GENERATOR + 1
    assert max(ended) < 2 * sum(ended) / len(ended)


def test_who_gives_up_half_way_leaves_no_painter_open(theme, recwarn):
    steps = to_svg(QSizeF(800, 40), theme, row_of(300, theme))
    for _ in range(svg.STEPS_PER_GENERATOR + 3):
        next(steps)
    steps.close()
    assert not recwarn.list


@pytest.mark.parametrize("side", [4, 12])
def test_a_big_grid_is_one_image_with_sharp_corners(theme, side):
    grid = np.arange(side * side, dtype=np.float64).reshape(side, side) - side

    def paint(painter, _box):
        draw_thumbnail(painter, QRectF(10, 10, 60, 60), grid, theme)
        yield

    made = run_to_end(to_svg(QSizeF(80, 80), theme, paint)).decode()
    assert made.count("<image") == (side * side > MAX_CELLS)
    assert made.count("pixelated") == made.count("<image")
    assert len(made) < 12_000
