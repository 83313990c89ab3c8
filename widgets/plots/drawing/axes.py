"""Axes: mapping of numbers to shares of a length, and tick labels."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradscribe.playback.text.formatting import MINUS

Floats = NDArray[np.float64]

_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """The range of an axis. On a ``log`` axis both ends are above 0."""

    low: float
    high: float
    log: bool = False

    def share(self, numbers: NDArray[np.floating]) -> Floats:
        """Return the positions of numbers, from 0 (low) to 1 (high); NaN if there is none."""
        y = np.asarray(numbers, np.float64)
        low, high = self.low, self.high
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                y = np.where(y > 0, np.log10(y), np.nan)
            low, high = math.log10(low), math.log10(high)
        return (y - low) / (high - low)

    def number_share(self, number: float) -> float:
        """Return the position of a single number."""
        return float(self.share(np.asarray([number]))[0])

    def number(self, share: float) -> float:
        """Return the number at the position ``share``."""
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            return float(10 ** (low + share * (high - low)))
        return self.low + share * (self.high - self.low)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return at most about ``most`` round numbers with their labels."""
        if not math.isfinite(self.high - self.low):
            return []
        if self.log:
            return _log_ticks(self.low, self.high, max(2, most))
        step = _round_step((self.high - self.low) / max(1, most))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [(i * step, tick_label(i * step, step)) for i in range(first, last + 1)]


LARGEST = 1e306
"""Largest end of a log axis, so that the powers of ten next to its ends are finite, too."""

SHORTEST_POWER = 1e12
"""Least number that is written as a power of ten instead of with a unit."""

NARROWEST = 1e-5
"""Least relative range of an axis."""


def axis_around(low: float, high: float, log: bool = False) -> Axis:
    """Return an axis from ``low`` to ``high`` with a small margin at both ends.

    A range that is not finite is replaced by a default; a log axis never shows more than 12 decades
    below 1 or below its largest number, and ends a little below the largest float.
    """
    if not (math.isfinite(low) and math.isfinite(high)) or low > high:
        low, high = (0.1, 1.0) if log else (0.0, 1.0)
    if log:
        high = min(max(high, 1e-300), LARGEST)
        low = max(min(low, high), min(high, 1.0) * 1e-12, 1e-307) if low > 0 else high * 1e-3
        # By the exponents: the quotient of the ends may overflow.
        room = max(1.15, 10 ** (0.06 * (math.log10(high) - math.log10(low))))
        return Axis(low / room, min(high * room, 1.15 * LARGEST), log=True)
    size = max(abs(low), abs(high))
    if high - low <= NARROWEST * size:
        # Equal, or only different in the last digits, which labels could not show.
        middle, room = (low + high) / 2, 0.5 * size if low == high else NARROWEST * size
        return Axis(middle - room, middle + room) if room else Axis(low - 1, high + 1)
    room = 0.06 * (high - low)
    return Axis(low - room, high + room)


def _round_step(step: float) -> float:
    if not step > 0 or not math.isfinite(step):
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    if not power:
        return step  # The least float: no power of ten is as small.
    for factor in (1, 2, 5):
        if step <= factor * power * 1.0001:
            return factor * power
    return 10 * power


def _log_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    every = max(1, -(-(last - first + 1) // most))
    ticks = [10.0**power for power in range(first, last + 1, every)]
    if len(ticks) < 2:
        powers = range(math.floor(math.log10(low)), last + 2)
        ticks = [f * 10.0**p for p in powers for f in (1, 2, 5) if low <= f * 10.0**p <= high]
    if len(ticks) < 2:
        return Axis(low, high).ticks(most)
    return [(tick, _decade(tick)) for tick in ticks]


def _decade(number: float) -> str:
    power = math.floor(math.log10(number) + 1e-9)
    if -4 < power < 5:
        return f"{number:.{max(0, -power)}f}"
    front = round(number / 10.0**power)
    exponent = str(power).translate(_POWERS)
    return f"10{exponent}" if front == 1 else f"{front}·10{exponent}"


def tick_label(number: float, step: float) -> str:
    """Return the label of a number on an axis with the distance ``step`` between ticks."""
    size = abs(number)
    if not size or size < step / 1e6:
        return "0"
    if size >= 1e4 or size < 1e-3:
        for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if unit <= size < SHORTEST_POWER:
                digits = max(0, -math.floor(math.log10(step / unit) + 1e-9))
                return f"{number / unit:.{digits}f}{name}".replace("-", MINUS)
        digits = math.floor(math.log10(size) + 1e-9) - math.floor(math.log10(step) + 1e-9)
        return f"{number:.{max(0, digits)}e}".replace("-", MINUS)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{number:,.{digits}f}".replace("-", MINUS)
