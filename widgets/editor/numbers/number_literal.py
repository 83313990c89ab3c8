"""Numeric literals in source text: finding them, and rewriting them when dragged.

Arithmetic is decimal, so that steps of 0.1 never show binary noise.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from gradscribe.widgets.editor import highlight

_DIGITS = r"\d(?:_?\d)*"
_DECIMAL = re.compile(
    rf"(?P<mantissa>{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?P<exponent>[eE][+-]?{_DIGITS})?"
)
_GROUPED = re.compile(r"\d{1,3}(?:_\d{3})+")
MAX_DIGITS = 40
"""Longer literals are ignored: dragging them is pointless, and arithmetic on them slow."""


@dataclass(frozen=True)
class NumberLiteral:
    """A decimal integer or float in one line.

    ``start`` and ``end`` count characters of the line and include a minus sign of the number.
    ``base`` is True if ``**`` follows, so that a negative number needs parentheses.
    """

    start: int
    end: int
    text: str
    base: bool = False

    @property
    def is_int(self) -> bool:
        """True for an integer, which stays an integer when moved."""
        return self.text.lstrip("- \t").replace("_", "").isdecimal()

    @property
    def exponent(self) -> str:
        """The exponent as written, ``e-3``; empty without one."""
        match = _parsed(self.text)
        return match["exponent"] or ""

    @property
    def mantissa(self) -> Decimal:
        """The number without its exponent, with its sign."""
        digits = Decimal(_parsed(self.text)["mantissa"].replace("_", ""))
        return digits.copy_negate() if self.text.startswith("-") else digits

    @property
    def step(self) -> Decimal:
        """The change of the mantissa per step.

        1 for integers; else 1 in the last decimal, but no finer than a hundredth of the number's
        magnitude, since steps of 0.0001 are too small to drag 6.8814 anywhere. A mantissa of one
        digit, as in ``1e-3``, moves in tenths.
        """
        if self.is_int:
            return Decimal(1)
        number = self.mantissa
        own = _decimals(self.text)
        if self.exponent and own == 0:
            own = 1
        coarse = 2 - number.adjusted() if number else own
        return Decimal(1).scaleb(-max(0, min(own, coarse)))

    def moved(self, change: Decimal) -> str:
        """Return the source text of the number with ``change`` added to its mantissa.

        The notation is preserved: the decimals, unless ``change`` needs more, the exponent, the
        underscores. A change of 0 gives the same text, and zero is never written as ``-0.0``.
        """
        if self.is_int:
            change = change.to_integral_value()
        if not change:
            return self.text
        value = self.mantissa + change
        places = max(_decimals(self.text), -int(change.normalize().as_tuple().exponent))
        text = f"{abs(value):{',' if self._is_grouped else ''}.{places}f}".replace(",", "_")
        mantissa = _parsed(self.text)["mantissa"]
        if mantissa.endswith(".") and places == 0:
            text += "."
        elif mantissa.startswith(".") and text.startswith("0."):
            text = text[1:]
        text += self.exponent
        if value >= 0:
            return text
        return f"(-{text})" if self.base else f"-{text}"

    @property
    def _is_grouped(self) -> bool:
        whole = _parsed(self.text)["mantissa"].partition(".")[0]
        return _GROUPED.fullmatch(whole) is not None


def _parsed(text: str) -> re.Match[str]:
    match = _DECIMAL.fullmatch(text.lstrip("- \t"))
    assert match is not None
    return match


def _decimals(text: str) -> int:
    return len(_parsed(text)["mantissa"].partition(".")[2].replace("_", ""))


def find_literals(
    line: str, state: int = highlight.LexerState.CODE, before: str = ""
) -> list[NumberLiteral]:
    """Return the draggable numbers of ``line``, from left to right.

    Strings (f-strings too) and comments contain none; hexadecimal, octal, binary and complex
    numbers are left out. ``state`` is the highlighter's state at the line's beginning, ``before``
    the code that precedes the line, to distinguish a sign from a subtraction.
    """
    found = []
    for start, end, kind in highlight.code_spans(line, state):
        text = line[start:end]
        if kind != "number" or end - start > MAX_DIGITS or not _DECIMAL.fullmatch(text):
            continue
        base = line[end:].lstrip().startswith("**")
        if not base:
            start = highlight.sign_before(line, start, before)
        found.append(NumberLiteral(start, end, line[start:end], base))
    return found


def literal_covering(found: list[NumberLiteral], column: int) -> NumberLiteral | None:
    """Return the literal that contains the character at ``column``, or that ends there."""
    covering = [literal for literal in found if literal.start <= column <= literal.end]
    return covering[-1] if covering else None
