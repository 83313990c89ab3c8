"""Positions in a document, which counts UTF-16 code units, of characters of its text."""

from bisect import bisect_left


class UnitPlaces:
    """Maps an index of ``source`` to the position in Qt's document with that text."""

    def __init__(self, source: str) -> None:
        wide = () if source.isascii() else enumerate(source)
        self._wide = [index for index, letter in wide if letter > "\uffff"]

    def __call__(self, index: int) -> int:
        """Return the position of the character at ``index``."""
        return index + bisect_left(self._wide, index)
