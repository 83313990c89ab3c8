import itertools

import pytest
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer

from gradscribe.playback.graph.picture import Look
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph import snapshot
from gradscribe.widgets.graph.camera import Camera
from tests.widgets.graph_window import show
from tests.widgets.scenes import grid, network, neuron


def test_a_png_shows_the_whole_picture_whatever_is_in_sight(view):
    show(view, neuron())
    view.set_camera(Camera(4.0, -3000, -3000))
    image = QImage.fromData(view.encode("png", 1.0))
    assert image.size() == view.picture_size().toSize()
    ink = Theme.load("light").ink
    spots = itertools.product(range(0, image.width(), 4), range(0, image.height(), 4))
    assert sum(image.pixelColor(x, y) == ink for x, y in spots) > 100


def test_an_svg_holds_its_texts_as_text(view):
    show(view, network())
    data = view.encode("svg")
    written = data.decode()
    for words in ("linear", "16 × 8", "105 parameters", "not reached yet"):
        assert f">{words}" in written
    assert QSvgRenderer(data).isValid()


def test_exporting_changes_nothing_on_the_screen(view):
    show(view, neuron())
    view.set_camera(Camera(0.5, 0, 0))
    before = view.grab().toImage()
    view.encode("svg")
    assert view.grab().toImage() == before


def test_an_image_of_a_huge_picture_keeps_to_what_programs_can_open(view):
    show(view, (grid(1200, 2), Look(cards={}, wires={})))
    size = view.picture_size()
    assert size.height() > 60 * size.width()
    view.set_camera(Camera(0.5, 0, 0))
    view.grab()  # the map of so many cards comes with the second
    before = view.grab().toImage()
    image = view.to_image()
    assert image.height() == snapshot.MAX_SIDE
    assert image.height() / image.width() == pytest.approx(size.height() / size.width(), rel=0.03)
    ground = Theme.load("light").canvas
    for part in range(8):
        rows = range(part * image.height() // 8, (part + 1) * image.height() // 8, 3)
        spots = itertools.product(range(0, image.width(), 3), rows)
        assert any(image.pixelColor(x, y) != ground for x, y in spots)
    assert view.grab().toImage() == before


def test_an_image_never_has_more_pixels_than_there_is_memory_for(view, monkeypatch):
    show(view, network())
    full = view.to_image()
    assert full.size() == (view.picture_size() * snapshot.SCALE).toSize()
    monkeypatch.setattr(snapshot, "MAX_PIXELS", full.width() * full.height() // 9)
    small = view.to_image()
    assert small.width() == pytest.approx(full.width() / 3, abs=2)
    assert view.snapshot().image_scale() == pytest.approx(snapshot.SCALE / 3, rel=0.01)
    assert b">linear" in view.encode("svg")
