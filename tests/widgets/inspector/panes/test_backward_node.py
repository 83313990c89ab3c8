"""The backward node pane: next functions as links, the order of the pass, visits."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.engine.run.run import record
from gradscribe.widgets.inspector.panes.backward_node import MAX_ENTRIES, BackwardNodePane
from gradscribe.widgets.inspector.panes.page import InspectorPage, Selection, TensorVersions
from tests.widgets.inspector.panes.programs import FAN


@pytest.fixture
def pane(shown):
    made = shown(BackwardNodePane(), 260, 300)
    made.asked = []
    made.node_requested.connect(made.asked.append)
    return made


def page_of(source, name, position=None):
    tape = record(source)
    value = next(v for v in reversed(tape.values) if v.name == name)
    chosen = Selection("op", value.id, None)
    at = len(tape.events) if position is None else position
    return InspectorPage(tape, at, chosen, versions=TensorVersions.of(tape)), tape


def test_the_entries_are_links_to_the_node_and_the_leaf(pane):
    page, tape = page_of(FAN, "w")
    assert pane.show_page(page)
    assert pane._title.said() == "AddBackward0.next_functions"
    assert [link.text() for link in pane.links] == [
        "0  MulBackward0 of z",
        "1  AccumulateGrad of x",
    ]
    for link in pane.links:
        link.setFocus()
        QTest.keyClick(link, Qt.Key.Key_Space)
    z = next(v for v in tape.values if v.name == "z")
    x = next(v for v in tape.values if v.name == "x")
    assert pane.asked == [z.node, x.id]


@pytest.mark.checklist(97, 168)
def test_it_counts_the_visits_up_to_the_position(pane):
    page, _ = page_of(FAN, "z")
    assert pane.show_page(page)
    # PowBackward0, AddBackward0, MulBackward0
    assert pane._order.said() == "Ran as number 3 of 3 nodes in Backward, 1 visit so far"
    page, _ = page_of(FAN, "z", position=3)
    assert pane.show_page(page)
    assert pane._order.said() == "Not visited yet"


def test_an_operand_without_gradient_is_no_link(pane):
    page, _ = page_of("x = param(2.0)\ny = tensor(3.0) * x\ny.backward()", "y")
    assert pane.show_page(page)
    assert [link.text() for link in pane.links] == ["1  AccumulateGrad of x"]


@pytest.mark.parametrize("name", ["x", "plain"])
def test_leaves_and_untracked_tensors_have_no_node(pane, name):
    page, _ = page_of(FAN + "plain = torch.ones(2) * 2\n", name)
    assert not pane.show_page(page)


def test_a_node_with_hundreds_of_next_functions_lists_the_first(pane):
    source = "x = param([1.0])\nbig = torch.cat([x * i for i in range(300)]).sum()"
    source += "\nbig.backward()"
    whole = source.replace(".sum()", "")
    page, _ = page_of(whole.replace("big.backward()", "big.sum().backward()"), "big")
    assert pane.show_page(page)
    assert len(pane.links) == MAX_ENTRIES
