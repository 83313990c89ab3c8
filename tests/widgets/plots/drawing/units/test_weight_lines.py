"""Weights as lines between the maps of units."""

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.units import weight_lines
from gradscribe.widgets.plots.drawing.units.unit_layout import column_boxes, grid_boxes
from gradscribe.widgets.plots.drawing.units.weight_lines import LayerWeights, WeightLine
from gradscribe.widgets.plots.views import unit_maps
from gradscribe.widgets.plots.views.unit_maps import LayerMaps, UnitMaps
from tests.widgets.pixels import near, painted

MAPS = np.zeros((3, 8, 8), np.float32)
WEIGHTS = np.array([[1.0, 0.0], [0.0, -2.0], [0.0, 0.0]], np.float32)


@pytest.fixture
def network(shown):
    plot = shown(UnitMaps(), 420, 300)
    names = ("x1", "x2", "x1*x2")
    made = LayerWeights(
        "0.weight", WEIGHTS, np.array([0.5, 0, 0], np.float32), (0, 1), 0.1 * WEIGHTS
    )
    plot.layers = [
        LayerMaps("inputs", MAPS, names, (True, True, False)),
        LayerMaps("0 Tanh", MAPS, wires=made),
    ]
    plot.show_layers(plot.layers)
    return plot


def middle(plot, unit, source):
    wire = next(one for one in plot._wires if (one.unit, one.source) == (unit, source))
    return wire.line.pointAt(0.5)


def test_each_weight_is_a_line_from_its_input_to_its_unit(network, look):
    look(network)
    assert len(network._wires) == 6
    for wire in network._wires:
        start, end = network._boxes[0][wire.source], network._boxes[1][wire.unit]
        assert start.right() < wire.line.x1() < wire.line.x2() < end.left()
        assert wire.weight == WEIGHTS[wire.unit, wire.at]
    assert {wire.source for wire in network._wires} == {0, 1}


def test_the_greater_weight_is_the_thicker_line(network, look):
    picture = look(network)
    dark = network.theme.dark
    negative = near(picture, heat.color(-1, 1, dark), 60)
    WEIGHTS_OFF = [LayerMaps(one.name, one.maps, one.names, one.on) for one in network.layers]
    network.show_layers(WEIGHTS_OFF)
    assert negative > near(look(network), heat.color(-1, 1, dark), 60)


def test_a_weight_under_the_mouse_is_told_and_can_be_changed(network, look, mouse, qtbot):
    look(network)
    at = middle(network, 1, 1)
    mouse(network).move(at.x(), at.y())
    before = look(network)
    told = []
    network.weighed.connect(lambda *what: told.append(what))
    mouse(network).press(at.x(), at.y())
    assert network.entry.isVisible()
    assert network.entry.text() == "-2"
    assert (look(network) != before).any(), "the bubble makes room for the entry"
    network.entry.setText("no number")
    qtbot.keyClick(network.entry, Qt.Key.Key_Return)
    assert told == []
    network.entry.setText("1,25")
    qtbot.keyClick(network.entry, Qt.Key.Key_Return)
    assert told == [("0.weight", 3, 1.25)]
    assert not network.entry.isVisible()


def test_an_entry_is_left_with_escape_and_by_a_click_beside_it(network, look, mouse, qtbot):
    look(network)
    told = []
    network.weighed.connect(lambda *what: told.append(what))
    at = middle(network, 1, 1)
    mouse(network).press(at.x(), at.y())
    qtbot.keyClick(network.entry, Qt.Key.Key_Escape)
    assert not network.entry.isVisible()
    mouse(network).press(at.x(), at.y())
    mouse(network).press(5, network.canvas.height() - 3)
    assert not network.entry.isVisible()
    assert told == []


def test_a_click_on_an_input_switches_it(network, look, mouse):
    look(network)
    names = []
    network.switched.connect(names.append)
    for column, unit in ((0, 2), (0, 0), (1, 1)):
        at = network._boxes[column][unit].center()
        mouse(network).press(at.x(), at.y())
    assert names == ["x1*x2", "x1"]


def test_the_wires_of_the_unit_under_the_mouse_stand_out(network, look, mouse):
    before = look(network)
    at = network._boxes[1][2].center()
    mouse(network).move(at.x(), at.y())
    faded = near(look(network), heat.color(-1, 1, network.theme.dark), 40)
    assert faded < near(before, heat.color(-1, 1, network.theme.dark), 40)


def test_units_over_one_input_are_drawn_as_curves(shown, look):
    plot = shown(UnitMaps(), 300, 200)
    curves = np.stack([np.linspace(0, 1, 40), np.full(40, np.nan)]).astype(np.float32)
    plot.show_layers([LayerMaps("0", curves)])
    assert near(look(plot), plot.theme.forward) > 20


def test_a_curve_between_the_greatest_numbers_stays_in_its_place(shown, look):
    plot = shown(UnitMaps(), 300, 200)
    most = float(np.finfo(np.float32).max)
    plot.show_layers(
        [LayerMaps("0", np.linspace(-most, most, 40, dtype=np.float64)[None].astype("f4"))]
    )
    steep = look(plot)
    plot.show_layers([LayerMaps("0", np.linspace(-1, 1, 40, dtype=np.float32)[None])])
    assert near(steep, plot.theme.forward) == near(look(plot), plot.theme.forward) > 20


def test_units_out_of_sight_are_not_drawn(shown, look, monkeypatch):
    plot, drawn = shown(UnitMaps(), 300, 190), []
    monkeypatch.setattr(plot, "_draw_map", lambda _painter, box, *_: drawn.append(box))
    plot.show_layers([LayerMaps("0", np.zeros((400, 8, 8), np.float32))])
    look(plot)
    assert 0 < len(drawn) < 200
    assert all(box.top() < 190 for box in drawn)


def test_inputs_in_several_columns_have_no_names_to_cover_each_other(shown, look, monkeypatch):
    plot, drawn = shown(UnitMaps(), 300, 190), []
    monkeypatch.setattr(plot, "_draw_input", lambda _painter, name, _box: drawn.append(name))
    names = ("x1", "x2", "x1*x2")
    many = np.zeros((40, 8, 8), np.float32)
    plot.show_layers([LayerMaps("inputs", MAPS, names, (True,) * 3), LayerMaps("0", many)])
    look(plot)
    assert drawn == []
    plot.show_layers([LayerMaps("inputs", MAPS, names, (True,) * 3), LayerMaps("0", MAPS)])
    look(plot)
    assert drawn == list(names)


def test_the_thickest_of_the_lines_close_by_is_meant():
    boxes = [[QRectF(0, 0, 10, 10)] * 2, [QRectF(100, 0, 10, 10)]]
    weights = np.array([[0.1, -3.0]], np.float32)
    made = weight_lines.weight_lines(
        1, LayerWeights("w", weights, np.zeros(0, np.float32), (0, 1)), boxes
    )
    assert weight_lines.line_at(made, QPointF(50, 7)).weight == -3.0
    assert weight_lines.line_at(made, QPointF(50, 30)) is None
    assert weight_lines.line_at([], QPointF()) is None


def test_weights_that_are_no_numbers_are_drawn(shown, look):
    plot = shown(UnitMaps(), 300, 200)
    bad = LayerWeights("w", np.full((3, 3), np.nan, np.float32), np.zeros(0, np.float32), (0, 1, 2))
    plot.show_layers([LayerMaps("0", MAPS), LayerMaps("2", MAPS, wires=bad)])
    look(plot)
    assert len(plot._wires) == 9


def test_layers_that_are_too_long_for_a_column_stand_in_several_without_lines():
    inner = QRectF(0, 0, 300, 200)
    columns = column_boxes([7, 4, 2, 1], inner)
    assert [len(column) for column in columns] == [7, 4, 2, 1]
    assert all(inner.contains(box) for column in columns for box in column)
    assert columns[3][0].left() > columns[2][0].right() + 20
    assert column_boxes([7, 64, 1], inner) == []
    boxes, high = grid_boxes([7, 64, 1], inner)
    assert len({box.left() for box in boxes[1]}) > 1
    assert high > 0


def test_why_no_units_are_shown_is_said_once_that_is_known(shown, look, monkeypatch):
    plot, said = shown(UnitMaps(), 300, 190), []
    monkeypatch.setattr(unit_maps, "draw_placeholder", lambda *given: said.append(given[-1]))
    look(plot)
    plot.show_layers([])
    look(plot)
    assert said == [
        "Nothing yet",
        "Units are shown for models on one or two features, or on images",
    ]


def test_wires_are_counted_as_they_are_made():
    boxes = column_boxes([3, 2], QRectF(0, 0, 300, 200))
    for sources in ((0, 1), (0, 7), (7, 9), (0, 1, 2)):
        made = LayerWeights("0.weight", WEIGHTS, np.zeros(3, np.float32), sources)
        assert weight_lines.count_lines(1, made, boxes) == len(
            weight_lines.weight_lines(1, made, boxes)
        )


def test_of_too_many_weights_no_wire_is_made(shown, look, monkeypatch):
    plot, made, wires_of = shown(UnitMaps(), 900, 900), [], weight_lines.weight_lines
    monkeypatch.setattr(
        weight_lines, "weight_lines", lambda *given: made.append(given) or wires_of(*given)
    )
    for units, count in ((25, 1), (26, 0)):
        weights = np.ones((units, units), np.float32)
        between = LayerWeights("0.weight", weights, np.zeros(0, np.float32), tuple(range(units)))
        maps = np.zeros((units, 8, 8), np.float32)
        plot.show_layers([LayerMaps("inputs", maps), LayerMaps("0 Tanh", maps, wires=between)])
        made.clear()
        look(plot)
        assert len(made) == count
        assert len(plot._wires) == count * units**2


def test_wires_that_share_a_pen_look_as_each_of_them_alone(qapp):
    theme = Theme.load("light")
    # The greatest sets the scale of all: it is there each time, away from where one looks.
    weights = [4.0, -3.0, 2.0, np.nan, -1.0, 0.5, -np.inf, 0.0]
    made = [
        WeightLine(1, at, 0, at, weight, QLineF(5, 10 + 14 * at, 200, 10 + 14 * at))
        for at, weight in enumerate(weights)
    ]
    together = painted(lambda painter: weight_lines.draw_lines(painter, made, theme))
    for at, one in enumerate(made):
        two = [made[0], one][: 1 + (at > 0)]
        alone = painted(lambda painter, two=two: weight_lines.draw_lines(painter, two, theme))
        rows = slice(4 + 14 * at, 17 + 14 * at)
        assert (together[rows] == alone[rows]).all()
        # Dashed where negative, else one colour from end to end.
        assert (np.ptp(together[10 + 14 * at, 20:180], axis=0).max() > 8) == (one.weight < 0)


def test_a_layer_that_takes_less_than_its_sources_has_a_wire_for_each_weight():
    boxes = [[QRectF(0, 20 * at, 10, 10) for at in range(3)], [QRectF(50, 0, 10, 10)]]
    # The second source stands nowhere, the fourth has no weight.
    made = LayerWeights("w", np.array([[1.0, 2.0, 3.0]], np.float32), np.zeros(1), (2, 7, 0, 1))
    found = weight_lines.weight_lines(1, made, boxes)
    assert [(one.source, one.at, one.weight) for one in found] == [(2, 0, 1.0), (0, 2, 3.0)]
    assert len(found) == weight_lines.count_lines(1, made, boxes)
