import itertools

import pytest
from PySide6.QtSvg import QSvgRenderer

from tests.widgets.graph_window import show
from tests.widgets.scenes import network, neuron
from widgets.camera import Camera
from widgets.graph_view import GraphView
from widgets.theme import Theme


@pytest.fixture
def view(qtbot):
    made = GraphView()
    qtbot.addWidget(made)
    made.resize(810, 730)
    made.set_reduced_motion(True)
    made.show()
    return made


def test_a_png_shows_the_whole_picture_whatever_is_in_sight(view, tmp_path):
    show(view, neuron())
    view.set_camera(Camera(4.0, -3000, -3000))
    assert view.export_png(tmp_path / "graph.png", 1.0)
    from PySide6.QtGui import QImage

    image = QImage(str(tmp_path / "graph.png"))
    assert image.size() == view.picture_size().toSize()
    ink = Theme.load("light").ink
    spots = itertools.product(range(0, image.width(), 4), range(0, image.height(), 4))
    assert sum(image.pixelColor(x, y) == ink for x, y in spots) > 100
    assert not view.export_png(tmp_path / "no such folder" / "graph.png")


def test_an_svg_holds_its_texts_as_text_and_no_pixels(view, tmp_path):
    show(view, network())
    path = tmp_path / "graph.svg"
    assert view.export_svg(path)
    written = path.read_text(encoding="utf-8")
    for words in ("linear", "16 × 8", "105 parameters", "not reached yet"):
        assert f">{words}" in written
    assert "<image" not in written
    assert QSvgRenderer(str(path)).isValid()


def test_exporting_changes_nothing_on_the_screen(view, tmp_path):
    show(view, neuron())
    view.set_camera(Camera(0.5, 0, 0))
    before = view.grab().toImage()
    view.export_svg(tmp_path / "graph.svg")
    assert view.grab().toImage() == before
