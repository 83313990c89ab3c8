"""The canvas as it is painted: what is in sight first, the rest in turns of its own."""

import pytest
from PySide6.QtCore import QPointF, QRectF, QSizeF

from gradscribe.playback.graph.picture import Look
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.canvas import GraphCanvas
from gradscribe.widgets.graph.paint.layer import MARGIN
from gradscribe.widgets.graph.paint.minimap import Minimap
from gradscribe.widgets.graph.view import GraphView
from tests.widgets.scenes import grid, network, neuron


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
    view.canvas._sharpen.stop()
    return view.canvas.drawing


def test_a_paint_paints_what_is_seen_and_later_turns_the_rest(view, qtbot, monkeypatch):
    drawing = shown(view, grid(500, 3), Look(cards={}, wires={}))
    view.set_camera(Camera(1.0, 160.0, -300.0))  # beside the map
    painted, steps = [], drawing.steps
    monkeypatch.setattr(drawing, "steps", lambda p, a, z: (painted.append(a), steps(p, a, z))[1])
    view.grab()
    assert [area.toAlignedRect().size() for area in painted] == [view.size()]
    assert view.canvas.minimap.awaited
    qtbot.waitUntil(lambda: not view.canvas.layer.unfinished)
    assert not view.canvas.minimap.awaited
    sizes = sorted((area.width(), area.height()) for area in painted[1:])
    assert sizes == [(MARGIN, 400), (MARGIN, 400), (880, MARGIN), (880, MARGIN)]


def test_who_pans_before_that_sees_no_hole(view, qtbot):
    shown(view, *neuron())
    view.grab()
    assert view.canvas.layer.unfinished
    view.set_camera(view.camera().moved(30.0, -20.0))
    panned = view.grab().toImage()
    assert not view.canvas.layer.unfinished
    view.canvas.repaint_all()
    again = view.grab().toImage()
    assert again == panned


def test_who_zooms_before_that_comes_back_to_a_whole_picture(view, qtbot):
    shown(view, *neuron())
    view.grab()
    near = view.camera()
    view.zoom_by(0.5, QPointF(200, 150))
    view.grab()
    view.canvas._go_on()
    assert view.canvas.layer.unfinished  # with another zoom that would be work for nothing
    view.set_camera(near)
    view.canvas._sharpen.stop()
    view.grab()
    qtbot.waitUntil(lambda: not view.canvas.layer.unfinished)
    assert view.canvas.layer.covers(near, QRectF(view.rect()).size(), view.devicePixelRatioF())


def test_the_key_of_the_colours_gets_its_corner_as_long_as_all_is_shown(view):
    view.resize(700, 700)
    maker, look = neuron()
    view.set_scene(maker.tape, maker.picture, maker.placement)
    view.set_look(look)
    plain = view.camera()
    view.reserve_corner(QSizeF(260, 120))
    corner = QRectF(440, 0, 260, 120)
    boxes = view.stage().boxes.values()
    assert not any(view.camera().box_to_view(box).intersects(corner) for box in boxes)
    view.reserve_corner(QSizeF())
    assert view.camera() == plain
    view.set_camera(Camera(1.4, 3.0, 4.0))
    view.reserve_corner(QSizeF(260, 120))
    assert view.camera() == Camera(1.4, 3.0, 4.0)


@pytest.mark.parametrize("width", [400, 700])
def test_in_a_narrow_view_the_map_covers_no_card(view, width):
    view.resize(width, 600)
    shown(view, grid(60, 3), Look(cards={}, wires={}))
    box = Minimap.box(view.stage().bounds, QSizeF(view.size()))
    card = next(iter(view.stage().boxes.values()))
    below = box.center() - card.center()
    view.set_camera(Camera(1.0, below.x(), below.y()))
    assert view.canvas.has_map() == (width >= 560)
    assert (view.canvas.map_point(box.center()) is None) == (width < 560)
    view.canvas.map_dragged = True  # one drags in it
    assert view.canvas.has_map()
    view.canvas.map_dragged = False
    free = view.stage().bounds.left() - box.right() - 30
    view.set_camera(Camera(1.0, -free, below.y()))
    assert view.canvas.has_map()


@pytest.fixture
def halfway(view, qtbot):
    """Return a function that brings a new picture and has some of it painted, but not all.

    It goes on only where `_ahead` is told to.
    """

    def begin():
        shown(view, *neuron())
        qtbot.waitExposed(view)
        view.update()
        qtbot.waitUntil(lambda: view.canvas._on_screen and not view.canvas._ahead.busy)
        view.canvas._ahead._turn_ms, view.canvas._ahead.rest_ms = 0, 10**6
        maker, look = network()
        view.set_scene(maker.tape, maker.picture, maker.placement)
        view.set_look(look)
        view.canvas._sharpen.stop()
        for _ in range(4):
            view.canvas._ahead.go_on()
        assert view.canvas.layer.begun
        return maker.picture

    return begin


@pytest.fixture
def paints(view, qtbot, monkeypatch):
    """Return a function that asks for a paint and returns how much of that was done."""
    asked, done = [], []
    ask_for, paint = GraphCanvas.paint, GraphCanvas._paint
    monkeypatch.setattr(GraphCanvas, "paint", lambda of, c: (asked.append(1), ask_for(of, c))[1])
    monkeypatch.setattr(GraphCanvas, "_paint", lambda of, p: (done.append(1), paint(of, p))[1])

    def ask():
        asked.clear()
        done.clear()
        view.update()
        qtbot.waitUntil(lambda: bool(asked))
        return len(done)

    return ask


def test_a_new_picture_is_painted_in_turns_and_shown_once_it_is_whole(view, halfway, paints):
    picture, turns = halfway(), 0
    assert paints() == 0, "what was there before stays on the screen"
    while view.canvas.layer.begun:
        view.canvas._ahead.go_on()
        turns += 1
    assert turns > len(picture.cards) - 4, "a card takes a turn"
    renders = view.canvas.layer.renders
    assert paints() == 1
    taken = view.grab().toImage()
    assert view.canvas.layer.renders == renders, "what was made in turns is what is shown"
    view.canvas.repaint_all()
    assert view.grab().toImage() == taken


def test_who_takes_a_picture_meanwhile_gets_a_whole_one(view, halfway):
    halfway()
    taken = view.grab().toImage()
    assert not view.canvas.layer.begun
    view.canvas.repaint_all()
    assert view.grab().toImage() == taken


@pytest.mark.parametrize("change", ["theme", "look", "stage", "layers", "size", "camera", "hide"])
def test_what_changes_meanwhile_is_seen(view, halfway, paints, change):
    halfway()
    if change == "theme":
        view.set_theme(Theme.load("dark"))
    elif change == "look":
        view.set_look(Look(cards={}, wires={}))
    elif change == "stage":
        maker, look = neuron()
        view.set_scene(maker.tape, maker.picture, maker.placement)
        view.set_look(look)
    elif change == "layers":
        view.set_layers(False, False, False)
    elif change == "size":
        view.resize(500, 430)
    elif change == "camera":
        view.set_camera(Camera(0.8, 10.0, 10.0))
    else:
        view.hide()
        view.show()
    while view.canvas._ahead.busy:
        view.canvas._ahead.go_on()
    assert paints() == 1
    view.canvas._sharpen.stop()
    taken = view.grab().toImage()
    view.canvas.repaint_all()
    assert view.grab().toImage() == taken


def test_another_zoom_is_made_sharp_in_turns(view, qtbot, paints):
    shown(view, *network())
    qtbot.waitExposed(view)
    view.update()
    qtbot.waitUntil(lambda: view.canvas._on_screen and not view.canvas._ahead.busy)
    view.canvas._ahead._turn_ms, view.canvas._ahead.rest_ms = 0, 10**6
    view.zoom_by(1.3, QPointF(200, 200))
    assert view.canvas._sharpen.isActive()
    assert paints() == 1, "the picture there was is shown larger"
    renders, turns = view.canvas.layer.renders, 0
    qtbot.waitUntil(lambda: view.canvas._ahead.busy)
    while view.canvas._ahead.busy:
        view.canvas._ahead.go_on()
        turns += 1
    assert turns > 3
    assert (paints(), view.canvas.layer.renders) == (1, renders + 1)
    sharp = view.grab().toImage()
    view.canvas.repaint_all()
    assert view.grab().toImage() == sharp


def test_pictures_that_follow_each_other_fast_are_all_seen(view, halfway, paints):
    halfway()
    maker, look = neuron()
    view.set_scene(maker.tape, maker.picture, maker.placement)
    view.set_look(look)
    assert paints() == 1


def test_a_fault_in_a_card_leaves_the_view_alive(view, halfway, paints, monkeypatch):
    halfway()

    def spoilt(*_):
        raise ValueError("a card")

    with monkeypatch.context() as patched:
        patched.setattr(view.canvas.drawing, "paint_card", spoilt)
        with pytest.raises(ValueError, match="a card"):
            view.canvas._ahead.finish()
    assert not view.canvas.layer.begun
    assert paints() == 1
