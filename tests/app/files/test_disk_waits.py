"""The interface does not wait for the disk, but where the window closes."""

import os
import threading
from functools import partial

import pytest
from PySide6.QtCore import QEvent, QLockFile
from PySide6.QtWidgets import QApplication

from gradscribe.app.commands import file
from gradscribe.app.document.state import Doc
from gradscribe.app.files import documents, settings_file
from gradscribe.app.files.settings import Settings
from tests.app.homes import said, save, sessions, type_in


@pytest.fixture
def syncs(monkeypatch):
    """The threads that wait for the disk, and what they wait for, as it happens."""
    found = []

    def note(name, call, *words):
        found.append((threading.get_ident(), name))
        return call(*words)

    def named(descriptor):
        return os.path.basename(os.path.realpath(f"/proc/self/fd/{descriptor}"))

    sync, write = os.fsync, settings_file.write
    monkeypatch.setattr(os, "fsync", lambda at: note(named(at), sync, at))
    monkeypatch.setattr(settings_file, "write", partial(note, "settings", write))
    monkeypatch.setattr("gradscribe.app.files.sessions.lock_at", partial(watched_lock, note))
    return found


def watched_lock(note, path):
    class Lock(QLockFile):
        """Notes who takes it."""

        def tryLock(self, ms):
            return note("lock", super().tryLock, ms)

    lock = Lock(str(path))
    lock.setStaleLockTime(0)
    return lock


def here(syncs):
    return [name for thread, name in syncs if thread == threading.get_ident()]


def test_opening_programs_with_unsaved_text_waits_for_nothing(edited, tmp_path, syncs, qtbot):
    window, path = edited
    window.recovery._saver.flush()
    other = tmp_path / "b.py"
    other.write_text("b = 1\n")
    syncs.clear()
    for again in (other, path, other):
        file.open_path(window.context, str(again))
        type_in(window, "# more\n")
    window.settings.put("theme", "dark")
    assert here(syncs) == []
    qtbot.waitUntil(lambda: "lock" in dict(map(reversed, syncs)))
    qtbot.waitUntil(lambda: not window.recovery._saver.is_writing)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="files that are open have no names")
def test_a_draft_is_on_the_disk_before_the_session_file_forgets_it(edited, tmp_path, syncs, qtbot):
    window, _ = edited
    window.recovery._saver.flush()
    syncs.clear()
    file.new(window.context)
    (draft,) = (tmp_path / "home" / "drafts").glob("*.json")
    qtbot.waitUntil(lambda: any(".session" in name for _, name in syncs))
    names = [name for _, name in syncs]
    (session,) = (at for at, name in enumerate(names) if ".session" in name)
    assert names.index(draft.name) < session
    assert names.index("drafts") < session


def test_a_draft_goes_once_what_became_of_it_is_on_the_disk(edited, tmp_path, qtbot):
    window, path = edited
    file.new(window.context)
    drafts = tmp_path / "home" / "drafts"
    assert len(list(drafts.glob("*.json"))) == 1
    file.open_path(window.context, str(path))
    assert window.editor.source() == "# mine\na = 1\n"
    assert len(list(drafts.glob("*.json"))) == 1
    qtbot.waitUntil(lambda: not list(drafts.glob("*.json")))
    (session,) = sessions(tmp_path)
    assert b"# mine" in session.read_bytes()


def test_a_draft_that_is_written_anew_before_that_stays(edited, tmp_path, qtbot):
    window, path = edited
    file.new(window.context)
    file.open_path(window.context, str(path))
    type_in(window, "# more\n")
    file.new(window.context)
    window.recovery._saver.flush()
    (draft,) = (tmp_path / "home" / "drafts").glob("*.json")
    assert b"# more" in draft.read_bytes()
    file.open_path(window.context, str(path))
    assert window.editor.source() == "# more\n# mine\na = 1\n"


def test_an_undone_edit_that_was_a_draft_is_none_at_the_next_start(edited, open_window, tmp_path):
    window, path = edited
    window.close()
    second = open_window(path)
    second.session.reload("a = 1\n")
    assert not second.session.doc.modified
    second.close()
    assert not list((tmp_path / "home" / "drafts").glob("*.json"))
    assert open_window(path).editor.source() == "a = 1\n"


def test_a_disk_that_fails_later_is_told(edited, monkeypatch, qtbot):
    window, _ = edited
    window.recovery._saver.flush()
    told = []
    window.recovery._saver.failed.connect(told.append)

    def fail(_):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("gradscribe.app.files.atomic.os.fsync", fail)
        file.new(window.context)
        qtbot.waitUntil(lambda: told == ["the disk has failed"])
    qtbot.waitUntil(lambda: window.recovery._saver.trouble == "")


def test_a_choice_is_written_beside(qapp, tmp_path, syncs, qtbot):
    chosen = Settings(tmp_path / "s.ini")
    chosen.put("theme", "dark")
    qtbot.waitUntil(lambda: len(syncs) == 1)
    assert here(syncs) == []
    chosen.flush()
    assert Settings(tmp_path / "s.ini").text("theme") == "dark"


def test_what_another_window_trusts_is_known_after_a_choice_here(qapp, tmp_path, qtbot):
    mine, theirs = Settings(tmp_path / "s.ini"), Settings(tmp_path / "s.ini")
    theirs.trust("a.py", "x")
    theirs.put("theme", "dark")
    theirs.flush()
    assert mine.text("theme") == "system"
    mine.put("speed", 2.0)
    mine.put("speed", 4.0)
    mine.flush()
    qtbot.waitUntil(lambda: mine.is_trusted("a.py", "x"))
    assert mine.text("theme") == "system", "an open window changes only by a choice in it"
    assert mine.number("speed") == 4.0
    next_start = Settings(tmp_path / "s.ini")
    assert (next_start.number("speed"), next_start.text("theme")) == (4.0, "dark")


def test_a_save_is_written_beside(edited, syncs, qtbot):
    window, path = edited
    window.recovery._saver.flush()
    syncs.clear()
    file.save(window.context)
    qtbot.waitUntil(lambda: not window.session.doc.modified)
    assert path.read_text() == "# mine\na = 1\n"
    assert here(syncs) == []


@pytest.fixture
def held(monkeypatch):
    """Writing waits until this is set."""
    go_on, write = threading.Event(), documents.write_bytes

    def slow(path, data):
        assert go_on.wait(60)
        write(path, data)

    monkeypatch.setattr(documents, "write_bytes", slow)
    yield go_on
    go_on.set()


def test_what_is_typed_while_a_save_is_under_way_is_not_saved_with_it(edited, held, qtbot):
    window, path = edited
    file.save(window.context)
    type_in(window, "# more\n")
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    held.set()
    qtbot.waitUntil(lambda: window.session.doc.saved == "# mine\na = 1\n")
    assert window.session.doc.modified
    assert window.editor.source() == "# mine\n# more\na = 1\n"
    assert path.read_text() == "# mine\na = 1\n"
    assert said(window) == ""
    save(window)
    assert path.read_text() == window.editor.source()


@pytest.mark.parametrize("then", ["open it", "new", "close", "save"])
def test_a_save_under_way_is_waited_for_by_what_needs_it(edited, held, tmp_path, then):
    window, path = edited
    file.save(window.context)
    threading.Timer(0.2, held.set).start()
    if then == "open it":
        file.open_path(window.context, str(path))
        assert window.editor.source() == "# mine\na = 1\n"
    elif then == "new":
        file.new(window.context)
        assert window.session.doc.path == ""
    elif then == "close":
        assert window.close()
    else:
        save(window)
    assert path.read_text() == "# mine\na = 1\n"
    assert not list((tmp_path / "home" / "drafts").glob("*.json"))
    assert said(window) == ""


def test_a_text_without_a_file_that_is_set_by_does_not_cost_another_its_draft(
    open_window, tmp_path
):
    """A lesson opened over the second of two programs that were never saved."""
    window = open_window()
    file.new(window.context)
    type_in(window, "# first\n")
    file.new(window.context)
    type_in(window, "# second\n")
    kept = window.recovery.snapshot()
    window.session.load(Doc(source="x = 1", saved="x = 1", lesson="a"))
    window.recovery.restore(kept)
    assert window.editor.source() == "# second\n"
    window.recovery._saver.flush()
    assert window.drafts.find("").source == "# first\n"
    assert len(sessions(tmp_path)) == 1


def test_a_lock_under_way_keeps_no_other_program_waiting(edited, tmp_path, monkeypatch):
    window, path = edited
    other = tmp_path / "b.py"
    other.write_text("b = 1\n")
    go_on = threading.Event()
    monkeypatch.setattr("gradscribe.app.files.file_watch.try_lock", lambda _: go_on.wait(60))
    for again in (other, path, other):
        file.open_path(window.context, str(again))
    assert window.session.doc.path == str(other)
    go_on.set()
