"""Run another program beside the one that is shown, in an engine of its own, and give it back."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.link import Link
from app.state import UNNAMED, Doc, Engine, Limits
from engine import wire
from engine.tape import Tape


class Trial(QObject):
    """One program at a time; its engine lives only while it runs."""

    ended = Signal(object)
    """Carries the tape; that of a program which was given up never comes."""

    def __init__(
        self, parent: QObject | None = None, link: Callable[[QObject], Engine] = Link
    ) -> None:
        super().__init__(parent)
        self._make = link
        self._link: Engine | None = None
        self._run_id = 0

    def start(self, source: str, doc: Doc, limits: Limits) -> None:
        """Run ``source`` as the document is run: with its seed, device and limits."""
        self.close()
        self._link = link = self._make(self)
        link.received.connect(self._take)
        link.start()
        self._run_id = link.run(
            source,
            filename=doc.path or UNNAMED,
            seed=doc.seed,
            device=doc.device,
            timeout=limits.timeout,
            memory=limits.memory,
            policy=doc.foreign,
            is_open=limits.is_open,
        )

    def _take(self, message: object) -> None:
        if isinstance(message, wire.Recorded) and message.run_id == self._run_id:
            tape: Tape = message.tape
            self.close()
            self.ended.emit(tape)

    def close(self) -> None:
        """Give the program up and end its engine."""
        link, self._link = self._link, None
        if link is not None:
            link.received.disconnect(self._take)
            link.close()
            if isinstance(link, QObject):
                link.deleteLater()
