"""What colours the cards of the graph: a mode, or marks of somebody else's."""

import pytest

from gradscribe.playback.graph.coloring import ColorLegend, Tint
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.view import GraphView
from tests.widgets.graph_window import show
from tests.widgets.scenes import neuron


class Marked:
    """Marks one card."""

    def tint(self, card, look):
        return Tint("here", "groups", alarm=True) if card.key == "n" and look else None

    def key(self):
        return ColorLegend("Marks", "groups", groups=("here",))


@pytest.fixture
def view(qtbot):
    made = GraphView()
    qtbot.addWidget(made)
    made.resize(800, 700)
    made.show()
    return made


def test_marks_stand_in_place_of_a_mode_and_go_again(view):
    show(view, neuron())
    usual = view.grab().toImage()
    view.set_marks(Marked())
    assert view.color_key().title == "Marks"
    assert view.grab().toImage() != usual
    view.set_marks(None)
    assert view.color_key() is None
    assert view.grab().toImage() == usual


def test_a_badge_stays_above_the_ring_of_the_selection(view):
    show(view, neuron())
    view.set_marks(Marked())
    view.set_camera(Camera(1.0, 0, 0))
    badge = view._drawing.badge("n")
    middle = badge.adjusted(8, 4, -8, -4).toRect()
    before = view.grab(middle).toImage()
    view.select("n")
    assert view.grab(middle).toImage() == before
    assert view._drawing.badge("o") is None


@pytest.mark.parametrize("zoom", [0.1, 0.3, 0.55, 1.0])
def test_a_colour_mode_is_seen_at_every_distance_and_goes_again(view, zoom):
    show(view, neuron())
    view.set_camera(Camera(zoom, 0, 0))
    usual = view.grab().toImage()
    assert view.color_key() is None
    view.set_coloring("value")
    assert view.color_key().title == "Value"
    valued = view.grab().toImage()
    view.set_coloring("gradient")
    assert usual != valued != view.grab().toImage() != usual
    view.set_coloring("")
    assert view.grab().toImage() == usual


def test_another_picture_keeps_the_colour_mode(view):
    show(view, neuron())
    view.set_coloring("dtype")
    show(view, neuron())
    assert view.color_key().groups == ("float32",)
