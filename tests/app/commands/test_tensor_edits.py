"""Properties of the selected tensor, changed in the program's text from its menu."""

import pytest

from gradscribe.app.commands import load
from gradscribe.app.window.menus.context_menus import COMMANDS

SOURCE = "x = torch.ones(1000, 1000)\nw = param(2.0)\ny = x.mean() * w\nz = y * 2\nz.backward()"


@pytest.fixture
def shown(settled, link, record):
    settled.editor.selectAll()
    settled.editor.insertPlainText(SOURCE)
    settled.session.run_now()
    link.answer(record(SOURCE))
    return settled


def select(window, name):
    window.presenter.select_name(name)
    window.menus.refresh()


def answer(window, link, record):
    link.answer(record(window.session.doc.source))


def choices(window, name):
    (made,) = [one for one in load() if one.id == name]
    return made.choices(window.context)


@pytest.mark.checklist(9, 92)
def test_a_leaf_requires_its_gradient_at_a_tick_and_undo_takes_it_back(shown, link, record):
    select(shown, "x")
    shown.menus.perform_by("value.requires_grad")
    line = "x = torch.ones(1000, 1000, requires_grad=True)"
    assert shown.editor.source().split("\n")[0] == line
    assert link.sources[-1] == shown.editor.source(), "it runs at once"
    answer(shown, link, record)
    leaf = next(leaf for leaf in shown.session.result.tape.leaves if leaf.grad is not None)
    assert leaf.grad is not None
    select(shown, "x")
    assert shown.menus._actions["value.requires_grad"].isChecked()
    shown.editor.undo()
    assert shown.editor.source() == SOURCE


@pytest.mark.checklist(40)
def test_a_result_retains_its_gradient(shown, link, record):
    select(shown, "y")
    shown.menus.perform_by("value.retain_grad")
    assert shown.editor.source().split("\n")[3] == "y.retain_grad()"
    answer(shown, link, record)
    select(shown, "y")
    shown.menus.perform_by("value.retain_grad")
    assert shown.editor.source() == SOURCE


@pytest.mark.checklist(91, 187)
def test_dtypes_are_offered_with_their_bytes(shown, link, record):
    select(shown, "x")
    titles = [choice.title for choice in choices(shown, "value.dtype")]
    # A million elements of 4 and of 8 bytes.
    assert titles[:2] == ["float64 · 8 MB", "float32 · 4 MB"]
    choices(shown, "value.dtype")[0].run(shown.context)
    line = "x = torch.ones(1000, 1000, dtype=torch.float64)"
    assert shown.editor.source().split("\n")[0] == line
    answer(shown, link, record)
    select(shown, "x")
    assert [c.title for c in choices(shown, "value.dtype") if c.checked] == ["float64 · 8 MB"]


@pytest.mark.checklist(91, 187)
def test_the_inspector_has_the_bytes(shown):
    from gradscribe.widgets.inspector.panes.facts import facts

    select(shown, "x")
    rows = dict(facts(shown.inspector.page()))
    assert rows["memory"] == "4 MB, 2 MB in float16, 8 MB in float64"


def test_devices_are_those_of_the_engine(shown):
    select(shown, "x")
    assert [(c.title, c.checked) for c in choices(shown, "value.device")] == [("cpu", True)]


def test_a_place_that_is_not_safe_says_so_and_changes_nothing(shown, link, record):
    source = "a = 1; x = torch.ones(2)\nprint(x)"
    shown.session.apply_fix(source)
    answer(shown, link, record)
    select(shown, "x")
    shown.menus.perform_by("value.requires_grad")
    assert shown.editor.source() == source
    assert "edit it by hand" in shown.status.message.text()


def test_nothing_is_offered_without_a_tensor_or_for_an_old_run(shown):
    shown.session.select("")
    assert choices(shown, "value.dtype") == []
    select(shown, "x")
    shown.session.edit(SOURCE + "\n")
    assert choices(shown, "value.dtype") == []


@pytest.mark.parametrize("subject", ["card", "value", "line"])
def test_the_menus_of_a_tensor_have_them(shown, subject):
    names = "requires_grad", "retain_grad", "dtype", "device"
    assert set(COMMANDS[subject]) >= {f"value.{name}" for name in names}


NET = """net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt = optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.ones(3, 2)).mean()
loss.backward()
opt.step()
"""


def show_program(window, link, record, source):
    window.session.apply_fix(source)
    link.answer(record(source))


def test_a_tick_in_the_inspector_freezes_a_parameter_of_a_module(shown, link, record):
    from gradscribe.widgets.inspector.panes.page import Selection

    show_program(shown, link, record, NET)
    value = next(v for v in shown.session.result.tape.values if v.name == "net.0.weight")
    page = shown.inspector.page()
    assert page.program.text == NET
    shown.inspector.show_page(
        Selection("parameter", value.id), shown.session.result.tape, page.position
    )
    pane = properties(shown)
    assert pane.requires_grad.isChecked()
    pane.requires_grad.click()
    assert shown.editor.source().split("\n")[1] == "net[0].weight.requires_grad_(False)"
    assert link.sources[-1] == shown.editor.source(), "it runs at once"
    answer(shown, link, record)
    tape = shown.session.result.tape
    assert not next(v for v in tape.values if v.name == "net.0.weight").requires_grad
    shown.editor.undo()
    assert shown.editor.source() == NET


def properties(window):
    from gradscribe.widgets.inspector.panes.properties import PropertiesPane

    return next(pane for pane in window.inspector.panes if isinstance(pane, PropertiesPane))


def starts(window):
    from gradscribe.widgets.inspector.panes.start import StartPane

    return next(pane for pane in window.inspector.panes if isinstance(pane, StartPane))


FAILING = "x = param([1.0, 2.0, 3.0])\ny = x ** 2\ny.backward()\n"


@pytest.mark.checklist(42)
def test_a_failed_backward_of_a_vector_is_started_at_a_sum(shown, link, record):
    show_program(shown, link, record, FAILING)
    pane = starts(shown)
    assert not pane.isHidden()
    pane.sum.click()
    assert shown.editor.source().split("\n")[2] == "y.sum().backward()"
    answer(shown, link, record)
    assert shown.session.result.problem is None
    assert pane.isHidden()
    shown.editor.undo()
    assert shown.editor.source() == FAILING


@pytest.mark.checklist(42, 170)
def test_the_vector_is_edited_in_place(shown, link, record):
    show_program(shown, link, record, FAILING)
    pane = starts(shown)
    pane.use.click()
    assert shown.editor.source().split("\n")[2] == "y.backward(gradient=torch.ones_like(y))"
    answer(shown, link, record)
    shown.session.select("")
    assert not pane.isHidden()
    pane.vector.setText("torch.tensor([1.0, 0.0, -1.0])")
    pane.use.click()
    answer(shown, link, record)
    (leaf,) = shown.session.result.tape.leaves
    # v * 2x
    assert shown.session.result.tape.snapshots[leaf.grad].array().tolist() == [2.0, 0.0, -6.0]
    shown.editor.undo()
    shown.editor.undo()
    assert shown.editor.source() == FAILING


def test_a_vector_of_another_shape_is_an_error_that_undo_takes_back(shown, link, record):
    show_program(shown, link, record, FAILING)
    pane = starts(shown)
    pane.vector.setText("torch.ones(2)")
    pane.use.click()
    answer(shown, link, record)
    assert "Mismatch in shape" in shown.session.result.problem.message
    shown.editor.undo()
    assert shown.editor.source() == FAILING


LAYERS = (
    "from torch import nn\n"
    "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n"
    "net(torch.ones(4, 2)).sum().backward()"
)


def write(window, link, record, source):
    window.editor.selectAll()
    window.editor.insertPlainText(source)
    window.session.run_now()
    link.answer(record(source))


def select_module(window, name):
    picture = window.presenter.picture
    calls = window.session.result.tape.calls
    parts = (*(card for card in picture.cards if card.kind == "module"), *picture.frames)
    key = next(one.key for one in parts if one.call is not None and calls[one.call].name == name)
    window.session.select(key)
    window.menus.refresh()


def has_gradient(window):
    tape = window.session.result.tape
    found = {leaf.name: leaf.grad is not None for leaf in tape.leaves}
    return [found.get(f"net.{name}", False) for name in ("0.weight", "0.bias", "2.weight")]


@pytest.mark.checklist(80)
def test_a_layer_is_frozen_by_a_click_gets_no_gradient_and_learns_again(shown, link, record):
    """Row 80."""
    write(shown, link, record, LAYERS)
    assert has_gradient(shown) == [True, True, True]
    select_module(shown, "net.0")
    shown.menus.perform_by("module.freeze")
    assert shown.editor.source().split("\n")[2] == "net[0].requires_grad_(False)"
    answer(shown, link, record)
    assert has_gradient(shown) == [False, False, True]
    select_module(shown, "net.0")
    assert shown.menus._actions["module.freeze"].isChecked()
    shown.menus.perform_by("module.freeze")
    assert shown.editor.source() == LAYERS


def test_a_whole_model_and_a_layer_without_parameters(shown, link, record):
    write(shown, link, record, LAYERS)
    select_module(shown, "net")
    shown.menus.perform_by("module.freeze")
    assert shown.editor.source().split("\n")[2] == "net.requires_grad_(False)"
    write(shown, link, record, LAYERS)
    select(shown, "net.2.weight")
    assert not shown.menus._actions["module.freeze"].isEnabled()
    assert "module.freeze" in COMMANDS["module"]


def test_a_selected_module_that_the_next_text_does_not_have(shown, link, record):
    write(shown, link, record, LAYERS)
    select_module(shown, "net.2")
    write(shown, link, record, "y = torch.ones(2)\n")
    shown.menus.refresh()
    assert not shown.menus._actions["module.freeze"].isEnabled()
