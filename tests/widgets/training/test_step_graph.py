"""The graph of a step: its heading and its switches."""

import pytest

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.training.step_graph import LAYERS, StepGraph
from tests.widgets.graph_window import show
from tests.widgets.scenes import neuron


def test_switches_set_the_layers_of_the_graph(qtbot):
    made = StepGraph()
    qtbot.addWidget(made)
    assert [made.layers[name].isChecked() for name in LAYERS] == [True, True, False]
    layers = made.graph.canvas.drawing.layers
    assert (layers.values, layers.gradients, layers.shapes) == (True, True, False)
    made.layers["Shapes"].click()
    assert made.graph.canvas.drawing.layers.shapes


def test_the_caption_stands_below_the_title(qtbot):
    made = StepGraph()
    qtbot.addWidget(made)
    made.set_theme(Theme.load("dark"))
    made.set_caption("step 3")
    assert made.caption.said() == "step 3"


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("width", [260, 300, 420, 700])
def test_switches_and_heading_are_whole_whatever_the_size_of_the_text(qtbot, scale, width):
    shown = StepGraph()
    qtbot.addWidget(shown)
    shown.set_theme(Theme.load("light").scaled(scale))
    shown.resize(width, 400)
    shown.grab()
    switch, heading = shown.layers["Values"], shown.heading
    beside = switch.mapTo(shown, switch.rect().topLeft()).x() > heading.geometry().right()
    under = switch.mapTo(shown, switch.rect().topLeft()).y() > heading.geometry().bottom()
    assert beside != under
    assert heading.width() >= heading.title_width()
    for one in shown.layers.values():
        assert one.width() >= one.sizeHint().width()


def test_what_is_in_sight_is_ready_before_it_is_painted(shown):
    made = shown(StepGraph(), 600, 400)
    show(made.graph, neuron())
    made.graph.finish_motion()
    made.grab()
    renders = made.graph.canvas.layer.renders
    made.set_theme(Theme.load("dark"))
    made.prepare()
    assert made.graph.canvas.layer.renders == renders + 1
    made.grab()
    assert made.graph.canvas.layer.renders == renders + 1
