"""The latest few of what is made of tapes, fewer where the tapes are long."""

from collections.abc import Iterator
from typing import Generic, TypeVar

K = TypeVar("K")

ALWAYS = 2
"""However long their tapes are: one is shown, and the next is made ready or stands beside it."""
EVENTS = 40_000
"""More are kept while all together stand for at most so many events."""


class Recent(Generic[K]):
    """At most ``most`` things, the newest first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: list[tuple[K, int]] = []

    def __iter__(self) -> Iterator[K]:
        return (one for one, _ in self._held)

    def add(self, one: K, events: int) -> list[K]:
        """Keep one more thing, made of so many events, and return those that are dropped for it."""
        self._held.insert(0, (one, events))
        kept = total = 0
        for _, length in self._held[: self._most]:
            total += length
            if kept >= ALWAYS and total > EVENTS:
                break
            kept += 1
        dropped = [old for old, _ in self._held[kept:]]
        del self._held[kept:]
        return dropped
