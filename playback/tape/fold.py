"""State folded over the events of a tape, with checkpoints so that scrubbing is cheap."""

from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")


class CheckpointedFold(Generic[S]):
    """A mutable state along ``length`` steps, restored from the nearest checkpoint.

    ``first`` is the state before any step, and ``copy`` makes an independent copy. About 32
    checkpoints are stored on a long tape, fewer on a short one.
    """

    def __init__(self, length: int, first: S, copy: Callable[[S], S]) -> None:
        self._length = length
        self._every = max(128, length // 32)
        self._copy = copy
        self._checkpoints = [copy(first)]
        self._state = first
        self._at = 0

    def at(self, position: int, step: Callable[[S, int], None]) -> S:
        """Return the state after ``position`` steps: the live object, to be read and not stored.

        ``step(state, i)`` applies step i in place and must be deterministic. It is an argument
        rather than an attribute because it is a method of the owner: a reference cycle otherwise.
        """
        position = min(max(position, 0), self._length)
        nearest = min(position // self._every, len(self._checkpoints) - 1)
        if not nearest * self._every <= self._at <= position:
            self._state = self._copy(self._checkpoints[nearest])
            self._at = nearest * self._every
        while self._at < position:
            step(self._state, self._at)
            self._at += 1
            if self._at == len(self._checkpoints) * self._every:
                self._checkpoints.append(self._copy(self._state))
        return self._state
