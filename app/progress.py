"""How far somebody is in each lesson; kept in the settings."""

import msgspec
from msgspec import Struct

from app.settings import Settings

KEY = "lessons"


class Reached(Struct, frozen=True):
    """The step one stands at in a lesson, from 0, and whether its end was reached once."""

    step: int = 0
    done: bool = False


class Progress:
    """Reads and writes the progress of all lessons."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def of(self, name: str) -> Reached:
        """Return how far the lesson of that name is."""
        try:
            return msgspec.json.decode(self._all().get(name, b"{}"), type=Reached)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return Reached()

    def reach(self, name: str, step: int) -> None:
        """Note the step that is on the page."""
        self._put(name, Reached(step, self.of(name).done))

    def finish(self, name: str) -> None:
        """Note that the end was reached; the lesson begins anew when it is opened again."""
        self._put(name, Reached(0, True))

    def forget(self) -> None:
        """Begin all lessons anew."""
        self._settings.put(KEY, "{}")

    def _all(self) -> dict[str, msgspec.Raw]:
        """Return what is kept of each lesson, read or not: one that is spoilt spoils no other."""
        try:
            return msgspec.json.decode(self._settings.text(KEY), type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return {}

    def _put(self, name: str, reached: Reached) -> None:
        kept = {**self._all(), name: msgspec.Raw(msgspec.json.encode(reached))}
        self._settings.put(KEY, msgspec.json.encode(kept).decode())
