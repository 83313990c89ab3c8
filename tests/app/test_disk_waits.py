"""The interface never waits for the disk, but where a program is saved or the window closes."""

import os
import threading
from functools import partial

import pytest
from PySide6.QtCore import QLockFile

from app import settings_file
from app.commands import file
from app.settings import Settings
from tests.app.homes import sessions, type_in


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
    monkeypatch.setattr("app.sessions.lock_at", partial(watched_lock, note))
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
    window.keeping._saver.flush()
    other = tmp_path / "b.py"
    other.write_text("b = 1\n")
    syncs.clear()
    for again in (other, path, other):
        file.open_path(window, str(again))
        type_in(window, "# more\n")
    window.settings.put("theme", "dark")
    assert here(syncs) == []
    qtbot.waitUntil(lambda: "lock" in dict(map(reversed, syncs)))
    qtbot.waitUntil(lambda: not window.keeping._saver.is_writing)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="files that are open have no names")
def test_a_draft_is_on_the_disk_before_the_session_file_forgets_it(edited, tmp_path, syncs, qtbot):
    window, _ = edited
    window.keeping._saver.flush()
    syncs.clear()
    file.new(window)
    (draft,) = (tmp_path / "home" / "drafts").glob("*.json")
    qtbot.waitUntil(lambda: any(".session" in name for _, name in syncs))
    names = [name for _, name in syncs]
    (session,) = (at for at, name in enumerate(names) if ".session" in name)
    assert names.index(draft.name) < session
    assert names.index("drafts") < session


def test_a_draft_goes_once_what_became_of_it_is_on_the_disk(edited, tmp_path, qtbot):
    window, path = edited
    file.new(window)
    drafts = tmp_path / "home" / "drafts"
    assert len(list(drafts.glob("*.json"))) == 1
    file.open_path(window, str(path))
    assert window.editor.source() == "# mine\na = 1\n"
    assert len(list(drafts.glob("*.json"))) == 1
    qtbot.waitUntil(lambda: not list(drafts.glob("*.json")))
    (session,) = sessions(tmp_path)
    assert b"# mine" in session.read_bytes()


def test_a_draft_that_is_written_anew_before_that_stays(edited, tmp_path, qtbot):
    window, path = edited
    file.new(window)
    file.open_path(window, str(path))
    type_in(window, "# more\n")
    file.new(window)
    window.keeping._saver.flush()
    (draft,) = (tmp_path / "home" / "drafts").glob("*.json")
    assert b"# more" in draft.read_bytes()
    file.open_path(window, str(path))
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
    window.keeping._saver.flush()
    told = []
    window.keeping._saver.failed.connect(told.append)

    def fail(_):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("app.atomic.os.fsync", fail)
        file.new(window)
        qtbot.waitUntil(lambda: told == ["the disk has failed"])
    qtbot.waitUntil(lambda: window.keeping._saver.trouble == "")


def test_a_choice_is_written_beside(qapp, tmp_path, syncs, qtbot):
    chosen = Settings(tmp_path / "s.ini")
    chosen.put("theme", "dark")
    qtbot.waitUntil(lambda: len(syncs) == 1)
    assert here(syncs) == []
    chosen.flush()
    assert Settings(tmp_path / "s.ini").text("theme") == "dark"


def test_what_another_window_chose_is_known_after_a_choice_here(qapp, tmp_path, qtbot):
    mine, theirs = Settings(tmp_path / "s.ini"), Settings(tmp_path / "s.ini")
    theirs.trust("a.py", "x")
    theirs.put("theme", "dark")
    theirs.flush()
    assert mine.text("theme") == "system"
    mine.put("speed", 2.0)
    mine.put("speed", 4.0)
    mine.flush()
    qtbot.waitUntil(lambda: mine.text("theme") == "dark")
    assert mine.is_trusted("a.py", "x")
    assert mine.number("speed") == 4.0
    assert Settings(tmp_path / "s.ini").number("speed") == 4.0
