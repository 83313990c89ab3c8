import itertools

import pytest
from msgspec import structs
from PySide6.QtCore import Qt

from gradscribe.engine.protocol.messages import Checked
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.inspector.panes import check
from gradscribe.widgets.inspector.panes.check import CheckPane
from gradscribe.widgets.inspector.panes.rows import RowList
from tests.widgets.inspector.panes.programs import (
    FAN,
    NEURON,
    ODD,
    TRAIN,
    happened,
    named,
    page,
    taped,
)

WEIGHT = "w = torch.ones(2, 3, requires_grad=True)\n(w * w).sum().backward()\n"


def done(leaf, index=0, autograd=0.2071, numeric=0.2071, agrees=True, problem=""):
    return {(leaf.id, index): Checked(1, leaf.id, index, autograd, numeric, 1e-4, agrees, problem)}


@pytest.fixture
def pane(shown):
    return shown(CheckPane(), 260, 400)


def said(pane):
    return [label.said() for label in pane.findChildren(Label) if label.isVisible()]


@pytest.mark.parametrize(("eps", "text"), [(1e-4, "10⁻⁴"), (1e-3, "10⁻³"), (2e-3, "2.0·10⁻³")])
def test_the_size_of_the_nudge_is_written_as_a_power(eps, text):
    assert check.power_text(eps) == text


def test_a_leaf_with_a_gradient_can_be_checked(pane, qtbot):
    assert pane.show_page(page(NEURON, "b"))
    block = pane.blocks[0]
    assert block.button.text() == "Check by finite differences"
    with qtbot.waitSignal(pane.check_requested) as heard:
        block.button.click()
    assert heard.args == [named(taped(NEURON), "b").id, 0]


def test_an_op_offers_its_result_and_the_leaves_it_takes(pane, qtbot):
    assert pane.show_page(page(NEURON, "n", kind="op"))
    assert [block.isVisible() for block in pane.blocks] == [True, True, False]
    for block, name, words in zip(
        pane.blocks, ("n", "b"), ("Check by finite differences", "Check b"), strict=False
    ):
        assert block.button.text() == words
        with qtbot.waitSignal(pane.check_requested) as heard:
            qtbot.mouseClick(block.button, Qt.MouseButton.LeftButton)
        assert heard.args == [named(taped(NEURON), name).id, 0]


def test_elements_of_a_result_are_checked_in_one_go(pane, qtbot):
    source = "x = param([1.0, 2.0, 3.0])\ny = x * 2\n(y * y).sum().backward()\n"
    assert pane.show_page(page(source, "y", kind="op"))
    heard = []
    pane.check_requested.connect(lambda *asked: heard.append(asked))
    qtbot.mouseClick(pane.blocks[0].sampler, Qt.MouseButton.LeftButton)
    assert heard == [(named(taped(source), "y").id, at) for at in range(3)]


def test_what_explains_a_difference_is_said(pane):
    leaf = named(taped(NEURON), "b")
    found = structs.replace(
        done(leaf, numeric=0.4, agrees=False)[leaf.id, 0], note="Autograd does not follow line 3"
    )
    pane.show_page(page(NEURON, "b", checked={(leaf.id, 0): found}))
    assert "Autograd does not follow line 3" in said(pane)


def test_the_latest_event_offers_the_leaves_of_its_op():
    add = happened(taped(NEURON), "node", 3)
    assert [leaf.name for leaf in check.checkable_values(page(NEURON, position=add))] == ["b"]
    assert check.checkable_values(page(NEURON, position=0)) == []
    offered = check.checkable_values(page(FAN, "z", kind="op"))
    assert [value.name for value in offered] == ["z", "x", "y"]


def test_one_element_of_a_tensor_is_named_and_asked_for(pane, qtbot):
    pane.show_page(page(WEIGHT, "w", element=4))
    assert pane.blocks[0].button.accessibleName().startswith("Check the gradient of w[1, 1]")
    with qtbot.waitSignal(pane.check_requested) as heard:
        pane.blocks[0].button.click()
    assert heard.args[1] == 4
    pane.show_page(page(WEIGHT, "w", element=400))
    assert "w[0, 0]" in pane.blocks[0].button.accessibleName()


def test_agreement_is_told_with_the_number(pane):
    leaf = named(taped(NEURON), "b")
    pane.show_page(page(NEURON, "b", checked=done(leaf)))
    assert "✓ agrees" in said(pane)
    assert "Check by a small nudge of b (ε = 10⁻⁴)" in said(pane)
    rows = pane.blocks[0].findChild(RowList).lines()
    assert [(row.label, row.number) for row in rows] == [("ΔL/Δb", "0.2071")]
    assert not pane.blocks[0].button.isVisible()


def test_a_difference_is_told_with_both_numbers(pane):
    leaf = named(taped(NEURON), "b")
    pane.show_page(page(NEURON, "b", checked=done(leaf, numeric=0.4, agrees=False)))
    assert "✗ differs" in said(pane)
    assert "✓ agrees" not in said(pane)
    rows = pane.blocks[0].findChild(RowList).lines()
    assert [(row.label, row.number) for row in rows] == [("ΔL/Δb", "0.4000"), ("∂L/∂b", "0.2071")]


def test_a_check_that_was_not_possible_says_why_and_can_be_tried_again(pane):
    leaf = named(taped(NEURON), "b")
    pane.show_page(page(NEURON, "b", checked=done(leaf, problem="the program did not run again")))
    assert "Not possible for b: the program did not run again" in said(pane)
    assert pane.blocks[0].button.isVisible()


def test_while_it_is_checked_the_button_waits(pane):
    leaf = named(taped(NEURON), "b")
    pane.show_page(page(NEURON, "b", waiting=frozenset({("check", leaf.id, 0)})))
    assert pane.blocks[0].button.text() == "Checking…"
    assert not pane.blocks[0].button.isEnabled()


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        ("x = tensor(1.0)\ny = x * 2\n", "y", "does not require a gradient"),
        (NEURON, "x", "does not require a gradient"),
        (ODD, "tiny", "no gradient ever reaches it"),
        (ODD, "whole", "does not require a gradient"),
        ("e = torch.empty(0, requires_grad=True)\ne.sum().backward()\n", "e", "empty"),
    ],
)
def test_what_cannot_be_checked_says_why(pane, source, name, reason):
    assert pane.show_page(page(source, name))
    assert any(reason in text for text in said(pane))
    assert not any(block.isVisible() for block in pane.blocks)


def test_a_result_without_a_gradient_says_so_and_its_leaves_are_offered(pane):
    source = "x = param(1.0)\ny = x * 2\n(x * y.detach()).backward()\n"
    assert pane.show_page(page(source, "y"))
    assert any("no gradient ever" in text for text in said(pane))
    assert [b.button.text() for b in pane.blocks if b.isVisible()] == ["Check x"]


def test_nothing_selected_and_nothing_to_check_is_no_pane(pane):
    assert not pane.show_page(page(ODD))


def test_a_long_name_does_not_widen_the_pane(pane):
    name = "a_very_long_name_of_a_parameter_that_goes_on_and_on"
    source = f"{name} = param(1.0)\nq = {name} * 2\nq.backward()\n"
    pane.show_page(page(source, "q", kind="op"))
    assert pane.minimumSizeHint().width() < 200
    assert name in pane.blocks[1].button.accessibleName()


def test_parameters_of_a_module_can_be_checked():
    leaves = check.checkable_values(page(TRAIN, "net.0.weight"))
    assert [leaf.name for leaf in leaves] == ["net.0.weight"]


def test_several_elements_are_checked_in_one_go(pane):
    pane.show_page(page(WEIGHT, "w"))
    leaf, heard = named(taped(WEIGHT), "w"), []
    pane.check_requested.connect(lambda *asked: heard.append(asked))
    block = pane.blocks[0]
    assert block.sampler.text() == "Check all elements"
    block.sampler.click()
    assert heard == [(leaf.id, at) for at in range(6)]


@pytest.mark.parametrize(("wrong", "words"), [((), "✓ all"), ((2, 5), "✗ 2 of 6")])
def test_a_sample_tells_how_many_agree_and_which_do_not(pane, wrong, words):
    leaf = named(taped(WEIGHT), "w")
    outcomes = {}
    for at in range(6):
        outcomes |= done(leaf, at, agrees=at not in wrong)
    pane.show_page(page(WEIGHT, "w", checked=outcomes))
    summary = pane.blocks[0].summary.said()
    assert summary.startswith(words)
    assert not wrong or "number 2, 5" in summary
    assert not pane.blocks[0].sampler.isVisible()


def test_a_scalar_has_no_sample(pane):
    pane.show_page(page(NEURON, "b"))
    assert not pane.blocks[0].sampler.isVisible()


def test_a_big_tensor_is_sampled_evenly_from_end_to_end():
    chosen = check.sample_indices(1_000)
    assert (chosen[0], chosen[-1], len(chosen)) == (0, 999, check.SAMPLE_SIZE)
    steps = [b - a for a, b in itertools.pairwise(chosen)]
    assert max(steps) - min(steps) <= 1


def test_a_sample_that_cannot_be_checked_says_why():
    failed = Checked(1, 1, 0, 0, 0, 0, False, "too big")
    assert check.sample_summary([failed], [0], 9) == "Not possible: too big"


def test_a_complex_element_is_offered_and_told_with_both_parts(pane):
    source = "z = tensor([1j], requires_grad=True)\nz.abs().sum().backward()\n"
    leaf = named(taped(source), "z")
    assert pane.show_page(page(source, "z"))
    found = Checked(1, leaf.id, 0, 0.0, 0.0, 1e-2, True, imaginary=(1.0, 1.0))
    pane.show_page(page(source, "z", checked={(leaf.id, 0): found}))
    (row,) = pane.blocks[0].findChild(RowList).lines()
    assert row.number == "0.0000 + 1.0000i"


def test_elements_that_could_not_be_checked_can_be_asked_for_again(pane):
    leaf = named(taped(WEIGHT), "w")
    failed = {
        (leaf.id, at): Checked(1, leaf.id, at, 0, 0, 0, False, "Python ended") for at in range(6)
    }
    pane.show_page(page(WEIGHT, "w", checked=failed))
    assert "Not possible: Python ended" in pane.blocks[0].summary.said()
    assert pane.blocks[0].sampler.isVisible()


def test_what_coarse_differences_are_good_for_is_told(pane):
    leaf = named(taped(NEURON), "b")
    found = Checked(1, leaf.id, 0, 0.2, 0.3, 1e-1, True, tolerance=0.5)
    pane.show_page(page(NEURON, "b", checked={(leaf.id, 0): found}))
    assert "good to ±0.50" in pane.blocks[0].words.said()
