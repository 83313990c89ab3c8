"""The canvas as it is painted: what is in sight first, the rest in turns of its own."""

import pytest
from PySide6.QtCore import QPointF, QRectF, QSizeF

from playback.picture import Look
from tests.widgets.scenes import grid, neuron
from widgets.camera import Camera
from widgets.graph_view import GraphView
from widgets.paint.layer import MARGIN
from widgets.paint.minimap import Minimap


@pytest.fixture
def view(qtbot):
    made = GraphView()
    qtbot.addWidget(made)
    made.set_reduced_motion(True)
    made.resize(400, 400)
    made.show()
    return made


def shown(view, maker, look):
    view.set_scene(maker.tape, maker.picture, maker.placement)
    view.set_look(look)
    view.set_camera(Camera(1.0, -20.0, -300.0))
    view._sharpen.stop()
    return view._drawing


def test_a_paint_paints_what_is_seen_and_later_turns_the_rest(view, qtbot, monkeypatch):
    drawing = shown(view, grid(500, 3), Look(cards={}, wires={}))
    view.set_camera(Camera(1.0, 160.0, -300.0))  # beside the map
    painted, paint = [], drawing.paint
    monkeypatch.setattr(drawing, "paint", lambda p, a, z: (painted.append(a), paint(p, a, z)))
    view.grab()
    assert [area.toAlignedRect().size() for area in painted] == [view.size()]
    assert view._minimap.awaited
    qtbot.waitUntil(lambda: not view._layer.unfinished)
    assert not view._minimap.awaited
    sizes = sorted((area.width(), area.height()) for area in painted[1:])
    assert sizes == [(MARGIN, 400), (MARGIN, 400), (880, MARGIN), (880, MARGIN)]


def test_who_pans_before_that_sees_no_hole(view, qtbot):
    shown(view, *neuron())
    view.grab()
    assert view._layer.unfinished
    view.set_camera(view.camera().moved(30.0, -20.0))
    panned = view.grab().toImage()
    assert not view._layer.unfinished
    view._repaint_all()
    again = view.grab().toImage()
    assert again == panned


def test_who_zooms_before_that_comes_back_to_a_whole_picture(view, qtbot):
    shown(view, *neuron())
    view.grab()
    near = view.camera()
    view.zoom_by(0.5, QPointF(200, 150))
    view.grab()
    view._go_on()
    assert view._layer.unfinished  # with another zoom that would be work for nothing
    view.set_camera(near)
    view._sharpen.stop()
    view.grab()
    qtbot.waitUntil(lambda: not view._layer.unfinished)
    assert view._layer.covers(near, QRectF(view.rect()).size(), view.devicePixelRatioF())


def test_the_key_of_the_colours_gets_its_corner_as_long_as_all_is_shown(view):
    view.resize(700, 700)
    maker, look = neuron()
    view.set_scene(maker.tape, maker.picture, maker.placement)
    view.set_look(look)
    plain = view.camera()
    view.keep_clear(QSizeF(260, 120))
    corner = QRectF(440, 0, 260, 120)
    boxes = view.stage().boxes.values()
    assert not any(view.camera().box_to_view(box).intersects(corner) for box in boxes)
    view.keep_clear(QSizeF())
    assert view.camera() == plain
    view.set_camera(Camera(1.4, 3.0, 4.0))
    view.keep_clear(QSizeF(260, 120))
    assert view.camera() == Camera(1.4, 3.0, 4.0)


@pytest.mark.parametrize("width", [400, 700])
def test_in_a_narrow_view_the_map_covers_no_card(view, width):
    view.resize(width, 600)
    shown(view, grid(60, 3), Look(cards={}, wires={}))
    box = Minimap.box(view.stage().bounds, QSizeF(view.size()))
    card = next(iter(view.stage().boxes.values()))
    below = box.center() - card.center()
    view.set_camera(Camera(1.0, below.x(), below.y()))
    assert view._has_map() == (width >= 560)
    assert (view._map_point(box.center()) is None) == (width < 560)
    view._on_map = True  # one drags in it
    assert view._has_map()
    view._on_map = False
    free = view.stage().bounds.left() - box.right() - 30
    view.set_camera(Camera(1.0, -free, below.y()))
    assert view._has_map()
