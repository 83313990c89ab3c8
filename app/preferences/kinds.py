"""Kinds of settings: the values that a setting accepts, and the bounds that its editor offers."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct

MAX_TEXT = 4_000
"""Most characters of a setting that is a line of text."""


class SwitchKind(Struct, frozen=True):
    """On or off."""

    def accepts(self, value: object) -> bool:
        """Return whether ``value`` is a boolean."""
        return isinstance(value, bool)


class NumberKind(Struct, frozen=True):
    """A number from ``low`` to ``high``; shown ``factor`` times as large, with its unit."""

    low: float
    high: float
    unit: str = ""
    step: float = 1.0
    """Step of the editor, in the unit that is shown."""
    factor: float = 1.0
    decimals: int = 0

    def accepts(self, value: object) -> bool:
        """Return whether ``value`` is a float within the bounds."""
        return isinstance(value, float) and self.low <= value <= self.high


class ChoiceKind(Struct, frozen=True):
    """A text out of a few: stored value -> title."""

    titles: Mapping[str, str]

    def accepts(self, value: object) -> bool:
        """Return whether ``value`` is among the choices."""
        return isinstance(value, str) and value in self.titles


class LineKind(Struct, frozen=True):
    """A line of text; ``pattern`` is a regular expression for all of it."""

    hint: str = ""
    """Placeholder of the empty editor."""
    pattern: str = ""

    def accepts(self, value: object) -> bool:
        """Return whether ``value`` is a printable line that fits the pattern."""
        if not isinstance(value, str) or len(value) > MAX_TEXT or not _is_printable(value):
            return False
        return not self.pattern or re.fullmatch(self.pattern, value, re.ASCII) is not None


class FontKind(Struct, frozen=True):
    """A font family; empty for the usual one."""

    is_fixed: bool
    """True if all characters must have the same width."""

    def accepts(self, value: object) -> bool:
        """Return whether ``value`` may be the name of a family, installed here or elsewhere."""
        if not isinstance(value, str) or len(value) > 100 or not _is_printable(value):
            return False
        # It is written into style sheets.
        return not set(value) & set('";{}\\')


class RecordKind(Struct, frozen=True):
    """Data that a part of the program stores by itself; not a choice, and without an editor."""

    is_valid: Callable[[object], bool] = lambda _: True

    def accepts(self, value: object) -> bool:
        """Return whether the part that stores it can read ``value``."""
        return self.is_valid(value)


Kind: TypeAlias = SwitchKind | NumberKind | ChoiceKind | LineKind | FontKind | RecordKind


def _is_printable(text: str) -> bool:
    return text.isprintable()
