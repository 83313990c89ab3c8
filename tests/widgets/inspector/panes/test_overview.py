import pytest
from PySide6.QtWidgets import QPushButton

from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.inspector.panes.overview import OverviewPane
from gradscribe.widgets.inspector.panes.page import InspectorPage, Selection
from tests.widgets.inspector.panes.programs import FAN, NEURON, ODD, happened, page, taped


@pytest.fixture
def pane(shown):
    return shown(OverviewPane(), 260, 400)


def said(pane):
    return [label.said() for label in pane.findChildren(Label) if not label.isHidden()]


def test_a_scalar_is_shown_big(pane):
    assert pane.show_page(page(NEURON, "n"))
    assert "0.8814" in said(pane)


def test_a_gradient_is_shown_on_its_own_side(pane):
    pane.show_page(page(FAN, "x", side="gradient"))
    assert "64.0000" in said(pane)
    assert any("= 64" in text for text in said(pane))
    pane.show_page(page(FAN, "x"))
    assert "2.0000" in said(pane)
    assert not any("= 64" in text for text in said(pane))


def test_what_is_not_there_yet_shows_no_number(pane):
    pane.show_page(page(NEURON, "n", 2))
    assert "Not computed yet" in said(pane)
    assert not any(text.startswith("0") for text in said(pane))
    pane.show_page(page(NEURON, "b", happened(taped(NEURON), "backward"), side="gradient"))
    assert "Backward has not reached this yet" in said(pane)


@pytest.mark.parametrize(("name", "text"), [("tiny", "1.00e−30"), ("flag", "True")])
def test_odd_scalars_keep_their_numbers(pane, name, text):
    pane.show_page(page(ODD, name))
    assert text in said(pane)


def test_an_empty_tensor_says_so(pane):
    pane.show_page(page(ODD, "empty"))
    assert "Empty: 0 × 3 holds no numbers" in said(pane)


def test_a_literal_has_its_number_and_no_sides(pane):
    pane.show_page(InspectorPage(taped(FAN), 3, Selection("value", literal="0.5")))
    assert "0.5" in said(pane)
    assert pane.value_tab.parent().isHidden()


def test_the_sides_are_asked_for_by_click(pane, qtbot):
    pane.show_page(page(FAN, "x"))
    assert pane.value_tab.isChecked()
    with qtbot.waitSignal(pane.side_requested) as heard:
        pane.gradient_tab.click()
    assert heard.args == ["gradient"]
    pane.show_page(page(FAN, "x", side="gradient"))
    assert pane.gradient_tab.isChecked()


def test_every_leading_dimension_offers_its_indices(pane, qtbot):
    pane.show_page(page(ODD, "six", slices=(1, 2)))
    names = [w.accessibleName() for w in pane.findChildren(QPushButton)]
    for dim, size in enumerate((2, 3, 2, 4)):
        for at in range(size):
            assert f"Index {at} of dimension {dim}" in names
    chosen = [
        w.accessibleName()
        for w in pane.findChildren(QPushButton)
        if w.isChecked() and "dimension" in w.accessibleName()
    ]
    assert chosen[:2] == ["Index 1 of dimension 0", "Index 2 of dimension 1"]
    button = next(
        w for w in pane.findChildren(QPushButton) if w.accessibleName() == "Index 3 of dimension 3"
    )
    with qtbot.waitSignal(pane.slice_requested) as heard:
        button.click()
    assert heard.args == [3, 3]


def test_a_long_dimension_gets_a_spin_box(pane, qtbot):
    from PySide6.QtWidgets import QSpinBox

    pane.show_page(page("t = torch.zeros(9, 2, 3)", "t", slices=(4,)))
    spin = pane.findChild(QSpinBox)
    assert (spin.minimum(), spin.maximum(), spin.value()) == (0, 8, 4)
    with qtbot.waitSignal(pane.slice_requested) as heard:
        spin.setValue(7)
    assert heard.args == [0, 7]
    with qtbot.assertNotEmitted(pane.slice_requested):
        pane.show_page(page("t = torch.zeros(9, 2, 3)", "t", slices=(2,)))
    assert spin.value() == 2
