"""Switches of a plot in a narrow panel: in a menu instead of cut off."""

from PySide6.QtWidgets import QMenu, QPushButton

from gradscribe.widgets.plots.views.boundary import BoundaryPlot
from gradscribe.widgets.training.step_graph import StepGraph


def test_switches_without_space_are_in_a_menu_and_come_back(shown, qtbot):
    plot = shown(BoundaryPlot(), 500, 300)
    switches = [plot.held_back, plot.discrete]
    assert all(one.width() >= one.sizeHint().width() for one in switches)
    plot.resize(150, 300)
    qtbot.waitUntil(lambda: all(one.width() == 0 for one in switches))
    (more,) = [one for one in plot.findChildren(QPushButton) if one.text() == "Show"]
    assert more.isVisible()
    before = plot.discrete.isChecked()
    menu = plot._switches.menu()
    assert isinstance(menu, QMenu)
    entries = {action.text(): action for action in menu.actions()}
    assert entries["Validation"].isChecked() is plot.held_back.isChecked()
    entries["Discrete"].trigger()
    menu.close()
    assert plot.discrete.isChecked() is not before
    plot.resize(500, 300)
    qtbot.waitUntil(lambda: all(one.width() >= one.sizeHint().width() for one in switches))
    assert not more.isVisible()


def test_the_layers_of_a_narrow_graph_are_in_a_menu(shown):
    graph = shown(StepGraph(), 600, 300)
    assert all(one.width() >= one.sizeHint().width() for one in graph.layers.values())
    graph.resize(160, 300)
    assert all(one.maximumWidth() == 0 for one in graph.layers.values())
    graph.resize(600, 300)
    assert all(one.maximumWidth() > 0 for one in graph.layers.values())
