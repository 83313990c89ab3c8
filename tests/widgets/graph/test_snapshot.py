"""The graph at one moment, painted while the view goes on."""

import itertools

import pytest
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer

from gradscribe.playback.graph.picture import Look
from gradscribe.widgets.base.drive import run_to_end
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph import snapshot
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.snapshot import GraphSnapshot
from tests.widgets.graph_window import show
from tests.widgets.scenes import grid, network, neuron


@pytest.mark.parametrize("made", ["svg", "image"])
def test_what_happens_to_the_view_meanwhile_does_not_show(view, made):
    show(view, neuron())
    view.select("b")
    expected = run_to_end(getattr(view.snapshot(), made)())
    steps = getattr(view.snapshot(), made)()
    for _ in range(5):
        next(steps)
    view.set_theme(Theme.load("dark"))
    view.set_look(Look({}, {}))
    view.select("")
    view.set_camera(Camera(0.3, 5, 5))
    view.grab()
    for _ in range(5):
        next(steps)
    view.set_layers(False, False, False)
    show(view, network())
    assert run_to_end(steps) == expected


def test_painting_it_changes_nothing_in_the_view(view):
    show(view, neuron())
    view.set_camera(Camera(0.5, 0, 0))
    before = view.grab().toImage()
    steps = view.snapshot().image()
    next(steps)
    assert view.grab().toImage() == before
    steps.close()
    assert view.grab().toImage() == before


def test_its_length_is_about_the_number_of_its_steps(view):
    show(view, network())
    still = view.snapshot()
    made = sum(1 for _ in still.image())
    assert made <= len(still) < 2 * made


def test_every_step_is_small(view):
    show(view, network())
    still = view.snapshot()
    steps = sum(1 for _ in still.svg())
    stage = view.stage()
    assert steps >= len(stage.cards) + len(stage.wires) + len(stage.frames)


def test_the_ground_of_a_large_image_is_painted_in_strips(view, monkeypatch):
    show(view, neuron())
    at_once = run_to_end(view.snapshot().image())
    monkeypatch.setattr(snapshot, "STRIP_PIXELS", 5 * at_once.width())
    still = view.snapshot()
    made = sum(1 for _ in still.image())
    assert made > at_once.height() // 5
    assert made == pytest.approx(len(still), rel=0.05)
    assert run_to_end(view.snapshot().image()) == at_once


def test_it_is_shared_by_nobody(view):
    show(view, neuron())
    one, other = view.snapshot(), view.snapshot()
    first, second = one.image(), other.svg()
    for _ in range(4):
        next(first)
        next(second)
    assert run_to_end(first) == run_to_end(GraphSnapshot(view.canvas.drawing, "").image())
    assert run_to_end(second).startswith(b"<?xml")


def test_a_png_shows_the_whole_picture_whatever_is_in_sight(view):
    show(view, neuron())
    view.set_camera(Camera(4.0, -3000, -3000))
    image = QImage.fromData(view.snapshot().encode("png", 1.0))
    assert image.size() == view.snapshot().size.toSize()
    ink = Theme.load("light").ink
    spots = itertools.product(range(0, image.width(), 4), range(0, image.height(), 4))
    assert sum(image.pixelColor(x, y) == ink for x, y in spots) > 100


def test_an_svg_holds_its_texts_as_text(view):
    show(view, network())
    data = view.snapshot().encode("svg")
    written = data.decode()
    for words in ("linear", "16 × 8", "105 parameters", "not reached yet"):
        assert f">{words}" in written
    assert QSvgRenderer(data).isValid()


def test_exporting_changes_nothing_on_the_screen(view):
    show(view, neuron())
    view.set_camera(Camera(0.5, 0, 0))
    before = view.grab().toImage()
    view.snapshot().encode("svg")
    assert view.grab().toImage() == before


def test_an_image_of_a_huge_picture_keeps_to_what_programs_can_open(view):
    show(view, (grid(1200, 2), Look(cards={}, wires={})))
    size = view.snapshot().size
    assert size.height() > 60 * size.width()
    view.set_camera(Camera(0.5, 0, 0))
    view.grab()  # the map of so many cards comes with the second
    before = view.grab().toImage()
    image = run_to_end(view.snapshot().image())
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
    full = run_to_end(view.snapshot().image())
    assert full.size() == (view.snapshot().size * snapshot.SCALE).toSize()
    monkeypatch.setattr(snapshot, "MAX_PIXELS", full.width() * full.height() // 9)
    small = run_to_end(view.snapshot().image())
    assert small.width() == pytest.approx(full.width() / 3, abs=2)
    assert view.snapshot().image_scale() == pytest.approx(snapshot.SCALE / 3, rel=0.01)
    assert b">linear" in view.snapshot().encode("svg")
