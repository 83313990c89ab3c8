"""Autosave: soon, beside the interface, and not silent when it cannot."""

import pytest
from msgspec.structs import replace

from gradscribe.app.document.state import Doc
from gradscribe.app.files import session_file
from gradscribe.app.files.session_file import SessionData
from gradscribe.app.files.sessions import PROGRAM_FORMAT, Sessions
from gradscribe.app.files.unsaved.autosave import Autosave

WORK = SessionData(Doc("a"))


class Window:
    """Something whose work is saved."""

    def __init__(self):
        self.kept = WORK

    def look(self):
        return self.kept

    def type(self, text):
        self.kept = replace(self.kept, doc=Doc(text))


@pytest.fixture
def typed():
    return Window()


@pytest.fixture
def slot(tmp_path):
    slot = Sessions(tmp_path / "sessions", PROGRAM_FORMAT).begin()
    yield slot
    slot.drop()


@pytest.fixture
def saver(qapp, slot, typed):
    saver = Autosave(slot, typed.look)
    yield saver
    saver.close()


def text_in(slot):
    try:
        return session_file.read(slot.path).doc.source
    except FileNotFoundError:
        # Not yet, or just then the file becomes the previous version.
        return None


def test_an_edit_is_saved(saver, slot, qtbot):
    saver.edited()
    qtbot.waitUntil(lambda: text_in(slot) == "a")


def test_what_is_edited_while_a_save_is_under_way_is_saved_after_it(saver, slot, typed, qtbot):
    for text in ("a", "ab", "abc", "abcd"):
        typed.type(text)
        saver.edited()
        qtbot.wait(1)
    qtbot.waitUntil(lambda: text_in(slot) == "abcd")


def test_edits_without_a_rest_do_not_put_the_save_off(saver, slot, typed, qtbot):
    texts = iter(range(10**6))

    def goes_on_typing():
        typed.type(str(next(texts)))
        saver.edited()
        return text_in(slot) not in (None, "0", "1")

    qtbot.waitUntil(goes_on_typing)


def test_where_one_looks_is_saved_later_and_an_edit_does_not_wait_for_it(saver, slot, qtbot):
    saver.view_changed()
    saver.edited()
    with qtbot.waitSignal(saver.written, timeout=1500):
        pass
    assert text_in(slot) == "a"


def test_the_same_work_is_not_written_again(saver, slot, qtbot):
    with qtbot.waitSignal(saver.written):
        saver.edited()
    before = slot.path.stat().st_mtime_ns
    saver.edited()
    qtbot.wait(350)
    assert saver.flush() == ""
    assert slot.path.stat().st_mtime_ns == before


def test_a_full_disk_is_told_once_and_so_is_its_end(saver, slot, typed, qtbot, monkeypatch):
    monkeypatch.setattr("gradscribe.app.files.unsaved.autosave.RETRY_MS", 1)
    full, told = [True], []
    save = slot.save

    def sometimes(what):
        if full[0]:
            raise OSError(28, "No space left on device")
        save(what)

    monkeypatch.setattr(slot, "save", sometimes)
    saver.failed.connect(told.append)
    saver.recovered.connect(lambda: told.append("mended"))
    with qtbot.waitSignals([saver.written] * 3):
        saver.edited()
    assert told == ["the disk is full"]
    assert saver.trouble == "the disk is full"
    full[0] = False
    qtbot.waitUntil(lambda: told == ["the disk is full", "mended"])
    assert text_in(slot) == "a"


def test_flush_saves_at_once_or_says_why_not(saver, slot, typed, monkeypatch):
    assert saver.flush() == ""
    assert text_in(slot) == "a"
    typed.type("b")

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(slot, "save", refuse)
    assert saver.flush() == "you may not write there"
    assert text_in(slot) == "a"
