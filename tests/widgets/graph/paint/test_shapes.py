import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator, QSvgRenderer

from gradscribe.widgets.graph.paint import shapes
from tests.widgets.pixels import painted

SIDE = 120
CARD = QRectF(10, 20, 100, 60)


def canvas():
    image = QImage(SIDE, SIDE, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.white)
    return image


def darkness(image):
    """Return each pixel's distance from white, shape [SIDE, SIDE], 0 to 1."""
    gray = image.convertToFormat(QImage.Format.Format_Grayscale8)
    return 1 - np.frombuffer(gray.constBits(), np.uint8).reshape(SIDE, SIDE) / 255


def drawn(paint):
    image = canvas()
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint(painter)
    painter.end()
    return darkness(image)


def by_svg(paint):
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setViewBox(QRectF(0, 0, SIDE, SIDE))
    painter = QPainter(generator)
    paint(painter)
    painter.end()
    renderer = QSvgRenderer(content)
    return drawn(lambda painter: renderer.render(painter, QRectF(0, 0, SIDE, SIDE)))


@pytest.fixture
def hatched():
    def paint(painter):
        shapes.hatch(painter, shapes.rounded(CARD, 12), QColor("black"))

    return paint


def test_a_hatched_shape_has_lines_at_45_degrees_inside_of_it_alone(qapp, hatched):
    dark = drawn(hatched)
    inside = np.zeros_like(dark, dtype=bool)
    inside[20:80, 10:110] = True
    assert dark[~inside].max() == 0
    # A corner rounded by 12 leaves the outermost 3.5 units of its diagonal free.
    assert all(dark[y, x] == 0 for y, x in ((20, 10), (79, 10), (20, 109), (79, 109)))
    middle = dark[40:60, 30:90]
    assert middle.mean() == pytest.approx(shapes.HATCH_WIDTH * 2**0.5 / 7, rel=0.15)
    np.testing.assert_allclose(dark[45:55, 40:80], dark[46:56, 39:79], atol=0.02)


def test_a_hatched_shape_looks_the_same_in_a_vector_file(qapp, hatched):
    dark, vector = drawn(hatched), by_svg(hatched)
    assert np.abs(dark - vector).mean() < 0.01
    assert np.abs(dark - vector).max() < 0.35


@pytest.mark.parametrize("room", range(4, 120, 4))
def test_a_shape_in_a_small_box_is_whole_smaller_or_absent(qapp, room):
    """Compare with each whole form at each size: nothing else is ever painted."""

    def seen(paint):
        return painted(paint, (130, 30), "#FFFFFF")

    ink, box = QColor("#000000"), QRectF(4, 4, room, 20)
    found = seen(lambda p: shapes.write_whole(p, box, "100 × 1", ink, 11, 500, mono=True))
    wide = QRectF(4, 4, 120, 20)
    whole = [
        seen(lambda p, t=t, px=px: shapes.write(p, wide, t, ink, px, 500, mono=True))
        for t in ("100 × 1", "100×1", "")
        for px in (11, 11 * 0.88, 11 * shapes.LEAST_SHRINK)
    ]
    assert any((found == other).all() for other in whole)
