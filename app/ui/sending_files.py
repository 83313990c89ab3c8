"""The offer to send the files next to a script to the machine on which it lacked one."""

from pathlib import Path

from PySide6.QtCore import QObject

from gradscribe.app.document.session import Session
from gradscribe.app.link.interpreters import UnusablePython
from gradscribe.app.link.launch import NO_FILE
from gradscribe.app.link.remote import sent_files
from gradscribe.app.runtime.notice import Notice, NoticeActions
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.compare.run_changes import ProgramRun
from gradscribe.playback.translation import tr

KEY = "send files"


class SendingFiles(QObject):
    """Offers it after a run that failed for want of a file; the program runs again with them."""

    def __init__(self, session: Session, notices: NoticeActions, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._notices = session, notices
        session.ran.connect(self._look)
        session.begun.connect(lambda: notices.drop(KEY))

    def _look(self, _run: ProgramRun) -> None:
        doc, error = self._session.doc, self._session.result.problem
        python = doc.interpreter
        if python is None or not python.host or error is None or error.type not in NO_FILE:
            self._notices.drop(KEY)
            return
        if python.sent or doc.foreign or not Path(doc.path).is_file():
            return
        place, name = python.host.removeprefix("ssh://"), Path(doc.path).name
        try:
            count = sent_files.described(sent_files.siblings(doc.path))
        except (UnusablePython, OSError) as problem:
            words = tr("{name} lacked a file on {place}", name=name, place=place)
            self._notices.post(Notice(KEY, f"{words}. {problem}"))
            return
        words = tr(
            "{name} lacked a file on {place}. Its folder has {count}.",
            name=name,
            place=place,
            count=count,
        )
        self._notices.post(Notice(KEY, words, ((tr("Send them and run"), self._send),)))

    def _send(self) -> None:
        doc = self._session.doc
        if doc.interpreter is not None and doc.path:
            sent = sent_files.siblings(doc.path)
            self._session.set_interpreter(replace(doc.interpreter, sent=sent))
