"""The file itself: other programs that change it, and disks that take nothing more."""

import os

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.commands import file
from app.documents import Refused
from tests.app.homes import press, said, sessions, type_in

# Another program


@pytest.fixture
def edited(open_window, tmp_path):
    path = tmp_path / "a.py"
    path.write_text("a = 1\n")
    window = open_window(path)
    type_in(window, "# mine\n")
    return window, path


def theirs(path):
    path.write_text("# theirs, longer\n")


def test_a_file_that_another_program_changed_is_not_written_over(edited):
    window, path = edited
    theirs(path)
    file.save(window)
    assert "changed by another program" in said(window)
    assert path.read_text() == "# theirs, longer\n"
    press(window, "Reload")
    assert window.editor.source() == "# theirs, longer\n"
    assert not window.session.doc.modified
    window.editor.undo()
    assert window.editor.source() == "# mine\na = 1\n"
    file.save(window)
    assert path.read_text() == "# mine\na = 1\n"


def test_keeping_mine_sets_the_other_text_aside(edited):
    window, path = edited
    theirs(path)
    file.save(window)
    press(window, "Keep mine")
    file.save(window)
    assert path.read_text() == "# mine\na = 1\n"
    assert path.with_name("a.py.bak").read_text() == "# theirs, longer\n"
    type_in(window, "# more\n")
    file.save(window)
    assert path.read_text().startswith("# mine\n# more\n")


def test_coming_back_to_the_window_tells_of_a_changed_file_once(edited):
    window, path = edited
    theirs(path)
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    assert "changed by another program" in said(window)
    window.notices.hide_button.click()
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    assert said(window) == ""
    file.save(window)
    assert "changed by another program" in said(window)
    assert path.read_text() == "# theirs, longer\n"


def test_a_touched_file_with_the_same_text_is_no_matter(edited):
    window, path = edited
    os.utime(path, (1, 1))
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    assert said(window) == ""
    file.save(window)
    assert path.read_text() == "# mine\na = 1\n"


def test_a_file_that_is_gone_is_written_anew(edited):
    window, path = edited
    path.unlink()
    file.save(window)
    assert path.read_text() == "# mine\na = 1\n"


def test_a_draft_of_a_file_that_has_changed_since_is_told_of(edited, open_window):
    window, path = edited
    window.close()
    theirs(path)
    after = open_window(path)
    assert after.editor.source() == "# mine\na = 1\n"
    assert "changed by another program" in said(after)
    file.save(after)
    assert path.read_text() == "# theirs, longer\n"
    press(after, "Reload")
    assert after.editor.source() == "# theirs, longer\n"


# Where nothing can be written


def refuse(*_):
    raise OSError(28, os.strerror(28))


def test_a_save_on_a_full_disk_leaves_the_file_and_offers_another_place(
    edited, tmp_path, monkeypatch
):
    window, path = edited
    monkeypatch.setattr("app.atomic._fill", refuse)
    with pytest.raises(Refused, match="the disk is full"):
        file.save(window)
    assert "the disk is full" in said(window)
    assert path.read_text() == "a = 1\n"
    assert sorted(p.name for p in tmp_path.glob("*.py*")) == ["a.py"]
    monkeypatch.undo()
    press(window, "Try again")
    assert path.read_text() == "# mine\na = 1\n"
    assert said(window) == ""


def test_an_autosave_that_fails_is_said_until_it_works(edited, monkeypatch, qtbot):
    window, _ = edited
    monkeypatch.setattr("app.autosave.AGAIN_MS", 1)
    with monkeypatch.context() as patch:
        patch.setattr("app.atomic._fill", refuse)
        type_in(window, "# more\n")
        qtbot.waitUntil(lambda: "not being kept: the disk is full" in said(window))
    qtbot.waitUntil(lambda: said(window) == "")


def test_a_folder_that_takes_nothing_is_said_at_the_start(open_window, tmp_path):
    (tmp_path / "blocked").write_text("")
    window = open_window(home="blocked")
    assert "not being kept" in said(window)


def test_a_window_with_text_that_cannot_be_kept_stays_once(edited, tmp_path, monkeypatch):
    window, _ = edited
    window.keeping._saver.flush()
    monkeypatch.setattr("app.atomic._fill", refuse)
    type_in(window, "# more\n")
    assert not window.close()
    assert "close once more" in said(window)
    with pytest.raises(Refused, match="cannot be kept"):
        file.new(window)
    assert window.editor.source().startswith("# mine\n# more\n")
    monkeypatch.undo()
    window.elsewhere = tmp_path / "b.py"
    press(window, "Save as…")
    assert window.elsewhere.read_text().startswith("# mine\n# more\n")
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
    raise Refused("The text cannot be kept: the disk is full")


def test_what_another_program_wrote_waits_to_be_read_before_it_runs(edited, monkeypatch):
    window, path = edited
    # Of somebody who has trusted nothing but what they wrote.
    monkeypatch.setattr(window.settings, "is_trusted", lambda _, text: text.startswith("# mine"))
    theirs(path)
    file.save(window)
    press(window, "Reload")
    assert window.session.doc.foreign
    assert not window.session.doc.may_run
    assert "came from outside" in said(window)


def test_a_reloaded_text_that_is_trusted_runs(edited):
    window, path = edited
    theirs(path)
    file.save(window)
    press(window, "Reload")
    assert window.session.doc.may_run
