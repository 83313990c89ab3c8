"""The program in the user's own editor: at the caret's line, at the line of the selection."""

import pytest

from gradscribe.app.commands import external, load
from gradscribe.app.files import external_editor
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.structs import replace


@pytest.fixture
def opened(monkeypatch):
    """Return what was opened: command, file, line."""
    calls = []

    def open_line(command, path, line):
        calls.append((command, path, line))
        return "VS Code"

    monkeypatch.setattr(external_editor, "open_line", open_line)
    return calls


@pytest.fixture
def saved(settled, tmp_path):
    """Return the window with its program saved to a file."""
    path = tmp_path / "a.py"
    path.write_text(settled.session.doc.source)
    settled.session.mark_saved(str(path), "a.py", settled.session.doc.source)
    return settled, path


def test_the_line_of_the_caret_is_opened(saved, opened):
    window, path = saved
    window.editor.go_to_line(3)
    window.menus.perform_by("edit.external")
    assert opened == [("", path, 3)]
    assert "VS Code, line 3" in window.status.message.text()


def test_the_line_of_the_selection_is_opened(saved, opened):
    window, path = saved
    op = next(op for op in window.session.result.tape.ops if op.place.line)
    window.presenter.pick_line(op.place.line)
    window.editor.go_to_line(1)
    window.menus.perform_by("value.external")
    assert opened == [("", path, op.place.line)]


def test_the_chosen_editor_is_used(saved, opened, monkeypatch):
    window, _ = saved
    monkeypatch.setattr(external_editor, "installed", lambda: external_editor.KNOWN[:2])
    choices = external.choose_editor(window.context)
    assert [choice.checked for choice in choices] == [True, False, False, False]
    choices[2].run(window.context)
    marks = [choice.checked for choice in external.choose_editor(window.context)]
    assert marks == [False, False, True, False]
    window.menus.perform_by("edit.external")
    assert opened[-1][0] == "codium --goto {file}:{line}"
    window.context.dialogs.answers["text"] = "mine {file}"
    external.choose_editor(window.context)[-1].run(window.context)
    assert window.settings.text("editor") == "mine {file}"
    assert external.choose_editor(window.context)[-1].checked
    window.context.dialogs.answers["text"] = "mine"
    with pytest.raises(Refused):
        external.choose_editor(window.context)[-1].run(window.context)
    assert window.settings.text("editor") == "mine {file}"


def test_without_a_file_there_is_nothing_to_open(settled):
    command = next(c for c in load() if c.id == "edit.external")
    settled.session.load(replace(settled.session.doc, path=""))
    assert not command.when(settled.context)


def test_a_file_that_is_gone_is_named(saved, opened):
    window, path = saved
    path.unlink()
    with pytest.raises(Refused, match="not there any more"):
        external.open_caret_line(window.context)
    assert opened == []
