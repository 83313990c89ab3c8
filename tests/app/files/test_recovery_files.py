"""Disks that take nothing more: what is typed stays, and it is said."""

import os

import pytest

from gradscribe.app.commands import file
from gradscribe.app.files.documents import Refused
from tests.app.homes import press, said, save, sessions, type_in


def refuse(*_):
    raise OSError(28, os.strerror(28))


def test_a_save_on_a_full_disk_leaves_the_file_and_offers_another_place(
    edited, tmp_path, monkeypatch
):
    window, path = edited
    monkeypatch.setattr("gradscribe.app.files.atomic._fill", refuse)
    save(window)
    assert "the disk is full" in said(window)
    assert path.read_text() == "a = 1\n"
    assert sorted(p.name for p in tmp_path.glob("*.py*")) == ["a.py"]
    monkeypatch.undo()
    press(window, "Try again")
    assert path.read_text() == "# mine\na = 1\n"
    assert said(window) == ""


def test_an_autosave_that_fails_is_said_until_it_works(edited, monkeypatch, qtbot):
    window, _ = edited
    monkeypatch.setattr("gradscribe.app.files.unsaved.autosave.RETRY_MS", 1)
    with monkeypatch.context() as patch:
        patch.setattr("gradscribe.app.files.atomic._fill", refuse)
        type_in(window, "# more\n")
        qtbot.waitUntil(lambda: "Autosave does not work: the disk is full" in said(window))
    qtbot.waitUntil(lambda: said(window) == "")


def test_a_folder_that_takes_nothing_is_said_at_the_start(open_window, tmp_path):
    (tmp_path / "blocked").write_text("")
    window = open_window(home="blocked")
    assert "Autosave does not work" in said(window)


def test_a_window_with_text_that_cannot_be_kept_stays_once(edited, tmp_path, monkeypatch):
    window, _ = edited
    window.recovery._saver.flush()
    monkeypatch.setattr("gradscribe.app.files.atomic._fill", refuse)
    type_in(window, "# more\n")
    assert not window.close()
    assert "close again" in said(window)
    with pytest.raises(Refused, match="cannot be stored"):
        file.new(window.context)
    assert window.editor.source().startswith("# mine\n# more\n")
    monkeypatch.undo()
    elsewhere = window.context.dialogs.answers["save"] = tmp_path / "b.py"
    press(window, "Save as…")
    assert elsewhere.read_text().startswith("# mine\n# more\n")
    assert window.close()


def test_a_draft_that_cannot_be_kept_stays_in_the_session_file(
    edited, open_window, tmp_path, monkeypatch
):
    window, _ = edited
    monkeypatch.setattr(window.drafts, "keep", refuse_draft)
    assert window.close()
    assert len(sessions(tmp_path)) == 1
    assert open_window().editor.source() == "# mine\na = 1\n"


def refuse_draft(_):
    raise Refused("The text cannot be stored: the disk is full")
