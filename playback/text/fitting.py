"""Shorter forms of shapes and numbers: cut off, ``100 × 1`` would read as another shape."""

import bisect
import math
import re
from collections.abc import Callable

from gradscribe.playback.text import formatting

_SHAPE = re.compile(r"\d+(?: × \d+)+")
_FLOW = re.compile(r"\d[\d ×,]* → \d[\d ×,]*")
_NUMBER = re.compile(rf"[-{formatting.MINUS}]?\d[\d,]*(?:\.\d+)?(?:e[-+{formatting.MINUS}]?\d+)?")
_PREFIXES = ("∇ ", "mean ", "")


def fitted(text: str, fits: Callable[[str], bool]) -> str | None:
    """Return a text, or the longest form of it that fits.

    Returns:
        Empty where a shape or number fits in no form; None for another text that does not fit,
        which may be cut.
    """
    if fits(text):
        return text
    shorter = forms(text)
    if not shorter:
        return None
    return next((form for form in shorter if fits(form)), "")


def fitted_name(name: str, fits: Callable[[str], bool]) -> str:
    """Return a name, or the longest form of it that fits, cut in the middle.

    ``blocks.0.attention.weight`` is ``blocks.0….weight``, then ``b….weight``: names of parameters
    differ at both ends, and ``…eight`` is no name. Where not even the last part fits, it is cut.
    """
    if fits(name):
        return name
    head, dot, last = name.rpartition(".")
    if dot:
        shown = _count_that_fits(len(head), lambda end: fits(_without_middle(head, end, last)))
        if shown or fits(f"…{last}"):
            return _without_middle(head, shown, last)
    shown = _count_that_fits(len(last), lambda end: fits(_cut_in_the_middle(last, end)))
    return _cut_in_the_middle(last, shown)


def _without_middle(head: str, end: int, last: str) -> str:
    return f"{head[:end]}….{last}" if end else f"…{last}"


def _cut_in_the_middle(word: str, shown: int) -> str:
    return f"{word[: (shown + 1) // 2]}…{word[len(word) - shown // 2 :]}"


def _count_that_fits(below: int, fits: Callable[[int], bool]) -> int:
    """Return the largest count below ``below`` that fits; 0 if none does."""
    return max(0, bisect.bisect_left(range(1, below), x=True, key=lambda count: not fits(count)))


def forms(text: str) -> tuple[str, ...]:
    """Return the shorter forms of a shape or number, the longest first; none of other texts.

    ``16 × 8`` is ``16×8``, ``1.2346`` is ``1.2…``, ``12345`` is ``1.23e4``: a number keeps its
    size, and no digit before its point is cut. The sizes of a layer, ``16 → 8 · 136 params``, lose
    their count first, as a whole.
    """
    prefix = next(prefix for prefix in _PREFIXES if text.startswith(prefix))
    rest = text.removeprefix(prefix)
    shape, dot, more = rest.partition(" · ")
    if _FLOW.fullmatch(shape):
        short = shape.replace(" ", "")
        return (f"{short}{dot}{more}", shape, short) if dot else (short,)
    if dot and _SHAPE.fullmatch(shape):
        short = shape.replace(" × ", "×")
        return f"{short}{dot}{more}", short
    if _SHAPE.fullmatch(rest):
        return (prefix + rest.replace(" × ", "×"),)
    if not _NUMBER.fullmatch(rest):
        return ()
    x = float(rest.replace(",", "").replace(formatting.MINUS, "-"))
    if not math.isfinite(x):
        return ()
    point = rest.find(".") if "e" not in rest else -1
    cut = [f"{rest[:end]}…" for end in range(len(rest) - 2, point + 1, -1)] if point > 0 else []
    is_big = abs(x) >= 1000 or 0 < abs(x) < 0.001
    rounded = [_exponential(x, digits) for digits in (2, 1, 0)] if is_big else []
    shorter = [form for form in [*cut, *rounded] if len(form) < len(rest)]
    return tuple(prefix + form for form in dict.fromkeys(shorter)) or (text,)


def _exponential(x: float, digits: int) -> str:
    """Return a number with so many digits after its first: its exponent shows that it is short."""
    mantissa, _, exponent = f"{x:.{digits}e}".partition("e")
    return f"{mantissa}e{int(exponent)}".replace("-", formatting.MINUS)
