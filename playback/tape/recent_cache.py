"""Cache of the latest few objects derived from tapes, fewer where the tapes are long."""

from collections.abc import Iterator
from typing import Generic, TypeVar

K = TypeVar("K")

MIN_STORED = 2
"""Objects stored whatever their length: for the tape shown, and for the next or compared tape."""
MAX_EVENTS = 40_000
"""Most events of all stored objects together, beyond the first `MIN_STORED`."""


class RecentCache(Generic[K]):
    """At most ``most`` objects, the newest first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._items: list[tuple[K, int]] = []

    def __iter__(self) -> Iterator[K]:
        return (item for item, _ in self._items)

    def add(self, item: K, events: int) -> list[K]:
        """Store an object that stands for so many events; return the objects that are dropped."""
        self._items.insert(0, (item, events))
        count = total = 0
        for _, length in self._items[: self._most]:
            total += length
            if count >= MIN_STORED and total > MAX_EVENTS:
                break
            count += 1
        dropped = [old for old, _ in self._items[count:]]
        del self._items[count:]
        return dropped
