"""File objects that emulate a long file of which only a sample of lines is stored.

Reading every k-th line gives the same lines as with the complete file.
"""

import itertools
from collections.abc import Iterable, Iterator

from gradscribe.engine.protocol.training.requests import LineSample


class SampledText:
    """Line iterator over a sampled text file; lines that were not sampled are empty."""

    def __init__(self, data: bytes, sample: LineSample, encoding: str) -> None:
        self._text = data.decode(encoding)
        self._sample = sample
        self._rest = self._read()

    def _read(self) -> Iterator[str]:
        """Return an iterator of all lines; a Python loop over each line would take seconds."""
        return itertools.chain.from_iterable(self._stretches())

    def _stretches(self) -> Iterator[Iterable[str]]:
        sample = self._sample
        *whole, last = self._text.split("\n")
        kept = itertools.chain((f"{line}\n" for line in whole), [last] if last else [])
        at = min(sample.first, sample.lines)
        blank = itertools.repeat("\n")
        yield itertools.islice(kept, at)
        while at < sample.lines:
            following = sample.next_sampled(at)
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
        """Rewind to the beginning. Raises ValueError for any other position."""
        if place:
            raise ValueError("a sampled file is read from its beginning")
        self._rest = self._read()
        return 0


class SampledBytes:
    """Binary view of a sampled file with only its line ends, for counting lines."""

    def __init__(self, sample: LineSample) -> None:
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
