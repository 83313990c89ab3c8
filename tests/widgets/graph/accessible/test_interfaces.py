"""The graph as assistive technology reads it: from Qt's own interfaces, without a bus."""

import gc
import subprocess
import sys
import weakref

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QPushButton

from gradscribe.playback.graph.picture import Look
from gradscribe.widgets.graph.accessible import interfaces
from gradscribe.widgets.graph.view import GraphView
from tests.widgets.graph_window import press, show
from tests.widgets.scenes import Maker, grid, network, neuron

NAME, DESCRIPTION = QAccessible.Text.Name, QAccessible.Text.Description
FLOWS_ON, COMES_FROM = interfaces.TO_TARGET, interfaces.TO_SOURCE


@pytest.fixture
def listening():
    """Let Qt believe that assistive technology listens."""
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


def of(view):
    return QAccessible.queryAccessibleInterface(view)


def names(view):
    graph = of(view)
    return [graph.child(at).text(NAME) for at in range(graph.childCount())]


def child(view, key):
    return of(view).child(view.accessible.index(key))


def test_cards_are_children_in_order_of_execution_and_wires_follow(view):
    m = show(view, neuron())
    graph = of(view)
    assert graph.role() == QAccessible.Role.List
    assert graph.text(NAME) == "Computation graph"
    assert graph.childCount() == len(m.cards) + len(m.wires)
    told = names(view)
    assert told[:2] == ["x1, value 2.0", "w1, value −3.0"]
    assert told[view.accessible.index("n")] == "add, n, value 0.8814, gradient 0.2071"
    assert told[view.accessible.index("b>n:1")] == "from b to n, gradient back × 1"


def test_a_card_says_its_state_and_its_place_on_the_screen(view):
    show(view, network())
    module, plain = child(view, "2"), child(view, "x")
    assert module.role() == QAccessible.Role.ListItem
    assert module.state().expandable
    assert module.state().collapsed
    assert not plain.state().expandable
    assert plain.text(NAME) == "x, shape 16 by 2"
    assert child(view, "loss").text(NAME).startswith("bce_with_logits, loss, not reached yet")
    box = view.camera().box_to_view(view.stage().boxes["x"])
    middle = view.mapToGlobal(box.center().toPoint())
    assert plain.rect().contains(middle)
    assert of(view).childAt(middle.x(), middle.y()) is plain
    assert of(view).childAt(-9999, -9999) is None


def test_buttons_on_top_of_the_graph_are_children_after_the_wires(view):
    m = show(view, neuron())
    box = view.camera().box_to_view(view.stage().boxes["n"]).toAlignedRect()
    button, hidden = QPushButton("Fit", view), QPushButton("Expand all", view)
    button.setGeometry(box)
    button.show()
    hidden.hide()
    graph = of(view)
    assert graph.childCount() == len(m.cards) + len(m.wires) + 1
    last = graph.child(graph.childCount() - 1)
    assert (last.role(), last.text(NAME)) == (QAccessible.Role.Button, "Fit")
    assert graph.indexOfChild(last) == graph.childCount() - 1
    assert graph.child(graph.childCount()) is None
    middle = view.mapToGlobal(box.center())
    assert graph.childAt(middle.x(), middle.y()).object() is button
    button.setFocus()
    assert graph.focusChild().object() is button
    hidden.show()
    assert graph.childCount() == len(m.cards) + len(m.wires) + 2


def test_relations_follow_the_wires(view):
    show(view, neuron())
    ways = {(way, node.key) for node, way in child(view, "n").relations()}
    assert ways == {(FLOWS_ON, "o"), (COMES_FROM, "s"), (COMES_FROM, "b")}
    assert [n.key for n, _ in child(view, "n").relations(FLOWS_ON)] == ["o"]
    wire = {(way, node.key) for node, way in child(view, "b>n:1").relations()}
    assert wire == {(FLOWS_ON, "n"), (COMES_FROM, "b")}


def test_the_names_are_those_of_the_position(view):
    show(view, neuron())
    node = child(view, "n")
    view.set_look(Look({}, {}))
    assert node.text(NAME) == "add, n, not reached yet"


def test_nothing_is_made_before_it_is_asked_for(view):
    m = grid(500)
    show(view, (m, m.reached()))
    graph = of(view)
    assert graph.childCount() == 500 + len(m.wires)
    assert view.accessible.made() == ()
    graph.child(3)
    assert len(view.accessible.made()) == 1


def test_an_item_that_leaves_the_graph_is_withdrawn_and_others_stay(view, qtbot, listening):
    show(view, neuron())
    stays, goes = child(view, "b"), child(view, "n")
    m = Maker()
    m.card("b", "parameter", "b", (0, 0), 3.0)
    show(view, (m, m.reached()), animate=False)
    assert not goes.isValid()
    qtbot.waitUntil(lambda: not shiboken6.isValid(goes))
    assert child(view, "b") is stays
    assert stays.text(NAME) == "b, value 3.0"
    assert names(view) == ["b, value 3.0"]


def test_the_focus_is_on_the_selected_card_and_moves_along_the_wires(view, qtbot, monkeypatch):
    show(view, neuron())
    heard = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(
        QAccessible, "updateAccessibility", lambda e: heard.append((e.type(), e.child()))
    )
    view.activateWindow()
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    view.select("s")
    view.picked.connect(lambda key: view.select(key))
    press(view, Qt.Key.Key_Down)
    assert view.selected() == "n"
    assert heard[-1] == (QAccessible.Event.Focus, view.accessible.index("n"))
    assert of(view).focusChild().key == "n"
    assert child(view, "n").state().focused
    assert not child(view, "s").state().focused
    press(view, Qt.Key.Key_Escape)
    assert heard[-1] == (QAccessible.Event.Focus, -1)
    assert of(view).focusChild() is None


def test_actions_select_fold_and_open_the_menu(view):
    show(view, network())
    picked, toggled, menus = [], [], []
    view.picked.connect(picked.append)
    view.toggled.connect(toggled.append)
    view.menu_requested.connect(lambda kind, at: menus.append((kind, view.mapFromGlobal(at))))
    actions = child(view, "2").actionInterface()
    assert actions.actionNames() == [interfaces.PRESS, interfaces.TOGGLE, interfaces.MENU]
    for name in actions.actionNames():
        actions.doAction(name)
    assert picked == ["2", "2"]
    assert toggled == ["2"]
    at = view.camera().to_view(view.stage().boxes["2"].center())
    assert menus == [("module", at.toPoint())] or QPointF(menus[0][1] - at.toPoint()).y() <= 1
    assert child(view, "x").actionInterface().actionNames() == [interfaces.PRESS, interfaces.MENU]


def test_a_graph_that_is_gone_leaves_no_interface(qtbot):
    view = GraphView()
    show(view, neuron())
    nodes = [of(view).child(at) for at in range(of(view).childCount())]
    known, gone = dict(interfaces._REGISTERED), weakref.ref(view)
    view.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not any(shiboken6.isValid(node) for node in nodes)
    del view
    gc.collect()
    assert gone() is None
    assert len(interfaces._REGISTERED) == len(known) - 1


def test_nothing_is_reported_while_nobody_listens(view, monkeypatch):
    calls = []
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: calls.append(event))
    show(view, neuron())
    view.setFocus()
    view.select("n")
    QApplication.processEvents()
    assert [e for e in calls if e.type() == QAccessible.Event.ObjectReorder] == []


END = """
import sys, os
from PySide6.QtWidgets import QApplication
from PySide6.QtGui import QAccessible
from gradscribe.widgets.graph.view import GraphView
from tests.widgets.graph_window import show
from tests.widgets.scenes import neuron
app = QApplication([])
view = GraphView(); view.show(); show(view, neuron())
graph = QAccessible.queryAccessibleInterface(view)
nodes = [graph.child(at) for at in range(graph.childCount())]
relations = [node.relations() for node in nodes]
QAccessible.setActive(True)
show(view, neuron())
for node in nodes:
    node.valueInterface(), node.textInterface(), node.tableCellInterface(), node.state()
    node.selectionInterface(), node.editableTextInterface(), node.attributesInterface()
print(len(nodes), nodes[-1].actionInterface().actionNames())
"""


def test_a_program_that_ends_with_interfaces_in_use_ends_well():
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", END],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
