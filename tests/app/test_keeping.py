"""Nothing typed is lost: windows that end without a word, two windows, other programs, no room."""

import os
import shutil

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.commands import file
from app.documents import Drafts, Refused
from app.settings import Settings
from app.window import Window
from tests.app.fakes import FakeLink, leaves


class Quiet(Window):
    """Asks nobody where to save: `elsewhere` is the answer."""

    elsewhere = None

    def ask_save(self, title, name, pattern):
        return self.elsewhere


@pytest.fixture
def open_window(qtbot, tmp_path):
    """Make windows of one user; each stays until the test ends."""
    made = []

    def make(path="", home="home"):
        one = Quiet(FakeLink(), Settings(), Drafts(tmp_path / home / "drafts"))
        qtbot.addWidget(one)
        made.append(one)
        one.open_first(str(path))
        return one

    yield make
    for one in made:
        one.keeping._warned = True
        one.close()


@pytest.fixture
def crash(tmp_path):
    """What the disk holds when a window is killed, as a home of its own: locks have no holder."""

    def kill(window, home):
        assert window.keeping._saver.flush() == ""
        shutil.copytree(tmp_path / "home", tmp_path / home)
        for lock in (tmp_path / home).rglob("*.lock"):
            lock.unlink()

    return kill


def said(window):
    notice = window.notices.notice
    return notice.text if notice else ""


def press(window, label):
    next(one for one in window.notices.buttons if one.text() == label).click()


def type_in(window, text):
    window.editor.setFocus()
    window.editor.insertPlainText(text)


def sessions(tmp_path, home="home"):
    return sorted((tmp_path / home / "sessions").glob("*.session"))


# A window that ends without a word


def test_work_is_there_again_with_its_undo_history(open_window, crash):
    first = open_window()
    example = first.editor.source()
    first.session.set_seed(7)
    type_in(first, "# one\n")
    first.editor.selectAll()
    type_in(first, "two")
    first.editor.set_caret(1, 2)
    crash(first, "after")
    second = open_window(home="after")
    assert second.editor.source() == "two"
    assert second.session.doc.modified
    assert second.session.doc.seed == 7
    assert second.editor.caret() == (1, 2)
    assert "Recovered" in said(second)
    press(second, "Keep")
    assert said(second) == ""
    second.editor.undo()
    assert second.editor.source() == "# one\n" + example
    second.editor.undo()
    assert second.editor.source() == example
    second.editor.redo()
    assert second.session.doc.source == "# one\n" + example


def test_recovered_work_can_be_discarded_and_had_back(open_window, crash):
    first = open_window()
    example = first.editor.source()
    type_in(first, "# mine\n")
    crash(first, "after")
    second = open_window(home="after")
    press(second, "Discard")
    assert second.editor.source() == example
    assert not second.session.doc.modified
    second.editor.undo()
    assert second.editor.source() == "# mine\n" + example


def test_work_on_a_file_is_recovered_and_the_file_is_untouched(open_window, crash, tmp_path):
    path = tmp_path / "a.py"
    path.write_text("a = 1\n")
    first = open_window(path)
    type_in(first, "b = 2\n")
    crash(first, "after")
    second = open_window(home="after")
    assert path.read_text() == "a = 1\n"
    assert second.session.doc.path == str(path)
    assert second.editor.source() == "b = 2\na = 1\n"
    assert "a.py" in said(second)
    file.save(second)
    assert path.read_text() == "b = 2\na = 1\n"


def test_every_window_that_crashed_is_offered(open_window, crash, tmp_path):
    paths = [tmp_path / f"{name}.py" for name in "abc"]
    for count, path in enumerate(paths):
        path.write_text(f"{path.stem} = 1\n")
        type_in(open_window(path), f"# {count}\n")
        windows = count + 1
    # All are saved before the disk is looked at.
    last = open_window()
    for one in QApplication.topLevelWidgets():
        if isinstance(one, Quiet):
            one.keeping._saver.flush()
    crash(last, "after")
    after = open_window(home="after")
    offered = " ".join(one.text for one in after.notices.waiting)
    assert all(path.name in offered for path in paths)
    assert len(after.notices.waiting) == windows
    press(after, "Keep")
    press(after, "Open")
    assert after.notices.notice.key == "recovered"
    press(after, "Keep")
    press(after, "Discard")
    assert said(after) == ""
    after.keeping._saver.flush()
    assert len(sessions(tmp_path, "after")) == 1
    # What was recovered first was put away as a draft when the next was opened.
    assert len(list((tmp_path / "after" / "drafts").glob("*.json"))) == 1


def test_a_file_named_at_the_start_comes_first_and_the_rest_is_offered(
    open_window, crash, tmp_path
):
    path = tmp_path / "a.py"
    path.write_text("a = 1\n")
    first = open_window()
    type_in(first, "# mine\n")
    crash(first, "after")
    second = open_window(path, home="after")
    assert second.editor.source() == "a = 1\n"
    assert "Recovered" in said(second)
    press(second, "Open")
    assert second.editor.source().startswith("# mine\n")


def test_an_untouched_window_leaves_nothing_to_recover(open_window, crash, tmp_path):
    crash(open_window(), "after")
    second = open_window(home="after")
    assert said(second) == ""
    assert len(sessions(tmp_path, "after")) <= 1


def test_the_place_on_the_tape_comes_back(open_window, crash):
    first = open_window()
    type_in(first, "# mine\n")
    first._link.greet()
    first._link.answer(leaves(9))
    first.session.move(4)
    crash(first, "after")
    second = open_window(home="after")
    second._link.greet()
    second._link.answer(leaves(9))
    assert second.session.view.position == 4
    second._link.answer(leaves(9))


def test_a_spoilt_session_file_is_told_of_and_kept(open_window, crash, tmp_path):
    first = open_window()
    type_in(first, "# mine\n")
    crash(first, "after")
    for path in (tmp_path / "after" / "sessions").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    second = open_window(home="after")
    assert "cannot be read" in said(second)
    assert ".bak" in said(second)
    assert not second.session.doc.modified


def test_closing_leaves_no_session_file(open_window, tmp_path):
    one = open_window()
    type_in(one, "# mine\n")
    one.keeping._saver.flush()
    assert len(sessions(tmp_path)) == 1
    one.close()
    assert list((tmp_path / "home" / "sessions").iterdir()) == []
    assert open_window().editor.source().startswith("# mine\n")


# Two windows


def test_two_windows_that_close_both_keep_their_text(open_window):
    one, two = open_window(), open_window()
    type_in(one, "# one\n")
    type_in(two, "# two\n")
    one.close()
    two.close()
    after = open_window()
    assert after.editor.source().startswith("# two\n")
    press(after, "Keep")
    after.close()
    texts = {open_window().editor.source()[:6] for _ in range(2)}
    assert texts == {"# one\n", "# two\n"}


def test_a_second_window_on_one_file_is_noticed(open_window, tmp_path):
    path = tmp_path / "a.py"
    path.write_text("a = 1\n")
    one, two = open_window(path), open_window(path)
    assert said(one) == ""
    assert "another window" in said(two)
    type_in(two, "# two\n")
    file.save(two)
    assert path.read_text() == "a = 1\n"
    press(two, "Save anyway")
    assert path.read_text() == "# two\na = 1\n"
    type_in(one, "# one\n")
    file.save(one)
    assert "changed by another program" in said(one)
    assert path.read_text() == "# two\na = 1\n"
    one.close()
    type_in(two, "# more\n")
    file.save(two)
    assert path.read_text().startswith("# two\n# more\n")


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


def test_a_heavy_history_is_made_light(open_window, qtbot, monkeypatch):
    window = open_window()
    monkeypatch.setattr("widgets.edit_history.HEAVY", 10_000)
    monkeypatch.setattr("widgets.edit_history.MOST_LETTERS", 1000)
    type_in(window, "x" * 10_000 + "\n")
    type_in(window, "# mine\n")
    assert window.editor.history.is_heavy
    qtbot.waitUntil(lambda: not window.editor.history.is_heavy)
    window.editor.undo()
    assert window.editor.source().startswith("x")
