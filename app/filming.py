"""Films into files while the window goes on living: frame after frame between its turns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from app.documents import Refused
from app.film_chip import FilmChip

WAIT_MS = 20
"""So long it rests where it has to wait."""
SLICE_MS = 20
"""So long frames are made in one go; then the window has its turn."""


class Making(Protocol):
    """What is made; see `app.film_job.Job`."""

    @property
    def path(self) -> Path:
        """The file that it becomes."""

    def __len__(self) -> int:
        """Return how many frames there are."""

    def steps(self) -> Iterator[int]:
        """Make it, and yield after each bit how many frames are done.

        Less than 0: nothing can be done before something is ready that is made elsewhere.
        """


class Filming(QObject):
    """Makes one film at a time, shows on a chip how far it is, and says what became of it."""

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
        """Whether a film is being made."""
        return self._made is not None

    def begin(self, made: Making) -> None:
        """Make a film.

        Raises:
            Refused: one is being made.
        """
        if self._made is not None:
            raise Refused(f"{self._made.path.name} is still being written; wait, or cancel it")
        self._made, self._steps = made, made.steps()
        self._turn.start()
        self._chip.begin(made.path.name)
        self.busy_changed.emit()

    def cancel(self) -> None:
        """Give up; no file is left behind."""
        if self._made is not None:
            self._end(f"Cancelled; {self._made.path.name} was not written")

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
            self._end(f"{made.path.name} was not written")
            raise
        if done is None:
            self._end(f"Wrote {made.path.name}")
        elif done >= 0:
            self._chip.show_share(done, len(made))
        self._turn.setInterval(WAIT_MS if done is not None and done < 0 else 0)

    def _end(self, words: str) -> None:
        self._turn.stop()
        self._made, self._steps = None, iter(())
        self._chip.hide()
        self.busy_changed.emit()
        self.ended.emit(words)
