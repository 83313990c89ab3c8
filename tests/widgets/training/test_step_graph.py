"""The graph of a step: its heading and its switches."""

from widgets.theme import Theme
from widgets.training.step_graph import LAYERS, StepGraph


def test_switches_set_the_layers_of_the_graph(qtbot):
    made = StepGraph()
    qtbot.addWidget(made)
    assert [made.layers[name].isChecked() for name in LAYERS] == [True, True, False]
    layers = made.graph._layers
    assert (layers.values, layers.gradients, layers.shapes) == (True, True, False)
    made.layers["Shapes"].click()
    assert made.graph._layers.shapes


def test_the_caption_stands_below_the_title(qtbot):
    made = StepGraph()
    qtbot.addWidget(made)
    made.set_theme(Theme.load("dark"))
    made.set_caption("step 3")
    assert made.caption.said() == "step 3"
