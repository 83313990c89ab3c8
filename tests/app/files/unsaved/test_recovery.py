"""Nothing typed is lost: windows that end without a word, and a history that grows."""

import shutil

import pytest

from gradscribe.app.files.documents import Draft, Drafts
from tests.app.fakes import leaves
from tests.app.homes import ahead, press, said, save, sessions, type_in


@pytest.fixture
def crash(tmp_path):
    """Files on the disk after a window was killed, as a home of its own: locks have no holder."""

    def kill(window, home):
        assert window.recovery._saver.flush() == ""
        shutil.copytree(tmp_path / "home", tmp_path / home)
        for lock in (tmp_path / home).rglob("*.lock"):
            lock.unlink()

    return kill


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
    save(second)
    assert path.read_text() == "b = 2\na = 1\n"


@pytest.mark.e2e
def test_every_window_that_crashed_is_offered(open_window, crash, tmp_path):
    paths = [tmp_path / f"{name}.py" for name in "abc"]
    opened = []
    for count, path in enumerate(paths):
        path.write_text(f"{path.stem} = 1\n")
        opened.append(open_window(path))
        type_in(opened[-1], f"# {count}\n")
    last = open_window()
    # All are saved before the disk is looked at.
    for window in (*opened, last):
        window.recovery._saver.flush()
    crash(last, "after")
    after = open_window(home="after")
    offered = " ".join(one.text for one in after.notices.waiting)
    assert all(path.name in offered for path in paths)
    assert len(after.notices.waiting) == 1, "all in one line"
    # It is b.py that the window shows: two windows with the same clock are told apart by order.
    here = after.session.doc.title
    first, second = (path.name for path in paths if path.name != here)
    assert f"Also unsaved: {first} and {second}" in said(after) or (
        f"Also unsaved: {second} and {first}" in said(after)
    )
    labels = [button.text() for button in after.notices.buttons]
    assert labels[:2] == ["Keep", "Discard"]
    assert set(labels[2:]) == {f"Open {first}", f"Open {second}"}
    press(after, "Keep")
    press(after, f"Open {first}")
    assert after.session.doc.title == first
    press(after, "Keep")
    press(after, "Discard")
    assert said(after) == ""
    after.recovery._saver.flush()
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


def draft_of(path):
    return Draft("# draft\na = 1\n", str(path), path.name, "a = 1\n")


def dies_with_changes(open_window, crash, tmp_path):
    """A file, and the home of a window that was killed with changes to it."""
    path = tmp_path / "a.py"
    path.write_text("a = 1\n")
    first = open_window(path)
    type_in(first, "# session\n")
    crash(first, "after")
    return path, tmp_path / "after"


def test_a_draft_that_is_newer_than_a_dead_windows_work_comes_first(open_window, crash, tmp_path):
    path, home = dies_with_changes(open_window, crash, tmp_path)
    ahead(*sessions(tmp_path, "after"))
    Drafts(home / "drafts").keep(draft_of(path))
    after = open_window(path, home="after")
    assert after.editor.source() == "# draft\na = 1\n"
    press(after, "Open")
    assert after.editor.source() == "# session\na = 1\n"
    press(after, "Keep")
    # Both are there at the next start, too.
    assert Drafts(home / "drafts").find(str(path)) == draft_of(path)


def test_a_draft_stays_where_a_dead_windows_newer_work_takes_its_place(
    open_window, crash, tmp_path
):
    path, home = dies_with_changes(open_window, crash, tmp_path)
    Drafts(home / "drafts").keep(draft_of(path))
    (kept,) = sessions(tmp_path, "after")
    ahead(kept)
    after = open_window(path, home="after")
    assert after.editor.source() == "# session\na = 1\n"
    assert Drafts(home / "drafts").find(str(path)) == draft_of(path)


def test_an_untitled_draft_comes_before_older_work_of_another_window(open_window, crash, tmp_path):
    _, home = dies_with_changes(open_window, crash, tmp_path)
    ahead(*sessions(tmp_path, "after"))
    Drafts(home / "drafts").keep(Draft("b = 2\n", title="Untitled"))
    after = open_window(home="after")
    assert after.editor.source() == "b = 2\n"
    press(after, "Open")
    assert after.editor.source() == "# session\na = 1\n"
    assert Drafts(home / "drafts").find("").source == "b = 2\n"


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
    one.recovery._saver.flush()
    assert len(sessions(tmp_path)) == 1
    one.close()
    assert list((tmp_path / "home" / "sessions").iterdir()) == []
    assert open_window().editor.source().startswith("# mine\n")


# Two windows


@pytest.mark.e2e
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


def test_a_heavy_history_is_made_light(open_window, qtbot, monkeypatch):
    window = open_window()
    monkeypatch.setattr("gradscribe.widgets.editor.edit_history.MAX_WEIGHT", 10_000)
    monkeypatch.setattr("gradscribe.widgets.editor.edit_history.MAX_CHARACTERS", 1000)
    type_in(window, "x" * 10_000 + "\n")
    type_in(window, "# mine\n")
    assert window.editor.history.is_heavy
    qtbot.waitUntil(lambda: not window.editor.history.is_heavy)
    window.editor.undo()
    assert window.editor.source().startswith("x")
