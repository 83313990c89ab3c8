"""The outcome of gradcheck: which entry, by how much, both Jacobians where they are small."""

import pytest

from gradscribe.engine.protocol.messages import Gradchecked, JacobianPair
from gradscribe.widgets.inspector.panes import gradcheck
from gradscribe.widgets.inspector.panes.check import CheckPane
from gradscribe.widgets.inspector.panes.rows import RowList
from tests.widgets.inspector.panes.programs import NEURON, page, taped

CUSTOM = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, g):
        return g
x = param([1.0, 2.0])
y = Twice.apply(x)
loss = y.sum()
loss.backward()
"""
WRONG = JacobianPair(
    0, 0, (1,), (1,), 1.0, 2.0, 4, 2, ((1.0, 0.0), (0.0, 1.0)), ((2.0, 0.0), (0.0, 2.0))
)
RIGHT = JacobianPair(0, 0, (0,), (0,), 2.0, 2.0, 4, 0, ((2.0,),), ((2.0,),))


@pytest.fixture
def block(shown):
    return shown(CheckPane(), 260, 500).gradcheck


def number() -> int:
    return next(i for i, op in enumerate(taped(CUSTOM).ops) if op.op == "Twice")


def looked(block, **fields) -> None:
    block.parentWidget().show_page(page(CUSTOM, "y", kind="op", **fields))


def test_only_a_custom_function_offers_gradcheck(block):
    looked(block)
    assert block.isVisible()
    assert block.button.text() == "Check Twice with gradcheck"
    block.parentWidget().show_page(page(NEURON, "n", kind="op"))
    assert not block.isVisible()


def test_the_latest_event_offers_it_as_well():
    tape = taped(CUSTOM)
    at = [i for i, event in enumerate(tape.events, 1) if event.kind == "op"]
    assert gradcheck.custom_op(page(CUSTOM, position=at[0])) == number()
    assert gradcheck.custom_op(page(CUSTOM, position=at[1])) is None
    assert gradcheck.custom_op(page(CUSTOM, position=0)) is None


def test_a_click_asks_for_it_and_waits(block, qtbot):
    looked(block)
    with qtbot.waitSignal(block.parentWidget().gradcheck_requested) as heard:
        block.button.click()
    assert heard.args == [number()]
    looked(block, waiting=frozenset({("gradcheck", number(), 0)}))
    assert (block.button.text(), block.button.isEnabled()) == ("Checking…", False)


def test_a_wrong_entry_is_told_with_its_place_and_both_matrices(block):
    done = Gradchecked(1, number(), "Twice", "float64", 1e-6, False, (WRONG,))
    looked(block, gradchecked={number(): done})
    assert block.bad.isVisible()
    assert "2 of 4 entries of the Jacobian differ" in block.words.said()
    assert "step 1e−6" in block.words.said()
    rows = block.findChild(RowList).lines()
    assert [(row.label, row.text, row.number) for row in rows] == [
        ("∂y[1]/∂x[1]", "by differences", "2.0000"),
        ("", "by backward", "1.0000"),
    ]
    text = block.matrices.said().split("\n")
    assert text[0] == "by backward"
    assert [row.split() for row in text[1:3]] == [["1.000✗", "0.000"], ["0.000", "1.000✗"]]
    assert block.note.said() == "Where they differ, the differences are 2 times what backward sends"
    assert not block.button.isVisible()


def test_agreement_is_told_in_a_line(block):
    done = Gradchecked(1, number(), "Twice", "float64", 1e-6, True, (RIGHT,))
    looked(block, gradchecked={number(): done})
    assert block.good.isVisible()
    assert not block.bad.isVisible()
    assert block.words.said().endswith("4 entries of the Jacobian agree")
    assert not block.matrices.isVisible()


def test_what_was_not_possible_can_be_tried_again(block):
    looked(block, gradchecked={number(): Gradchecked(1, number(), "Twice", problem="it raised")})
    assert block.words.said() == "Not possible: it raised"
    assert block.button.isVisible()


def test_entries_that_differ_by_no_one_factor_name_none():
    pair = JacobianPair(0, 0, (0,), (0,), 0.0, 1.0, 1, 1, ((0.0, 5.0),), ((1.0, 7.0),))
    done = Gradchecked(1, 0, "F", "float64", 1e-6, False, (pair,))
    assert gradcheck._note(done).startswith("At a kink")
