"""Run a second program in parallel to the shown one, in an engine of its own."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.state import UNSAVED_FILENAME, Doc, Limits
from gradscribe.app.link.client import Link
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.tape import Tape


def run_document(
    link: Link,
    source: str,
    doc: Doc,
    limits: Limits,
    *,
    brief: bool = False,
    wanted_steps: tuple[int, int, int] | None = None,
    drafts: bool = False,
    watched_module: str = "",
) -> int:
    """Run ``source`` with a document's name, seed, device, Python and limits; return the run id.

    ``brief``: request only the outcome; the rest: see `messages.Run`.
    """
    return link.run(
        source,
        filename=doc.path or UNSAVED_FILENAME,
        seed=doc.seed,
        device=doc.device,
        timeout=limits.timeout,
        memory=limits.memory,
        policy=doc.foreign,
        is_open=limits.is_open,
        brief=brief,
        wanted_steps=wanted_steps,
        drafts=drafts,
        watched_module=watched_module,
        interpreter=doc.interpreter,
    )


class SideRun(QObject):
    """Runs one program at a time, each in a new engine that is ended afterwards."""

    ended = Signal(object)
    """Carries the tape; not emitted for a cancelled program."""

    def __init__(
        self, parent: QObject | None = None, link: Callable[[QObject], Link] = Link
    ) -> None:
        super().__init__(parent)
        self._make = link
        self._link: Link | None = None
        self._run_id = 0

    def start(self, source: str, doc: Doc, limits: Limits) -> None:
        """Run ``source`` with the document's seed and device, under ``limits``."""
        self.close()
        self._link = link = self._make(self)
        link.received.connect(self._take)
        link.start()
        self._run_id = run_document(link, source, doc, limits)

    def _take(self, message: object) -> None:
        if isinstance(message, messages.Recorded) and message.run_id == self._run_id:
            tape: Tape = message.tape
            self.close()
            self.ended.emit(tape)

    def close(self) -> None:
        """Cancel the program and end its engine."""
        link, self._link = self._link, None
        if link is not None:
            link.received.disconnect(self._take)
            link.close()
            link.deleteLater()
