"""Filters of a model for pictures: what they make of one, and their weights under the mouse."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.units import filters
from gradscribe.widgets.plots.views.unit_maps import LayerMaps, UnitMaps
from tests.widgets.pixels import near, painted

KERNELS = np.array([[[[2.0]]], [[[-1.0]]]], np.float32)
PICTURES = np.zeros((3, 2, 2), np.float32)


@pytest.fixture
def network(shown):
    plot = shown(UnitMaps(), 500, 400)
    said = np.array([0.25, 1.5], np.float32)[:, None, None]
    layers = [
        LayerMaps("pictures", PICTURES, ("cat", "dog", "cow"), (True, False, False), crisp=True),
        LayerMaps("0 ReLU", np.ones((2, 2, 2), np.float32), crisp=True, filters=KERNELS),
        LayerMaps("1 Linear", said, crisp=True, called=("cat", "dog")),
    ]
    plot.show_layers(layers)
    return plot


def test_a_click_on_a_picture_chooses_it_and_switches_no_input(network, look, mouse):
    wished, switched = [], []
    network.wished.connect(lambda: wished.append(network.sample))
    network.switched.connect(switched.append)
    look(network)
    at = network._boxes[0][2].center()
    mouse(network).press(at.x(), at.y())
    assert (wished, switched) == ([2], [])
    assert "image" in network.caption.said()


def test_pixels_do_not_run_into_each_other(network, look):
    half = np.array([[[1.0, 1.0], [-1.0, -1.0]]], np.float32)
    network.show_layers([LayerMaps("0 ReLU", half, crisp=True), LayerMaps("1", half, crisp=True)])
    pixels, box = look(network), network._boxes[0][0].toAlignedRect()
    column = pixels[box.top() + 4 : box.bottom() - 4, box.center().x(), :3].astype(int)
    colors = [heat.color(sign, 1, network.theme.dark) for sign in (-1, 1)]
    assert near(column[None], colors[0], 3) + near(column[None], colors[1], 3) >= len(column) - 1


def test_under_the_mouse_a_filter_has_its_weights(network, look, mouse):
    dark, plain = network.theme.dark, look(network)
    at = network._boxes[1][1].center()
    mouse(network).move(at.x(), at.y())
    orange = heat.color(-1, 1, dark)
    assert near(look(network), orange, 3) > near(plain, orange, 3) + 1000


def test_weights_have_one_scale_and_many_inputs_several_rows():
    theme = Theme.load("light")
    one = np.array([[[1.0]], [[-0.5]]], np.float32)
    box = QRectF(4, 4, 120, filters.filter_height(one, 120))
    pixels = painted(lambda painter: filters.draw_filter(painter, box, one, theme))
    assert near(pixels, heat.color(1, 1, False), 3) > 1000
    assert near(pixels, heat.color(-0.5, 1, False), 3) > 1000
    many = np.zeros((20, 3, 3), np.float32)
    assert filters.filter_height(many, 120) > filters.filter_height(many[:8], 120) > 0
    assert filters.filter_height(many, 120) == filters.filter_height(many[:17], 120)
    assert filters.filter_height(filters.filter_weights(None, 0), 120) == 0
    assert filters.filter_height(np.zeros((500, 3, 3), np.float32), 120) < 200
