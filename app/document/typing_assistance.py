"""Connect the editor's completion with the language process, the last run and the settings."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject

from gradscribe.app.document.session import Session
from gradscribe.app.link import launch
from gradscribe.app.link.language import LanguageLink
from gradscribe.engine.protocol.language import LanguageRequest
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.completion.live_names import LiveName, live_names
from gradscribe.widgets.editor.completion.assistance import TypingAssistance


class AssistanceController(QObject):
    """Starts the language process once the user types and the engine is ready."""

    def __init__(
        self,
        session: Session,
        assistance: TypingAssistance,
        make_link: Callable[[QObject], LanguageLink],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._assistance = session, assistance
        self._link = make_link(self)
        self._is_wanted = False
        self._tape: Tape | None = None
        self._live: Mapping[str, LiveName] = {}
        assistance.knowledge.live = self._live_names
        assistance.begun.connect(self._begin)
        assistance.requested.connect(self._ask)
        self._link.received.connect(assistance.take)
        self._link.ready_changed.connect(self._on_ready)
        session.result_changed.connect(self._start)
        session.doc_changed.connect(self._set_place)

    def close(self) -> None:
        """End the language process."""
        self._is_wanted = False
        self._link.close()

    def _begin(self) -> None:
        self._is_wanted = True
        self._set_place()
        self._start()

    def _start(self) -> None:
        # Not while the engine starts: the user waits for that.
        if self._is_wanted and self._session.result.engine != "starting":
            self._is_wanted = False
            self._link.start()

    def _set_place(self) -> None:
        doc = self._session.doc
        folder = "" if doc.foreign else launch.script_folder(doc.path)
        self._link.set_place(folder, doc.interpreter)

    def _ask(self, request: LanguageRequest) -> None:
        self._link.ask(request)

    def _on_ready(self, is_ready: bool) -> None:
        self._assistance.has_answers = is_ready

    def _live_names(self) -> Mapping[str, LiveName]:
        """Return the names of the tape shown, read once for each tape."""
        tape = self._session.result.tape
        if tape is not self._tape:
            self._tape, self._live = tape, live_names(tape)
        return self._live
