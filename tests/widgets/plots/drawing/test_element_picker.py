"""An element of a parameter, chosen by name and index."""

import numpy as np
import pytest

from gradscribe.engine.protocol.training import Parameter
from gradscribe.widgets.plots.drawing.element_picker import ElementPicker, is_valid_index, unravel

PARAMETERS = (
    Parameter("0.weight", (3, 2), 0),
    Parameter("0.bias", (3,), 6),
    Parameter("scale", (), 9),
)


@pytest.fixture
def pick(qtbot):
    made = ElementPicker("Across")
    qtbot.addWidget(made)
    made.set_parameters(PARAMETERS, 1)
    made.heard = []
    made.chosen.connect(lambda: made.heard.append(made.flat()))
    return made


def test_it_begins_with_the_element_it_is_told(pick):
    assert (pick.title(), pick.flat()) == ("0.weight[0, 1]", 1)
    assert not pick.heard


def test_an_index_is_typed(pick):
    pick.index.setText("[2, 1]")
    pick.index.editingFinished.emit()
    assert (pick.title(), pick.flat(), pick.heard) == ("0.weight[2, 1]", 5, [5])


@pytest.mark.parametrize("text", ["3, 0", "1", "0, 2", "a, b", "-1, 0", "", "0, 0, 0", "1.5, 0"])
def test_what_is_no_element_goes_back_to_what_was(pick, text):
    pick.index.setText(text)
    pick.index.editingFinished.emit()
    assert pick.index.text() == "0, 1"
    assert not pick.heard


def test_another_parameter_begins_at_its_first_element(pick):
    pick.names.setCurrentIndex(1)
    pick.names.activated.emit(1)
    assert (pick.title(), pick.heard) == ("0.bias[0]", [6])
    pick.names.setCurrentIndex(2)
    pick.names.activated.emit(2)
    assert (pick.title(), pick.flat()) == ("scale", 9)
    assert not pick.index.isEnabled()


def test_what_was_chosen_stays_where_it_fits(pick):
    pick.index.setText("2, 0")
    pick.index.editingFinished.emit()
    pick.set_parameters((Parameter("0.weight", (5, 2), 0),), 0)
    assert pick.title() == "0.weight[2, 0]"
    pick.set_parameters((Parameter("0.weight", (2, 2), 0),), 0)
    assert pick.title() == "0.weight[0, 0]"


def test_an_element_and_its_number_are_each_other_s_inverse():
    for flat in range(24):
        at = unravel(flat, (2, 3, 4))
        assert at == tuple(map(int, np.unravel_index(flat, (2, 3, 4))))
        assert is_valid_index(at, (2, 3, 4))
    assert not is_valid_index((2, 0, 0), (2, 3, 4))
