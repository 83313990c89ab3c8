"""What a generator makes bit by bit: gone through one bit after another, and kept at its end."""

from collections.abc import Generator, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Bits(Generic[T]):
    """Goes once through a generator; `made` is what it returned, once that is over."""

    made: T

    def __init__(self, steps: Generator[None, None, T]) -> None:
        self._steps = steps

    def __iter__(self) -> Iterator[None]:
        """Make one bit after another."""
        self.made = yield from self._steps


def whole(steps: Generator[None, None, T]) -> T:
    """Make all bits at once and return what they make."""
    bits = Bits(steps)
    for _ in bits:
        pass
    return bits.made
