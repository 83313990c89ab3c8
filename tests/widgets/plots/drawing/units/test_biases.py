"""The biases of units as squares beside their maps."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.units import biases
from gradscribe.widgets.plots.drawing.units.weight_lines import LayerWeights
from gradscribe.widgets.plots.views.unit_maps import LayerMaps, UnitMaps
from tests.widgets.pixels import near, painted

MAPS = np.zeros((2, 8, 8), np.float32)
BIAS = np.array([0.5, -3.0], np.float32)
WEIGHTS = np.ones((2, 2), np.float32)
MADE = LayerWeights("0.weight", WEIGHTS, BIAS, (0, 1), WEIGHTS, "0.bias", np.array([0.25, 2], "f4"))


@pytest.fixture
def network(shown, look):
    plot = shown(UnitMaps(), 420, 300)
    names = ("x1", "x2")
    plot.show_layers(
        [LayerMaps("inputs", MAPS, names, (True, True)), LayerMaps("0 Tanh", MAPS, wires=MADE)]
    )
    look(plot)
    return plot


def test_each_unit_has_its_bias_beside_its_map(network):
    assert [(one.column, one.unit, one.number) for one in network._biases] == [
        (1, 0, 0.5),
        (1, 1, -3.0),
    ]
    for one, box in zip(network._biases, network._boxes[1], strict=True):
        assert one.box.right() < box.left()
        assert box.top() < one.box.top()
        assert one.box.bottom() == pytest.approx(box.bottom())


@pytest.mark.parametrize("theme", [Theme.load("light"), Theme.load("dark")], ids=lambda t: t.name)
def test_a_bias_is_blue_above_zero_and_orange_below(qapp, theme):
    box = QRectF(20, 20, 40, 40)
    for number, sign in ((2.0, 1), (-2.0, -1)):
        one = biases.BiasSquare(1, 0, number, box)
        pixels = painted(
            lambda painter, one=one: biases.draw_biases(painter, [one], theme), (80, 80)
        )
        assert near(pixels, heat.color(sign, 1, theme.dark), 2) > 1000


def test_a_small_bias_is_pale_and_one_that_is_no_number_is_drawn(qapp):
    theme, box = Theme.load("light"), QRectF(20, 20, 40, 40)
    for number in (0.0, float("nan"), float("inf")):
        one = biases.BiasSquare(1, 0, number, box)
        pixels = painted(
            lambda painter, one=one: biases.draw_biases(painter, [one], theme), (80, 80)
        )
        assert near(pixels, heat.color(0, 1, theme.dark), 2) > 1000


def test_a_bias_under_the_mouse_is_told_and_can_be_changed(network, look, mouse, qtbot):
    told = []
    network.weighed.connect(lambda *what: told.append(what))
    before = look(network)
    at = network._biases[1].box.center()
    mouse(network).move(at.x(), at.y())
    assert (look(network) != before).any()
    mouse(network).press(at.x(), at.y())
    assert network.entry.isVisible()
    assert network.entry.text() == "-3"
    network.entry.setText("0.75")
    qtbot.keyClick(network.entry, Qt.Key.Key_Return)
    assert told == [("0.bias", 1, 0.75)]


def test_the_mouse_beside_a_bias_means_none():
    boxes = [[QRectF(0, 0, 20, 20)], [QRectF(60, 0, 20, 20), QRectF(60, 30, 20, 20)]]
    made = biases.biases_of(1, MADE, boxes)
    assert biases.bias_at(made, made[0].box.center()) == made[0]
    assert biases.bias_at(made, QPointF(30, 10)) is None
    assert biases.bias_at([], QPointF(0, 0)) is None


def test_a_layer_without_biases_has_none():
    bare = LayerWeights("0.weight", WEIGHTS, np.zeros(0, np.float32), (0, 1))
    assert biases.biases_of(1, bare, [[], [QRectF(0, 0, 9, 9)] * 2]) == []
