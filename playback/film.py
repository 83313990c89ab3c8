"""A state that follows the tape: folded over events, with checkpoints to make scrubbing cheap."""

from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")


class Film(Generic[S]):
    """The states of something along ``length`` steps.

    ``first`` is the state before any step, and ``copy`` makes an independent copy. At most some
    forty checkpoints are kept.
    """

    def __init__(self, length: int, first: S, copy: Callable[[S], S]) -> None:
        self._length = length
        self._every = max(128, length // 32)
        self._copy = copy
        self._checkpoints = [copy(first)]
        self._state = first
        self._at = 0

    def at(self, position: int, step: Callable[[S, int], None]) -> S:
        """Return the state after ``position`` steps; it is only lent: read it, do not keep it.

        ``step(state, i)`` changes a state in place by step i, always the same way. It is lent, too:
        it belongs to the owner of the film, and each would keep the other from being freed.
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
