"""Progress in the lessons, stored in the settings."""

import msgspec
from msgspec import Struct

from gradscribe.app.files.settings import Settings

KEY = "lessons"


class LessonState(Struct, frozen=True):
    """Progress in a lesson: the current step, from 0, and whether it was ever completed.

    ``passed`` counts the steps gone through in the current reading; going back takes none away.
    """

    step: int = 0
    done: bool = False
    passed: int = 0

    def steps_done(self, steps: int) -> int:
        """Return the number of steps done in a lesson of that many."""
        reached = max(self.step, self.passed)
        return min(reached, steps) if reached or not self.done else steps


class LessonProgress:
    """Reads and writes the progress of all lessons."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def of(self, name: str) -> LessonState:
        """Return the progress in the lesson of that name."""
        try:
            return msgspec.json.decode(self._all().get(name, b"{}"), type=LessonState)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return LessonState()

    def reach(self, name: str, step: int) -> None:
        """Store the current step of a lesson."""
        known = self.of(name)
        self._put(name, LessonState(step, known.done, max(known.passed, known.step, step)))

    def finish(self, name: str) -> None:
        """Mark a lesson as completed; it starts over when it is opened again."""
        self._put(name, LessonState(0, True))

    def forget(self) -> None:
        """Delete the progress in all lessons."""
        self._settings.put(KEY, "{}")

    def _all(self) -> dict[str, msgspec.Raw]:
        """Return the stored entries undecoded, so that a damaged one does not affect the others."""
        try:
            return msgspec.json.decode(self._settings.text(KEY), type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return {}

    def _put(self, name: str, reached: LessonState) -> None:
        stored = {**self._all(), name: msgspec.Raw(msgspec.json.encode(reached))}
        self._settings.put(KEY, msgspec.json.encode(stored).decode())
