"""The properties pane, on tapes of real runs."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.inspector.panes.page import ProgramState, Selection
from gradscribe.widgets.inspector.panes.properties import OLD_TEXT, PropertiesPane
from tests.widgets.inspector.panes.programs import FAN, TRAIN, page


def state(source, devices=("cpu",)):
    return ProgramState(source, may_edit=True, devices=devices)


def page_of(source, name, devices=("cpu",), **more):
    made = page(source, name, **more)
    return replace(made, source=source, program=state(source, devices))


@pytest.fixture
def pane(shown):
    made = shown(PropertiesPane(), 300, 200)
    made.asked = []
    made.property_requested.connect(lambda *a: made.asked.append(a))
    return made


def test_a_leaf_can_be_ticked_off(pane, qtbot):
    assert pane.refresh(page_of(FAN, "x"))
    assert pane.requires_grad.isChecked()
    assert not pane.retain_grad.isEnabled()
    qtbot.mouseClick(pane.requires_grad, Qt.MouseButton.LeftButton)
    assert pane.asked == [("requires_grad", "off")]
    assert pane.requires_grad.isChecked(), "the state is that of the run until it has run again"


def test_a_result_can_retain_its_gradient(pane, qtbot):
    assert pane.refresh(page_of(FAN, "z"))
    assert not pane.requires_grad.isEnabled()
    assert "result of an op" in pane.requires_grad.toolTip()
    qtbot.mouseClick(pane.retain_grad, Qt.MouseButton.LeftButton)
    assert pane.asked == [("retain_grad", "on")]


def test_dtypes_have_their_bytes(pane):
    pane.refresh(page_of(TRAIN, "x"))
    texts = [pane.dtype.itemText(at) for at in range(pane.dtype.count())]
    # Six elements of 8, 4 and 1 bytes.
    assert texts[:2] == ["float64 · 48 B", "float32 · 24 B"]
    assert pane.dtype.currentData() == "float32"
    pane.dtype.activated.emit(0)
    assert pane.asked == [("dtype", "float64")]


def test_devices_are_those_of_the_engine(pane):
    pane.refresh(page_of(TRAIN, "x"))
    assert not pane.device.isEnabled()
    assert "no other device" in pane.device.toolTip()
    pane.refresh(page_of(TRAIN, "x", devices=("cpu", "cuda:0")))
    assert pane.device.isEnabled()
    assert [pane.device.itemText(at) for at in range(2)] == ["cpu", "cuda:0"]
    assert pane.device.currentData() == "cpu"


def test_a_parameter_that_was_updated_has_the_line_it_was_made_on(pane):
    parameter = page_of(TRAIN, "net.0.weight")
    assert parameter.value.id != parameter.made.id, "it was updated since"
    assert pane.refresh(parameter)
    assert pane.requires_grad.isEnabled()
    assert "all of net" in pane.dtype.toolTip()


def test_an_old_run_cannot_be_edited(pane):
    old = replace(page_of(FAN, "x"), program=state(FAN + "# typed since"))
    assert pane.refresh(old)
    for box in (pane.requires_grad, pane.dtype, pane.device):
        assert not box.isEnabled()
        assert box.toolTip() == OLD_TEXT
    pane.refresh(replace(old, program=ProgramState(FAN, may_edit=False)))
    assert not pane.requires_grad.isEnabled()


def test_a_dtype_out_of_the_common_is_shown(pane):
    pane.refresh(page_of("x = torch.zeros(2, dtype=torch.complex32)\ny = x.real\n", "x"))
    assert pane.dtype.currentData() == "complex32"


def test_a_tensor_without_a_name_says_so(pane):
    source = "x = param(2.0)\nL = (x * 3).exp()\nL.backward()\n"
    made = page_of(source, "L")
    (product,) = [v for v in made.tape.values if not v.name]
    unnamed = replace(made, selection=Selection("value", product.id))
    assert pane.refresh(unnamed)
    assert not pane.retain_grad.isEnabled()
    assert "no name" in pane.retain_grad.toolTip()


def test_it_is_hidden_without_a_tensor(pane):
    made = page_of(FAN, "x")
    assert not pane.refresh(replace(made, selection=None))


def test_it_fits_a_narrow_inspector(shown):
    pane = shown(PropertiesPane(), 200, 300)
    pane.refresh(page_of(TRAIN, "net.0.weight"))
    pane.layout().activate()
    boxes = [pane.requires_grad, pane.retain_grad, pane.dtype.parentWidget()]
    for box in boxes:
        assert box.geometry().right() <= pane.width()


@pytest.mark.parametrize("width", [227, 190])
def test_a_narrow_inspector_is_not_made_wider(pane, width):
    assert pane.refresh(page_of(FAN, "x"))
    pane.dtype.addItem("float32 · 123.4 MB of a large tensor")
    assert pane.minimumSizeHint().width() <= 190
    pane.resize(width, 200)
    pane.layout().activate()
    for box in (pane.requires_grad, pane.retain_grad, pane.dtype, pane.device):
        assert box.mapTo(pane, box.rect().topRight()).x() < width


def test_titles_of_drop_downs_are_whole_in_a_narrow_inspector(pane):
    pane.refresh(page_of(TRAIN, "x"))
    pane.resize(190, 300)
    titles = [x for x in pane.findChildren(Label) if x.said() in ("dtype", "device")]
    assert len(titles) == 2
    for title in titles:
        assert title.width() >= title.sizeHint().width()
    assert pane.minimumSizeHint().width() <= 190
