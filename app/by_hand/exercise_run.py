"""The exercise that is open in place of the user's own program."""

import random
from collections.abc import Callable

from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.app.files.session_file import SessionData
from gradscribe.playback.by_hand.exercises import Exercise, exercise

MOST_SEEDS = 1_000_000


class ExerciseRun:
    """Open exercises, and go back to the user's own program afterwards."""

    def __init__(
        self,
        session: Session,
        snapshot: Callable[[], SessionData],
        restore: Callable[[SessionData], None],
        next_seed: Callable[[], int] = lambda: random.randrange(MOST_SEEDS),
    ) -> None:
        self._session, self._snapshot, self._restore = session, snapshot, restore
        self._next_seed = next_seed
        self._own: SessionData | None = None
        self._open: Exercise | None = None

    @property
    def is_open(self) -> bool:
        """True while an exercise is shown in place of the user's own program."""
        return self._open is not None

    @property
    def asked(self) -> str:
        """The name of the leaf whose gradient is asked for; empty without an exercise."""
        return self._open.asked if self._open is not None else ""

    def begin(self, level: int) -> Exercise:
        """Open a new exercise. The user's own program is put aside first.

        Raises:
            Refused: that program cannot be stored.
        """
        if self._open is None:
            self._own = self._snapshot()
        made = exercise(level, self._next_seed())
        self._open = made
        self._session.load(Doc(source=made.source, saved=made.source, title=made.title))
        return made

    def leave(self) -> None:
        """Go back to the user's own program."""
        own, self._own = self._own, None
        self._open = None
        if own is not None:
            self._restore(own)

    def notice(self) -> None:
        """Forget the exercise if another document was opened over it."""
        if self._open is not None and self._session.doc.title != self._open.title:
            self._open, self._own = None, None
