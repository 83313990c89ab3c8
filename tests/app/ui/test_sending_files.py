"""The offer to send files to the machine on which a program lacked one."""

import pytest
from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.state import Doc, Result
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.link.remote import sent_files
from gradscribe.app.ui.sending_files import KEY, SendingFiles
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem

LACKED = Problem("FileNotFoundError", "No such file: 'data.csv'")
FAR = Interpreter("/env/bin/python", "3.12.1", "2.9.0", host="ssh://lab")


class Notices:
    """The notices that are shown, by their keys."""

    def __init__(self):
        self.shown = {}

    def post(self, notice):
        self.shown[notice.key] = notice

    def drop(self, key):
        self.shown.pop(key, None)


class FakeSession(QObject):
    """A document, and the problem of its last run."""

    ran = Signal(object)
    begun = Signal()

    def __init__(self, doc):
        super().__init__()
        self.doc, self.result = doc, Result()

    def set_interpreter(self, python):
        self.doc = replace(self.doc, interpreter=python)

    def end(self, problem=None):
        self.result = replace(self.result, problem=problem)
        self.ran.emit(None)


@pytest.fixture
def session(qapp, tmp_path):
    for name in ("train.py", "data.csv"):
        (tmp_path / name).write_text(name)
    doc = replace(Doc(), path=str(tmp_path / "train.py"), interpreter=FAR, foreign=False)
    made = FakeSession(doc)
    made.notices = Notices()
    made.offer = SendingFiles(made, made.notices, made)
    return made


def test_a_program_that_lacked_a_file_there_is_offered_those_of_its_folder(session):
    session.end(LACKED)
    notice = session.notices.shown[KEY]
    assert notice.text == "train.py lacked a file on lab. Its folder has 2 files, 16 B."
    ((label, send),) = notice.choices
    assert label == "Send them and run"
    send()
    assert session.doc.interpreter.sent == sent_files.siblings(session.doc.path)
    session.end(LACKED)
    assert len(session.notices.shown) == 1, "it is not offered twice"


def test_it_is_withdrawn_once_the_program_runs(session):
    session.end(LACKED)
    session.end()
    assert not session.notices.shown


@pytest.mark.parametrize(
    "changes", [{"interpreter": None}, {"foreign": True}, {"path": ""}, {"path": "/none.py"}]
)
def test_it_is_not_offered_where_there_is_nothing_to_send(session, changes):
    session.doc = replace(session.doc, **changes)
    session.end(LACKED)
    assert not session.notices.shown


def test_other_errors_are_none_of_its_business(session):
    session.end(Problem("ValueError", "no"))
    assert not session.notices.shown


def test_a_folder_that_is_too_large_is_named(session, monkeypatch):
    monkeypatch.setattr(sent_files, "MOST_BYTES", 10)
    session.end(LACKED)
    notice = session.notices.shown[KEY]
    assert "the most that is sent" in notice.text
    assert not notice.choices
