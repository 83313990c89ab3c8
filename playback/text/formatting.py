"""Formatting of numbers, shapes, sizes, durations and names for the whole interface."""

import math
from collections.abc import Callable
from pathlib import PurePath

from gradscribe.playback.translation import tr

MINUS = "\N{MINUS SIGN}"

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def number(x: float | int | bool | complex | None, digits: int = 4) -> str:
    """Return ``x`` with four decimals, a true minus sign, and an exponent where needed.

    A number such as 0.0006 gets a fifth decimal, so that at least two significant digits show.
    NaN and the infinities read ``NaN``, ``∞`` and ``−∞``; None reads as an em dash; integers and
    booleans stay as they are.
    """
    if x is None:
        return "\N{EM DASH}"
    if isinstance(x, bool):
        return str(x)
    if isinstance(x, complex):
        sign = "+" if x.imag >= 0 or math.isnan(x.imag) else MINUS
        return f"{number(x.real, digits)} {sign} {number(abs(x.imag), digits)}i"
    if isinstance(x, int):
        return str(x).replace("-", MINUS) if abs(x) < 10**9 else f"{x:.3e}".replace("-", MINUS)
    return _real(x, digits)


def _real(x: float, digits: int) -> str:
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "∞" if x > 0 else MINUS + "∞"
    size = abs(x)
    if size != 0 and (size >= 1e6 or size < 10**-digits):
        return f"{x:.2e}".replace("-", MINUS)
    if digits > 2 and 0 < size < 10.0 ** (1 - digits):
        digits += 1
    elif size >= 1000:
        digits = max(0, digits - 2)
    return f"{x:.{digits}f}".replace("-", MINUS)


def trim_zeros(x: float | int | bool | complex, digits: int = 4) -> str:
    """Return a number without trailing zeros: ``3``, ``0.5``, ``1e+30``."""
    if isinstance(x, complex):
        sign = "+" if x.imag >= 0 or x.imag != x.imag else MINUS
        return f"{trim_zeros(x.real, digits)} {sign} {trim_zeros(abs(x.imag), digits)}i"
    written, exponent, power = number(x, digits).partition("e")
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return written + exponent + power


def short_number(x: float) -> str:
    """Return a number in the few characters of a cell: ``.81``, ``1.2``, ``34``, ``NaN``."""
    if not math.isfinite(x):
        return number(x)
    magnitude = abs(x)
    if magnitude >= 1e4 or 0 < magnitude < 5e-3:
        return f"{x:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("-", MINUS)
    digits = 0 if magnitude >= 99.5 or x == int(x) else 1 if magnitude >= 9.95 else 2
    text = f"{x:.{digits}f}"
    if digits == 2 and magnitude < 0.995:
        text = text.replace("0.", ".", 1)
    return text.replace("-", MINUS)


def fitting_number(x: float, fits: Callable[[str], bool]) -> str:
    """Return `short_number`, with fewer decimals if only that ``fits``; empty if nothing does.

    A number never becomes 0 by this.
    """
    text = short_number(x)
    if fits(text):
        return text
    if not math.isfinite(x) or "e" in text:
        return ""
    shorter = (f"{x:.{digits}f}" for digits in (1, 0) if len(text.partition(".")[2]) > digits)
    for form in shorter:
        whole = form.replace("0.", ".", 1) if abs(x) < 0.95 else form
        whole = whole.replace("-", MINUS)
        if float(form) and fits(whole):
            return whole
    return ""


def shape(dims: tuple[int, ...]) -> str:
    """Return a shape as ``16 × 8``; a scalar's is ``scalar``."""
    return " × ".join(map(str, dims)) if dims else "scalar"


def size(count: int) -> str:
    """Return a number of bytes as ``96 B``, ``1.2 kB``, ``3.4 MB``; a kB is 1,000 bytes."""
    return f"{count} B" if count < 1000 else _in_units(count, ("kB", "MB", "GB"))


def duration(nanoseconds: float) -> str:
    """Return a time as ``850 ns``, ``12.3 µs``, ``4.1 ms``, ``2.5 s``."""
    if nanoseconds < 999.5:
        return tr("{round} ns", round=round(nanoseconds))
    return _in_units(nanoseconds, ("µs", "ms", "s"))


def _in_units(amount: float, units: tuple[str, ...]) -> str:
    """Return an amount in the first suitable unit, each being 1,000 of the unit before."""
    for unit in units:
        amount /= 1000
        if amount < 999.95 or unit == units[-1]:
            break
    return f"{amount:,.1f}".removesuffix(".0") + f" {unit}"


def count(n: int, noun: str) -> str:
    """Return ``1 op``, ``2 ops``, ``1,000 ops``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def variable(name: str) -> str:
    """Return a name in mathematical notation: ``x₁`` for ``x1``; longer names are unchanged."""
    if len(name) > 1 and name[0].isalpha() and name[1:].isdecimal():
        return name[0] + name[1:].translate(_SUBSCRIPTS)
    return name


def elide_middle(name: str, length: int) -> str:
    """Return a name cut in its middle to ``length`` letters: both ends distinguish it."""
    if len(name) <= length:
        return name
    first = length // 2
    return f"{name[:first]}…{name[first + 1 - length :]}"


def file_name(name: str) -> str:
    """Return a file's name with unprintable characters (such as text direction marks) replaced."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name
    )


def slug(title: str) -> str:
    """Return a title as the stem of a file name, in lower case and with hyphens."""
    name = "".join(c.lower() if c.isalnum() else "-" for c in PurePath(title).stem)
    return "-".join(part for part in name.split("-") if part) or "program"
