"""Properties of the selected tensor, changed in the program's text from its menu."""

import pytest

from gradscribe.app.commands import load
from gradscribe.app.commands.context_menus import COMMANDS

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


def test_a_result_retains_its_gradient(shown, link, record):
    select(shown, "y")
    shown.menus.perform_by("value.retain_grad")
    assert shown.editor.source().split("\n")[3] == "y.retain_grad()"
    answer(shown, link, record)
    select(shown, "y")
    shown.menus.perform_by("value.retain_grad")
    assert shown.editor.source() == SOURCE


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
