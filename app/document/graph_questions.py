"""Questions to the graph, answered in a worker thread; the answers light up card by card."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.flow import highlight
from gradscribe.playback.flow.highlight import Answer, Highlight
from gradscribe.playback.flow.ways import Ways, ways
from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.tape.index import index_of
from gradscribe.widgets.base.single_shot import single_shot

FRAMES = 14
"""Most pictures in which the cards of an answer light up."""
FRAME_MS = 70
LARGE = 400
"""Number of cards in a picture above which the answer is shown at once."""


class GraphQuestions(QObject):
    """Answer the latest question about a picture; answers about an earlier one are dropped."""

    changed = Signal()
    """Emitted when `answer` or the `lit` cards have changed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = BackgroundWorker(self)
        self._asked: tuple[Highlight, Picture] | None = None
        self._next = single_shot(self, self._light_more, FRAME_MS)
        self._frames = 1
        self._frame = 0
        self.answer: Answer | None = None
        """The answer to the question; None while it is looked for, or if there is none."""

    @property
    def is_busy(self) -> bool:
        """True while an answer is looked for, or lights up."""
        return self._worker.is_busy or self._next.isActive()

    @property
    def lit(self) -> frozenset[str] | None:
        """Keys of the cards that do not fade now; None if none does."""
        if self.answer is None:
            return None
        cards = self.answer.cards
        return frozenset(cards[: -(-len(cards) * self._frame // self._frames)])

    def ask(self, tape: Tape, picture: Picture, asked: Highlight | None) -> None:
        """Ask about a picture of a tape, unless that was asked last; None ends the answer."""
        if asked is None:
            self.forget()
            return
        if self._asked and self._asked[1] is picture and self._asked[0] == asked:
            return
        if self._asked and self._asked[1] is not picture:
            # Its keys may belong to other cards here.
            self._set_answer(None)
        self._asked = (asked, picture)
        self._next.stop()
        small = len(picture.cards) <= LARGE
        self._worker.request(
            lambda _task: highlight.answer(index_of(tape), picture, asked),
            partial(self._take, small),
        )

    def forget(self) -> None:
        """End the answer, or drop the one that is looked for."""
        self._worker.cancel()
        self._next.stop()
        self._asked = None
        self._set_answer(None)

    def _take(self, played: bool, result: Callable[[], Answer | None]) -> None:
        found = result()
        count = 0 if found is None else len(found.cards)
        self._frames = max(1, min(FRAMES, count)) if played else 1
        self._frame = 1
        self.answer = found
        self.changed.emit()
        if self._frame < self._frames:
            self._next.start()

    def _light_more(self) -> None:
        self._frame += 1
        self.changed.emit()
        if self._frame < self._frames:
            self._next.start()

    def _set_answer(self, found: Answer | None) -> None:
        if found != self.answer:
            self.answer = found
            self.changed.emit()

    def close(self) -> None:
        """Wait for the worker thread to end; its answer is dropped."""
        self._next.stop()
        self._worker.close()


class WaysFinder(QObject):
    """Find the ways of a value to the loss in a worker thread; only the latest are delivered."""

    found = Signal(int, object)
    """Carries the id of the value, and its `Ways`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = BackgroundWorker(self)

    @property
    def is_busy(self) -> bool:
        """True while ways are looked for."""
        return self._worker.is_busy

    def request(self, tape: Tape, value: int) -> None:
        """Request the ways of a value of a tape."""
        self._worker.request(lambda _task: ways(index_of(tape), value), partial(self._take, value))

    def _take(self, value: int, result: Callable[[], Ways]) -> None:
        self.found.emit(value, result())

    def forget(self) -> None:
        """Drop the ways that are looked for."""
        self._worker.cancel()

    def close(self) -> None:
        """Wait for the worker thread to end."""
        self._worker.close()
