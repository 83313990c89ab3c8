"""The ways pane: the chain rule in rows, found elsewhere and shown when it comes."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.engine.run.run import record
from gradscribe.playback.flow.ways import ways
from gradscribe.playback.tape.index import index_of
from gradscribe.widgets.inspector.panes.page import InspectorPage, Selection, TensorVersions
from gradscribe.widgets.inspector.panes.rows import RowContent
from gradscribe.widgets.inspector.panes.ways import WaysPane
from tests.widgets.inspector.panes.programs import FAN


@pytest.fixture
def pane(shown):
    made = shown(WaysPane(), 260, 500)
    made.asked = []
    made.ways_requested.connect(made.asked.append)
    return made


def page_of(source, name, serial=1):
    tape = record(source)
    value = next(v.id for v in tape.values if v.name == name)
    chosen = Selection("parameter", value)
    position, versions = len(tape.events), TensorVersions.of(tape)
    return InspectorPage(tape, position, chosen, versions=versions, serial=serial)


def answer(pane, page):
    """Give the pane what it asked for last."""
    value = pane.asked[-1]
    pane.set_ways(value, ways(index_of(page.tape), value))


def said(pane):
    return [tuple(line[:3]) for line in pane._rows.lines()]


def test_nothing_is_asked_before_the_pane_is_opened(pane):
    assert pane.show_page(page_of(FAN, "x"))
    assert pane.asked == []
    assert pane.next_button.isHidden()


@pytest.mark.checklist(211)
def test_the_rows_are_products_and_their_sum(pane):
    page = page_of(FAN, "x")
    pane.show_page(page)
    QTest.keyClick(pane.open_button, Qt.Key.Key_Space)
    assert said(pane) == []
    answer(pane, page)
    assert said(pane) == [
        ("", "mul 3 · add 1 · pow 16", "= 48"),
        ("", "add 1 · pow 16", "= 16"),
        ("Sum", "= x.grad", "64"),
    ]
    pane.show_page(page)
    assert len(pane.asked) == 1


def test_an_answer_for_another_page_is_dropped(pane):
    old, new = page_of(FAN, "x"), page_of(FAN, "y", 2)
    pane.show_page(old)
    pane.open()
    pane.show_page(new)
    late = pane.asked[0]
    pane.set_ways(late, ways(index_of(old.tape), late))
    assert said(pane) == []
    answer(pane, new)
    assert said(pane)[-1] == ("Sum", "= y.grad", "32")


def test_tensors_have_norms_that_are_checked(pane):
    source = (
        "w = torch.tensor([3.0, 4.0], requires_grad=True)\n(w.sum() * 2 + (w * 1).sum()).backward()"
    )
    page = page_of(source, "w")
    pane.show_page(page)
    pane.open()
    answer(pane, page)
    rows = said(pane)
    # The shares are [2, 2] and [1, 1], the gradient is [3, 3].
    assert [row[2] for row in rows] == ["∇ 2.8284", "∇ 1.4142", "∇ 4.2426"]
    assert rows[-1][:2] == ("Sum", "added element by element = w.grad")


def test_a_tensor_that_is_no_leaf_is_not_said_to_have_grad(pane):
    page = page_of(FAN, "z")
    pane.show_page(page)
    pane.open()
    answer(pane, page)
    assert "retain_grad" in said(pane)[-1][1]


def test_a_changed_gradient_is_a_warning(pane):
    source = "x = param(3.0)\nx.register_hook(lambda g: g * 10)\n(x * x).backward()"
    page = page_of(source, "x")
    pane.show_page(page)
    pane.open()
    answer(pane, page)
    last = pane._rows.lines()[-1]
    assert isinstance(last, RowContent)
    assert (last.tone, last.number) == ("warning", "6")
    assert "60" in last.text


def test_the_buttons_turn_to_the_next_and_the_previous_way(pane, qtbot):
    page = page_of(FAN, "x")
    pane.show_page(page)
    pane.open()
    answer(pane, page)
    turns = []
    pane.way_requested.connect(turns.append)
    qtbot.mouseClick(pane.next_button, Qt.MouseButton.LeftButton)
    QTest.keyClick(pane.back_button, Qt.Key.Key_Space)
    assert turns == [1, -1]
    assert pane.next_button.accessibleName() == "Next way on the graph"
