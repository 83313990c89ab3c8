import itertools

from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer

from tests.widgets.graph_window import show
from tests.widgets.scenes import network, neuron
from widgets.camera import Camera
from widgets.theme import Theme


def test_a_png_shows_the_whole_picture_whatever_is_in_sight(view):
    show(view, neuron())
    view.set_camera(Camera(4.0, -3000, -3000))
    image = QImage.fromData(view.encoded("png", 1.0))
    assert image.size() == view.picture_size().toSize()
    ink = Theme.load("light").ink
    spots = itertools.product(range(0, image.width(), 4), range(0, image.height(), 4))
    assert sum(image.pixelColor(x, y) == ink for x, y in spots) > 100


def test_an_svg_holds_its_texts_as_text_and_no_pixels(view):
    show(view, network())
    data = view.encoded("svg")
    written = data.decode()
    for words in ("linear", "16 × 8", "105 parameters", "not reached yet"):
        assert f">{words}" in written
    assert "<image" not in written
    assert QSvgRenderer(data).isValid()


def test_exporting_changes_nothing_on_the_screen(view):
    show(view, neuron())
    view.set_camera(Camera(0.5, 0, 0))
    before = view.grab().toImage()
    view.encoded("svg")
    assert view.grab().toImage() == before
