"""The start pane, for passes that start from a vector and for those that lack one."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from gradscribe.playback.code import root_edits
from gradscribe.widgets.inspector.panes.page import InspectorPage, ProgramState
from gradscribe.widgets.inspector.panes.start import StartPane
from tests.widgets.inspector.panes.programs import FAN, page

VECTOR = """
x = param([1.0, 2.0])
y = x ** 2
y.backward(gradient=tensor([1.0, 0.5]))
"""
FAILING = "x = param([1.0, 2.0])\ny = x ** 2\ny.backward()\n"
MESSAGE = root_edits.ERROR


def failed_page(source=FAILING, line=3):
    program = ProgramState(source, True, ("cpu",), MESSAGE, line)
    return InspectorPage(program=program)


def vector_page(source=VECTOR, name="y"):
    return replace(page(source, name), source=source, program=ProgramState(source, True))


@pytest.fixture
def pane(shown):
    made = shown(StartPane(), 300, 200)
    made.asked = []
    made.start_requested.connect(lambda *a: made.asked.append(a))
    return made


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_a_reduction_is_offered_for_a_vector(pane, qtbot, name):
    assert pane.refresh(failed_page())
    qtbot.mouseClick(getattr(pane, name), Qt.MouseButton.LeftButton)
    assert pane.asked == [(3, name, "")]


def test_the_vector_of_ones_is_proposed(pane, qtbot):
    pane.refresh(failed_page())
    assert pane.keyword.said() == "gradient="
    assert pane.vector.text() == "torch.ones_like(y)"
    qtbot.mouseClick(pane.use, Qt.MouseButton.LeftButton)
    assert pane.asked == [(3, "", "torch.ones_like(y)")]


def test_the_vector_of_a_pass_is_edited_in_place(pane, qtbot):
    assert pane.refresh(vector_page())
    assert pane.vector.text() == "tensor([1.0, 0.5])"
    assert pane.sum.isHidden() or pane.sum.parentWidget().isHidden()
    pane.vector.setText("tensor([0.0, 1.0])")
    qtbot.keyClick(pane.vector, Qt.Key.Key_Return)
    assert pane.asked == [(4, "", "tensor([0.0, 1.0])")]


def test_what_is_being_typed_stays_while_the_position_moves(pane):
    made = vector_page()
    pane.refresh(made)
    pane.vector.setText("tensor([9.0, ")
    pane.refresh(replace(made, position=made.position - 1))
    assert pane.vector.text() == "tensor([9.0, "


@pytest.mark.parametrize("text", ["", "1,\n", "tensor([1.0", "x = 3"])
def test_what_is_no_expression_is_said_at_the_field(pane, qtbot, text):
    pane.refresh(failed_page())
    pane.vector.setText(text)
    qtbot.mouseClick(pane.use, Qt.MouseButton.LeftButton)
    assert pane.asked == []
    assert pane.problem.said()
    assert not pane.problem.isHidden()


def test_without_a_selection_the_latest_pass_is_shown(pane):
    assert pane.refresh(replace(vector_page(), selection=None))
    assert not pane.refresh(replace(vector_page(), selection=None, position=1))


def test_it_is_hidden_elsewhere(pane):
    assert not pane.refresh(InspectorPage())
    assert not pane.refresh(vector_page(name="x")), "x is no root"
    assert not pane.refresh(vector_page(FAN, "loss")), "it starts from the number 1"
    old = replace(vector_page(), program=ProgramState(VECTOR + "#", True))
    assert not pane.refresh(old)
    other = ProgramState(FAILING, True, ("cpu",), "another error", 3)
    assert not pane.refresh(InspectorPage(program=other))
    foreign = ProgramState(FAILING, False, ("cpu",), MESSAGE, 3)
    assert not pane.refresh(InspectorPage(program=foreign))
