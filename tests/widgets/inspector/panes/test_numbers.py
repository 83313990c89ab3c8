import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, Qt

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.numbers import NumbersPane
from tests.widgets.inspector.panes.programs import FAN, ODD, TRAIN, page


@pytest.fixture
def pane(shown):
    return shown(NumbersPane(), 260, 400)


def cells(pane):
    model = pane.model
    return [
        [model.index(r, c).data() for c in range(model.columnCount())]
        for r in range(model.rowCount())
    ]


def test_a_matrix_is_a_table_with_its_indices(pane):
    assert pane.show_page(page(ODD, "whole"))
    assert cells(pane)[1] == ["4", "5", "6", "7"]
    header = pane.model.headerData(2, Qt.Orientation.Horizontal)
    assert header == "2"


def test_a_vector_stands_upright(pane):
    pane.show_page(page(ODD, "bad"))
    assert cells(pane) == [["NaN"], ["∞"], ["−∞"], ["1.0000"]]
    assert pane.model.headerData(0, Qt.Orientation.Horizontal) == "number"


def test_complex_and_tiny_numbers_are_written_out(pane):
    pane.show_page(page(ODD, "wave"))
    assert cells(pane) == [["1.0000 + 2.0000i"], ["3.0000 − 4.0000i"]]
    pane.show_page(page(ODD, "a_very_long_name_of_a_variable_that_goes_on_and_on_and_on_for_ever"))
    assert cells(pane) == [["1.00e−30"], ["−1.00e−30"]]


def test_the_slice_asked_for_is_shown(pane):
    pane.show_page(page(ODD, "six", slices=(1, 0, 1, 2)))
    expected = np.arange(288).reshape(2, 3, 2, 4, 3, 2)[1, 0, 1, 2]
    assert cells(pane) == [[f"{x}.0000" for x in row] for row in expected.tolist()]


def test_gradients_are_pink_in_either_theme(pane):
    for name in ("light", "dark"):
        theme = Theme.load(name)
        pane.set_theme(theme)
        pane.show_page(page(TRAIN, "net.0.weight", side="gradient"))
        color = pane.model.index(0, 0).data(Qt.ItemDataRole.ForegroundRole)
        assert color.name() == theme.backward.name()
        pane.show_page(page(TRAIN, "net.0.weight"))
        color = pane.model.index(0, 0).data(Qt.ItemDataRole.ForegroundRole)
        assert color.name() == theme.ink.name()


def test_scalars_and_empty_tensors_have_no_table(pane):
    assert not pane.show_page(page(FAN, "x"))
    assert not pane.show_page(page(ODD, "empty"))


def test_a_big_tensor_offers_to_fetch(pane, qtbot):
    looked = page(ODD, "big")
    number = looked.snapshot_number("value")
    assert pane.show_page(looked)
    assert pane.view.isHidden()
    with qtbot.waitSignal(pane.peek_requested) as heard:
        pane.fetch.click()
    assert heard.args == [number]
    pane.show_page(page(ODD, "big", waiting=frozenset({("peek", number, 0)})))
    assert not pane.fetch.isEnabled()
    assert pane.fetch.text() == "Fetching…"


def test_fetched_numbers_are_shown_and_gone_ones_told(pane):
    number = page(ODD, "big").snapshot_number("value")
    full = Snapshot((50, 80), "float32", "<f4", np.arange(4000, dtype="<f4").tobytes())
    pane.show_page(page(ODD, "big", fetched={number: full}))
    assert pane.model.rowCount() == 50
    assert pane.model.index(49, 79).data() == "3999.00"
    assert pane.fetch.isHidden()
    pane.show_page(page(ODD, "big", fetched={number: None}))
    assert pane.fetch.isHidden()
    assert any("no longer available" in label.said() for label in pane.findChildren(Label))


def test_copying_gives_all_digits(pane, qapp):
    pane.show_page(page("t = tensor([[1/3, 2.0], [3.0, 4.0]])", "t"))
    pane.view.selectAll()
    pane.copy()
    exact = repr(float(np.float32(1 / 3)))
    assert qapp.clipboard().text() == f"{exact}\t2.0\n3.0\t4.0"
    pane.view.selectionModel().select(
        pane.model.index(1, 1), QItemSelectionModel.SelectionFlag.ClearAndSelect
    )
    pane.copy()
    assert qapp.clipboard().text() == "4.0"


def test_columns_are_as_wide_as_their_widest_number(pane):
    pane.show_page(page(ODD, "huge"))
    needed = pane.view.fontMetrics().horizontalAdvance("−3.00e+38")
    assert pane.view.columnWidth(0) > needed
    assert not pane.grab().isNull()
