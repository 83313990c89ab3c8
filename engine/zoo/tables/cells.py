"""Texts of a table's cells: which are missing, how numbers and dates are written."""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

MISSING = frozenset(
    "|?|-|--|---|–|—|.|..|...|na|n/a|n.a.|#n/a|#na|<na>|nan|nat|null|none|nil|missing|empty|(empty)"
    "|blank|(blank)|not available|\\n|#value!|#ref!|#div/0!|#num!|#name?|#null!".split("|")
)
"""Contents of cells without a value, in small letters."""
_CURRENCY = re.compile(r"[$€£¥₹₽₩₺₿₴]|[A-Z]{3}\b|Fr\.|kr\b|zł")
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
FORMATS = (
    (".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (",", "'"), (".", " "), (",", " "),
)  # fmt: skip
"""Decimal marks and thousands separators of numbers."""
DATE_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y",
    "%d/%m/%y", "%m-%d-%Y", "%d-%m-%Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y",
    "%B %d, %Y", "%Y-%m", "%b %Y", "%B %Y", "%d. %b %Y", "%d. %B %Y",
)  # fmt: skip
"""Formats of days."""
TIME_FORMATS = (
    "", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S.%f", "T%H:%M", "T%H:%M:%S%z",
    "T%H:%M:%S.%f%z", " %H:%M:%S%z", " %H:%M:%S.%f%z", " %I:%M %p", " %I:%M:%S %p",
)  # fmt: skip
"""Characters that may follow a day."""
DATES_LOOKED_AT = 400
"""Cells from which the format of dates is guessed."""
DATES_TRIED = 8
NUMERIC_SHARE = 0.5
"""A column is numbers if as many of its filled cells are: the others are mistakes to report."""


class NumberFormat(Struct, frozen=True):
    """Decimal mark and thousands separator of the numbers in a column."""

    decimal: str = "."
    thousands: str = ""
    percent: bool = False
    currency: bool = False
    is_ambiguous: bool = False
    """True if the marks could as well have the other meaning."""


def is_missing(text: str) -> bool:
    """Return True for an empty cell, or a usual word for a missing value."""
    return text.strip().lower() in MISSING


def bare(text: str) -> str:
    """Return the text of a number without currency, percent sign and parentheses; "(3)" is -3."""
    text = re.sub("[\u00a0\u202f]", " ", text.strip()).replace("’", "'")
    text = re.sub("[−–—]", "-", text)
    sign = ""
    if text.startswith("(") and text.endswith(")"):
        sign, text = "-", text[1:-1].strip()
    elif text.endswith("-") and text[-2:-1].isdigit():
        sign, text = "-", text[:-1]
    money = (
        r"[A-Z]{0,2}[$]|[€£¥₹₽₩₺₿₴]|CHF|EUR|USD|GBP|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|Fr\.|kr\.?|zł"
    )
    text = re.sub(rf"^([+-]?)\s*(?:{money})\s*|\s*(?:{money})$|\s*%$", r"\1", text)
    text = re.sub(r"([.,])--?$", "", text)
    return sign + text.removeprefix("+")


def number_pattern(decimal: str, thousands: str) -> str:
    """Return the regular expression of numbers in a format, as `bare` leaves them."""
    d, t = re.escape(decimal), re.escape(thousands)
    whole = f"(?:[1-9][0-9]{{0,2}}(?:{t}[0-9]{{3}})+|[0-9]+)" if thousands else "[0-9]+"
    return f"[+-]?(?:{whole}(?:{d}[0-9]*)?|{d}[0-9]+)(?:[eE][+-]?[0-9]+)?"


_PATTERNS = {marks: re.compile(number_pattern(*marks)) for marks in FORMATS}


def shape(text: str) -> str:
    """Return a cell with 1 for each digit, and 0 for a first digit that is one.

    The formats that fit a cell, and what `bare` leaves out, depend on nothing else; many cells have
    the same shape.
    """
    ones = text.translate(_ONES)
    first = ones.find("1")
    return f"{ones[:first]}0{ones[first + 1 :]}" if first >= 0 and text[first] == "0" else ones


_ONES = str.maketrans(dict.fromkeys("0123456789", "1"))


@functools.lru_cache(1 << 14)
def fitting(form: str) -> tuple[tuple[str, str], ...]:
    """Return the formats that fit cells of a `shape`."""
    plain = bare(form)
    if INFINITE.fullmatch(plain):
        return FORMATS
    return tuple(marks for marks, pattern in _PATTERNS.items() if pattern.fullmatch(plain))


@functools.lru_cache(1 << 14)
def is_bare(form: str) -> bool:
    """Return True if cells of a `shape` hold nothing that `bare` would leave out."""
    return bare(form) == form


def is_number(text: str) -> bool:
    """Return True if a cell holds a number in any usual format."""
    return bool(fitting(shape(text)))


def matching_formats(texts: Iterable[str]) -> tuple[list[tuple[str, str]], int]:
    """Return the formats that fit the most of some texts, and how many texts they fit."""
    shapes = Counter(map(shape, texts))
    counts = dict.fromkeys(FORMATS, 0)
    for form, count in shapes.items():
        for marks in fitting(form):
            counts[marks] += count
    most = max(counts.values())
    return [marks for marks, count in counts.items() if count == most], most


def decimal_marks(columns: Iterable[Sequence[str]]) -> set[str]:
    """Return the decimal marks of which columns of numbers leave no doubt."""
    found = set()
    for texts in columns:
        formats, count = matching_formats(texts)
        marks = {decimal for decimal, _ in formats}
        if len(marks) == 1 and count > NUMERIC_SHARE * len(texts):
            found |= marks
    return found


def guess_numbers(
    texts: Sequence[str], separator: str, known: set[str], decimal: str = "", thousands: str = ""
) -> NumberFormat | None:
    """Return the format of a column's filled cells; None if too few of them are numbers.

    ``known``: the decimal marks of the table's other columns; they decide where a column leaves it
    open whether 1,234 is more than a thousand. ``decimal`` and ``thousands`` are given ones.
    """
    if not texts:
        return None
    formats, count = matching_formats(texts)
    if decimal or thousands:
        wanted = [
            (d, t) for d, t in _PATTERNS if d == (decimal or d) and t == (thousands or t) and d != t
        ]
        counts = {m: sum(m in fitting(shape(text)) for text in texts) for m in wanted}
        count = max(counts.values(), default=0)
        formats = [marks for marks in wanted if counts[marks] == count]
    if count < NUMERIC_SHARE * len(texts) or not count or not formats:
        return None
    order = _preference(separator, known)
    best = min(formats, key=order.index)
    has_marks = any("," in text or "." in text for text in texts)
    if not has_marks and (".", best[1]) in formats:
        best = (".", best[1])
    # In a table with commas between the cells, a comma in a number divides thousands.
    doubtful = len({marks[0] for marks in formats}) > 1 and separator != "," and len(known) != 1
    doubtful = doubtful and has_marks
    return NumberFormat(
        *best,
        percent=any("%" in text for text in texts),
        currency=any(_CURRENCY.search(text) for text in texts),
        is_ambiguous=doubtful and not decimal,
    )


def _preference(separator: str, known: set[str]) -> list[tuple[str, str]]:
    """Return the formats, the likeliest first."""
    if len(known) == 1:
        mark = next(iter(known))
        return sorted(FORMATS, key=lambda marks: marks[0] != mark)
    if separator == ",":
        return sorted(FORMATS, key=lambda marks: marks[0] != ".")
    return list(FORMATS)


def guess_dates(texts: Sequence[str], day_first: bool) -> str:
    """Return the format of a column of dates; empty if it is none.

    ``day_first`` decides where the cells do not: is 3/4 in March or in April?
    """
    texts = texts[:DATES_LOOKED_AT]
    if not texts or sum(map(_could_be_date, texts)) <= NUMERIC_SHARE * len(texts):
        return ""
    formats = sorted(DATE_FORMATS, key=lambda f: day_first and f.startswith("%m"))
    likely = [d + t for d in formats for t in TIME_FORMATS]
    few = texts[:DATES_TRIED]
    likely = [form for form in likely if any(is_date(text, form) for text in few)]
    counts = {form: sum(is_date(text, form) for text in texts) for form in likely}
    best = max(counts, key=lambda form: counts[form], default="")
    return best if counts.get(best, 0) > NUMERIC_SHARE * len(texts) else ""


def _could_be_date(text: str) -> bool:
    return bool(re.search(r"\d", text)) and bool(re.search(r"[-/. :]", text.strip()))


_FIELDS = {
    "%Y": r"\d{4}", "%y": r"\d{2}", "%f": r"\d{1,6}", "%b": r"[^\W\d]+", "%B": r"[^\W\d]+",
    "%p": "[A-Za-z]{2}", "%z": r"(?:[Zz]|[+-]\d{2}:?\d{2})",
    **dict.fromkeys(("%m", "%d", "%H", "%I", "%M", "%S"), r"\d{1,2}"),
}  # fmt: skip


@functools.lru_cache(1 << 10)
def _date_pattern(form: str) -> re.Pattern[str] | None:
    """Return a pattern of all dates in a format, and of a few other texts; None if it is unusual.

    `strptime` compiles its own for each format, and remembers five of them.
    """
    parts = re.split("(%.)", form)
    if any(part not in _FIELDS for part in parts[1::2]):
        return None
    spelled = [
        _FIELDS[part] if at % 2 else re.sub(r"(\\ )+", r"\\s+", re.escape(part))
        for at, part in enumerate(parts)
    ]
    return re.compile("".join(spelled), re.IGNORECASE)


def is_date(text: str, form: str) -> bool:
    """Return True if a cell holds a date in a format of `datetime.strptime`."""
    pattern = _date_pattern(form)
    if pattern is not None and not pattern.fullmatch(text.strip()):
        return False
    try:
        datetime.strptime(text.strip(), form)
    except ValueError:
        return False
    return True


def is_ambiguous_date(texts: Sequence[str], form: str) -> bool:
    """Return True if day and month of all dates could as well be the other way round."""
    swapped = {"%d": "%m", "%m": "%d"}
    if form.startswith("%Y") or "%b" in form or "%B" in form:
        return False
    other = re.sub("%[dm]", lambda found: swapped[found[0]], form)
    return all(is_date(text, other) for text in texts)
