"""Films, pictures and tapes into files while the window goes on living: bit by bit."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from app.documents import Refused
from app.film_chip import FilmChip

WAITING = -1
"""Stands for the number of bits while something is made elsewhere, on a thread of its own."""
WAIT_MS = 20
"""So long it rests where it has to wait."""
SLICE_MS = 10
"""So long bits are made in one go; then the window has its turn."""


class Making(ABC):
    """What is made, and the words for it."""

    verb = "Writing"

    def __init__(self, name: str) -> None:
        self.name = name
        """What it becomes, as the chip calls it."""

    @property
    def done_words(self) -> str:
        """What is said once it is there."""
        return f"Wrote {self.name}"

    @property
    def busy_words(self) -> str:
        """What is said to who wants something else meanwhile."""
        return f"{self.name} is still being written"

    @property
    def dropped_words(self) -> str:
        """What is said of one that was given up."""
        return f"{self.name} was not written"

    @abstractmethod
    def __len__(self) -> int:
        """Return how many bits there are."""

    @abstractmethod
    def steps(self) -> Iterator[int]:
        """Make it, and yield after each bit how many are done, or `WAITING`."""

    def give_up(self) -> bool:
        """Leave nothing behind; False where it is too late for that, and it is about to be done."""
        return True


class Filming(QObject):
    """Makes one thing at a time, shows on a chip how far it is, and says what became of it."""

    ended = Signal(str)
    busy_changed = Signal()

    def __init__(self, chip: FilmChip, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chip = chip
        self._made: Making | None = None
        self._steps: Iterator[int] = iter(())
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._go_on)
        chip.cancelled.connect(self.cancel)

    @property
    def busy(self) -> bool:
        """Whether something is being made."""
        return self._made is not None

    def begin(self, made: Making) -> None:
        """Make something.

        Raises:
            Refused: something is being made.
        """
        if self._made is not None:
            raise Refused(f"{self._made.busy_words}; wait, or cancel it")
        self._made, self._steps = made, made.steps()
        self._turn.start()
        self._chip.begin(made.verb, made.name)
        self.busy_changed.emit()

    def cancel(self) -> None:
        """Give up; no file is left behind."""
        if self._made is not None and self._made.give_up():
            self._end(f"Cancelled; {self._made.dropped_words}")

    def _go_on(self) -> None:
        made = self._made
        if made is None:
            return
        clock = QElapsedTimer()
        clock.start()
        try:
            done: int | None = next(self._steps, None)
            while done is not None and done >= 0 and not clock.hasExpired(SLICE_MS):
                done = next(self._steps, None)
        except Refused as refusal:
            self._end(str(refusal))
            return
        except BaseException:
            # A fault of ours: it is told elsewhere, and must not come again with each turn.
            self._end(made.dropped_words)
            raise
        if done is None:
            self._end(made.done_words)
        elif done >= 0:
            self._chip.show_share(done, len(made))
        self._turn.setInterval(WAIT_MS if done is not None and done < 0 else 0)

    def _end(self, words: str) -> None:
        self._turn.stop()
        self._made, self._steps = None, iter(())
        self._chip.end()
        self.busy_changed.emit()
        self.ended.emit(words)
