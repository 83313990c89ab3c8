"""Drive a generator in steps and store its return value."""

from collections.abc import Generator, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class GeneratorRun(Generic[T]):
    """Iterable over the steps of a generator; `made` is its return value once it has ended."""

    result: T

    def __init__(self, steps: Generator[None, None, T]) -> None:
        self._steps = steps

    def __iter__(self) -> Iterator[None]:
        """Run the generator step by step."""
        self.result = yield from self._steps


def run_to_end(steps: Generator[None, None, T]) -> T:
    """Run a generator to its end and return its return value."""
    bits = GeneratorRun(steps)
    for _ in bits:
        pass
    return bits.result
