"""Places of the maps of units, and of the large output with the data on it."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.colors import class_color
from gradscribe.widgets.plots.drawing.points import PlanePoints
from gradscribe.widgets.plots.drawing.units.unit_curve import draw_unit_curve
from gradscribe.widgets.plots.drawing.units.unit_layout import OUTPUT_LEAST, output_boxes
from gradscribe.widgets.plots.drawing.units.weight_lines import LayerWeights
from gradscribe.widgets.plots.views.unit_maps import LayerMaps, UnitMaps
from tests.widgets.pixels import near, painted

NET = ((7, 4, 2, 1), (2, 1), (7, 8, 8, 8, 8, 8, 8, 1))


@pytest.mark.parametrize("counts", NET)
def test_one_output_is_large_where_there_is_room(counts):
    inner = QRectF(60, 2, 640, 320)
    boxes = output_boxes(counts, inner)
    assert [len(column) for column in boxes] == list(counts)
    assert all(inner.contains(box) for column in boxes for box in column)
    output = boxes[-1][0]
    assert output.width() == output.height() >= OUTPUT_LEAST
    assert all(box.right() + 10 < output.left() for column in boxes[:-1] for box in column)
    sides = {box.width() for column in boxes[:-1] for box in column}
    assert max(sides) < output.width()


@pytest.mark.parametrize(
    ("counts", "size"),
    [((7, 4, 2, 3), (640, 320)), ((1,), (640, 320)), ((7, 4, 1), (200, 320)), ((7, 1), (640, 90))],
)
def test_several_outputs_or_a_small_place_have_none(counts, size):
    assert output_boxes(counts, QRectF(0, 0, *size)) == []


INPUTS = np.stack([np.full((8, 8), 0.2), np.full((8, 8), -0.2)]).astype(np.float32)
OUTPUT = np.full((1, 8, 8), 0.01, np.float32)
BETWEEN = LayerWeights("0.weight", np.ones((1, 2), np.float32), np.zeros(1, np.float32), (0, 1))


@pytest.fixture
def network(shown):
    plot = shown(UnitMaps(), 640, 320)
    inputs = LayerMaps("inputs", INPUTS, ("x1", "x2"), (True, True), domain=(-1.0, -1.0, 1.0, 1.0))
    plot.show_layers([inputs, LayerMaps("0 Linear", OUTPUT, wires=BETWEEN)])
    return plot


def test_the_data_stand_on_the_output(network, look):
    blue = class_color(1, network.theme.dark)
    before = near(look(network), blue, 4)
    some = np.linspace(-0.9, 0.9, 10)
    network.show_points(PlanePoints(some, some, kinds=np.ones(10, np.intp)))
    assert near(look(network), blue, 4) > before + 100


def test_the_output_makes_room_for_the_unit_under_the_mouse(network, look, mouse):
    look(network)
    large, small = network._output, network._boxes[0][1]
    inside = (slice(int(large.top()) + 9, int(large.bottom()) - 9),
              slice(int(large.left()) + 9, int(large.right()) - 9))  # fmt: skip
    before = look(network)[inside]
    mouse(network).move(small.center().x(), small.center().y())
    said = look(network)[inside]
    # An input below zero is orange all over: more red than blue, where the output is blue.
    assert before[..., 2].mean() > before[..., 0].mean()
    assert said[..., 0].mean() > said[..., 2].mean()
    mouse(network).leave()
    assert (look(network)[inside] == before).all()


def test_an_output_that_is_not_finite_is_drawn(network, look):
    bad = LayerMaps("0 Linear", np.full((1, 8, 8), np.nan, np.float32), wires=BETWEEN)
    most = np.full((1, 8, 8), np.finfo(np.float32).max, np.float32)
    most[0, ::2] *= -1
    for last in (bad, LayerMaps("0 Linear", most, wires=BETWEEN)):
        network.show_layers([network._layers[0], last])
        look(network)
        assert network._output is not None


def test_a_flat_curve_lies_in_the_middle(qapp):
    theme, box = Theme.load("light"), QRectF(10, 10, 60, 40)

    def drawn(number):
        numbers = np.full(20, number, np.float32)
        return painted(lambda painter: draw_unit_curve(painter, box, numbers, theme), (80, 60))

    rows, columns = np.nonzero((drawn(3.0) != drawn(np.nan)).any(axis=-1))
    assert 28 <= rows.min() <= rows.max() <= 31
    assert columns.max() - columns.min() > 50


def test_wires_flow_only_while_it_learns(network, look):
    layers = list(network._layers)
    still = look(network)
    network.show_layers(layers)
    assert (look(network) == still).all()
    network.set_animated(True)
    first = look(network)
    network.show_layers(layers)
    assert (look(network) != first).any()
    network.set_animated(False)
    assert (look(network) == still).all()
