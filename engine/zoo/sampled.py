"""A long file of which some lines are kept, read as if all of it were there.

Whoever takes every k-th line of the file takes the same lines of this.
"""

import itertools
from collections.abc import Iterable, Iterator

from engine.training.asks import Sample


class SampledText:
    """The text of a sampled file, a line at a time. A line that was left out is empty."""

    def __init__(self, data: bytes, sample: Sample, encoding: str) -> None:
        self._text = data.decode(encoding)
        self._sample = sample
        self._rest = self._read()

    def _read(self) -> Iterator[str]:
        """Return every line; a loop in Python over each of so many would take seconds."""
        return itertools.chain.from_iterable(self._stretches())

    def _stretches(self) -> Iterator[Iterable[str]]:
        sample = self._sample
        *whole, last = self._text.split("\n")
        kept = itertools.chain((f"{line}\n" for line in whole), [last] if last else [])
        at = min(sample.first, sample.lines)
        blank = itertools.repeat("\n")
        yield itertools.islice(kept, at)
        while at < sample.lines:
            following = sample.next_kept(at)
            yield itertools.islice(blank, min(following, sample.lines) - at)
            if following < sample.lines:
                yield (next(kept),)
            at = following + 1

    def __enter__(self) -> "SampledText":
        return self

    def __exit__(self, *_: object) -> None:
        self._rest = iter(())

    def __iter__(self) -> Iterator[str]:
        return self._rest

    def __next__(self) -> str:
        return next(self._rest)

    def seek(self, place: int) -> int:
        """Begin anew. Raises ValueError for any other place."""
        if place:
            raise ValueError("a sampled file is read from its beginning")
        self._rest = self._read()
        return 0


class SampledBytes:
    """So many line ends: all that there is to count in a sampled file."""

    def __init__(self, sample: Sample) -> None:
        self._left = sample.line_ends

    def __enter__(self) -> "SampledBytes":
        return self

    def __exit__(self, *_: object) -> None:
        self._left = 0

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes; fewer at the end."""
        count = min(max(0, size), self._left)
        self._left -= count
        return b"\n" * count
