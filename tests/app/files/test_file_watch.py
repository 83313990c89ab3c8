"""The file itself: other programs that change it, other windows that have it."""

import os

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from gradscribe.app.files.file_watch import file_stamp
from tests.app.homes import press, said, save, type_in


def theirs(path):
    path.write_text("# theirs, longer\n")


def test_a_file_that_another_program_changed_is_not_written_over(edited):
    window, path = edited
    theirs(path)
    save(window)
    assert "changed by another program" in said(window)
    assert path.read_text() == "# theirs, longer\n"
    press(window, "Reload")
    assert window.editor.source() == "# theirs, longer\n"
    assert not window.session.doc.modified
    window.editor.undo()
    assert window.editor.source() == "# mine\na = 1\n"
    save(window)
    assert path.read_text() == "# mine\na = 1\n"


def test_a_link_in_the_place_of_the_file_leads_nobody_to_write_over_another(edited, tmp_path):
    window, path = edited
    other = tmp_path / "other.py"
    theirs(other)
    path.unlink()
    path.symlink_to(other)
    save(window)
    assert "changed by another program" in said(window)
    assert other.read_text() == "# theirs, longer\n"
    press(window, "Keep mine")
    save(window)
    assert other.read_text() == "# mine\na = 1\n"
    assert other.with_name("other.py.bak").read_text() == "# theirs, longer\n"


def test_keeping_mine_sets_the_other_text_aside(edited):
    window, path = edited
    theirs(path)
    save(window)
    press(window, "Keep mine")
    save(window)
    assert path.read_text() == "# mine\na = 1\n"
    assert path.with_name("a.py.bak").read_text() == "# theirs, longer\n"
    type_in(window, "# more\n")
    save(window)
    assert path.read_text().startswith("# mine\n# more\n")


def test_coming_back_to_the_window_tells_of_a_changed_file_once(edited):
    window, path = edited
    theirs(path)
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    assert "changed by another program" in said(window)
    window.notices.hide_button.click()
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    assert said(window) == ""
    save(window)
    assert "changed by another program" in said(window)
    assert path.read_text() == "# theirs, longer\n"


def test_a_file_that_changes_next_to_the_window_is_offered_at_once_each_time(edited, qtbot):
    window, path = edited
    for words in ("# theirs\n", "# theirs, once more\n"):
        # Editors replace what they save.
        other = path.with_name("new")
        other.write_text(words)
        os.replace(other, path)
        qtbot.waitUntil(lambda: "changed by another program" in said(window))
        press(window, "Reload")
        assert window.editor.source() == words
        assert said(window) == ""


def test_saving_here_is_no_change_by_another_program(edited, qtbot):
    window, path = edited
    type_in(window, "# more\n")
    with qtbot.waitSignal(window.recovery.file._files.touched):
        save(window)
    assert path.read_text().startswith("# mine\n# more\n")
    assert said(window) == ""


def test_a_touched_file_with_the_same_text_is_no_matter(edited):
    window, path = edited
    os.utime(path, (1, 1))
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    assert said(window) == ""
    save(window)
    assert path.read_text() == "# mine\na = 1\n"


def test_a_file_that_is_gone_is_written_anew(edited):
    window, path = edited
    path.unlink()
    save(window)
    assert path.read_text() == "# mine\na = 1\n"


def test_a_draft_of_a_file_that_has_changed_since_is_told_of(edited, open_window):
    window, path = edited
    window.close()
    theirs(path)
    after = open_window(path)
    assert after.editor.source() == "# mine\na = 1\n"
    assert "changed by another program" in said(after)
    save(after)
    assert path.read_text() == "# theirs, longer\n"
    press(after, "Reload")
    assert after.editor.source() == "# theirs, longer\n"


def test_a_second_window_on_one_file_is_noticed(open_window, tmp_path, qtbot):
    path = tmp_path / "a.py"
    path.write_text("a = 1\n")
    one, two = open_window(path), open_window(path)
    qtbot.waitUntil(lambda: "another window" in said(two))
    assert said(one) == ""
    type_in(two, "# two\n")
    save(two)
    assert path.read_text() == "a = 1\n"
    press(two, "Save anyway")
    assert path.read_text() == "# two\na = 1\n"
    type_in(one, "# one\n")
    save(one)
    assert "changed by another program" in said(one)
    assert path.read_text() == "# two\na = 1\n"
    one.close()
    type_in(two, "# more\n")
    save(two)
    assert path.read_text().startswith("# two\n# more\n")


def test_what_another_program_wrote_waits_to_be_read_before_it_runs(edited, monkeypatch):
    window, path = edited
    # Of somebody who has trusted nothing but what they wrote.
    monkeypatch.setattr(window.settings, "is_trusted", lambda _, text: text.startswith("# mine"))
    theirs(path)
    save(window)
    press(window, "Reload")
    assert window.session.doc.foreign
    assert not window.session.doc.may_run
    assert "came from outside" in said(window)


def test_a_reloaded_text_that_is_trusted_runs(edited):
    window, path = edited
    theirs(path)
    save(window)
    press(window, "Reload")
    assert window.session.doc.may_run


def test_a_stamp_tells_writings_apart_and_there_is_none_without_a_file(tmp_path):
    path = tmp_path / "a.py"
    assert file_stamp("") is None
    assert file_stamp(str(path)) is None
    path.write_text("a")
    before = file_stamp(str(path))
    assert file_stamp(str(path)) == before
    theirs(path)
    assert file_stamp(str(path)) != before
