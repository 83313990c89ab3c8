"""Layout of a table's text: encoding, separator, comment lines and header, guessed from its start.

The window imports it as well, to take the same lines of a long file: the standard library alone.
"""

import codecs
import csv
import io
import re

from msgspec import Struct

from gradscribe.engine.zoo.tables.cells import is_missing, is_number

HEAD = 1 << 20
"""Bytes at the beginning of a file from which its layout is guessed."""
SPACES = r"\s+"
"""The separator of cells that stand between any number of spaces."""
SEPARATORS = (",", ";", "\t", "|")
COMMENTS = ("#", "%", "//")
MOST_LINES = 200
"""Lines from which a layout is guessed."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CYRILLIC = re.compile(rb"[\xc0-\xff]{3,}")
_YEAR = re.compile("(?:1[89]|2[01])[0-9]{2}")
_BINARY = {
    b"PK\x03\x04": "xlsx",
    b"PAR1": "parquet",
    b"\xd0\xcf\x11\xe0": "xls",
    b"\x1f\x8b": "gzip",
    b"%PDF": "pdf",
    b"SQLite format 3": "sqlite",
    b"\x89HDF": "hdf",
}


class Layout(Struct, frozen=True):
    """Layout of a table's text: the lines from ``start`` on (from 0) hold its rows."""

    encoding: str
    separator: str
    comment: str = ""
    names: tuple[str, ...] = ()
    start: int = 1
    header: bool = True
    """True if a line names the columns; else they are called column 1 and so on."""


def file_kind(data: bytes) -> str:
    """Return ``text``, or the kind of a file by the bytes it begins with: ``xlsx``, ``parquet``."""
    return next((kind for mark, kind in _BINARY.items() if data.startswith(mark)), "text")


def guess_encoding(data: bytes) -> str:
    """Return the encoding of a text; ``data`` is all of it, or its beginning.

    Raises:
        ValueError: it is no text.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name
    sample = data[:4096]
    if b"\0" in sample:
        return _wide_encoding(sample)
    controls = sum(byte < 32 and byte not in b"\t\n\f\r\x1a\x1b" for byte in sample)
    if controls > len(sample) // 100:
        raise ValueError("is not text: save the table as CSV")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, len(data) < HEAD)
    except UnicodeDecodeError:
        return _single_byte_encoding(data)
    return "utf-8"


def _wide_encoding(sample: bytes) -> str:
    """Return the kind of UTF-16 of a text with zeros, by where they stand."""
    odd, even = sample[1::2].count(0), sample[::2].count(0)
    if max(odd, even) < len(sample) // 4 or min(odd, even) > len(sample) // 16:
        raise ValueError("is not text: save the table as CSV")
    return "utf-16-le" if odd > even else "utf-16-be"


def _single_byte_encoding(data: bytes) -> str:
    """Return an encoding of one byte a letter: Western European, or Cyrillic if words are."""
    high = sum(map(len, re.findall(rb"[\x80-\xff]+", data)))
    if sum(map(len, _CYRILLIC.findall(data))) > high // 2:
        return "cp1251"
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def decoded_head(data: bytes, encoding: str) -> list[str]:
    """Return the first lines of a text with their ends; what cannot be read is replaced.

    Raises:
        LookupError: there is no such encoding.
    """
    "".encode(encoding)  # raises LookupError for a codec that is none of text, as base64
    text = codecs.getincrementaldecoder(encoding)("replace").decode(data[:HEAD])
    return list(io.StringIO(text, newline=""))


def split_cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line without the spaces around them."""
    if separator == SPACES:
        return line.split()
    try:
        row = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        row = line.rstrip("\r\n").split(separator)
    return [cell.strip() for cell in row]


def guess_separator(lines: list[str]) -> str:
    """Return what separates the cells of lines: ``,``, ``;``, a tab, ``|`` or `SPACES`.

    That with which most lines have equally many cells, of those the one with the most numbers.
    """
    if not lines:
        return ","
    found = max((*SEPARATORS, SPACES), key=lambda separator: (*_evenness(lines, separator),))
    if _evenness(lines, found)[0] > 0:
        return found
    return max(SEPARATORS, key=lines[0].count)


def _evenness(lines: list[str], separator: str) -> tuple[float, float, bool, int]:
    """Return the share of lines of the usual width, the share of numbers, and that width."""
    rows = [split_cells(line, separator) for line in lines]
    width = len(rows[0]) - (rows[0][-1:] == [""])
    if width < 2:
        return 0.0, 0.0, False, 0
    even = sum(abs(len(row) - len(rows[0])) <= 1 and len(row) >= 2 for row in rows) / len(rows)
    cells = [cell for row in rows[1:] or rows for cell in row]
    numbers = sum(is_number(cell) or is_missing(cell) for cell in cells)
    # A single broken row must not decide; its words come later, with its number.
    share = round(numbers / max(1, len(cells)), 2)
    return float(even >= 0.75), share, separator != SPACES, width


def guess_layout(data: bytes, **given: object) -> Layout:
    """Return the layout of a text from its beginning.

    ``given``: ``encoding``, ``separator``, ``comment`` and ``header`` where they are known; empty
    texts and a header of None are guessed.

    Raises:
        ValueError: it is no text, or has no lines.
        LookupError: there is no such encoding.
    """
    encoding = str(given.get("encoding") or "") or guess_encoding(data)
    lines = decoded_head(data, encoding)
    filled = [(at, line) for at, line in enumerate(lines) if line.strip()][:MOST_LINES]
    if not filled:
        raise ValueError("is empty")
    mark = str(given.get("comment") or "")
    marks = (mark,) if mark else COMMENTS
    plain = [line for _, line in filled if not line.lstrip().startswith(marks)]
    separator = str(given.get("separator") or "") or guess_separator(
        plain or [line for _, line in filled]
    )
    comment = mark or _guess_comment(filled, plain, separator)
    start, names = _header(lines, comment, separator)
    header = given.get("header")
    if header is None:
        header = not begins_with_data(names, [split_cells(line, separator) for line in plain[1:]])
    if not header:
        start = _line_of_header(lines, comment, separator)
        rows = [split_cells(line, separator) for line in plain]
        width = len(rows[0]) - all(row[-1:] == [""] for row in rows) if rows else len(names)
        names = [f"column {i + 1}" for i in range(width)]
    return Layout(encoding, separator, comment, tuple(names), start, bool(header))


def _guess_comment(filled: list[tuple[int, str]], plain: list[str], separator: str) -> str:
    """Return the mark of lines that are comments; empty if there are none."""
    width = len(split_cells(plain[0], separator)) if plain else 0
    for mark in COMMENTS:
        marked = [line for _, line in filled if line.lstrip().startswith(mark)]
        first = filled[0][1].lstrip().startswith(mark)
        narrow = any(len(split_cells(line, separator)) != width for line in marked)
        if marked and plain and (narrow or first):
            return mark
    return ""


def _line_of_header(lines: list[str], comment: str, separator: str) -> int:
    """Return the number of the line that names the columns.

    It is the first that is no comment, or the comment above it if that has as many cells and the
    line below it holds numbers: some programs write the names so.
    """
    above = -1
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        if comment and line.lstrip().startswith(comment):
            above = at
            continue
        cells = split_cells(line, separator)
        if above >= 0 and any(map(is_number, cells)):
            named = split_cells(_uncommented(lines[above], comment), separator)
            if len(named) == len(cells) > 1 and not any(map(is_number, named)):
                return above
        return at
    return max(above, 0)


def _uncommented(line: str, comment: str) -> str:
    text = line.lstrip()
    return text.removeprefix(comment).lstrip() if comment else line


def _header(lines: list[str], comment: str, separator: str) -> tuple[int, list[str]]:
    """Return the number of the first line below the header, and the names in it."""
    at = _line_of_header(lines, comment, separator)
    first = _uncommented(lines[at], comment)
    if separator == SPACES:
        return at + 1, first.split()
    reader = csv.reader([first, *lines[at + 1 :]], delimiter=separator, skipinitialspace=True)
    try:
        row = next(reader, [])
    except csv.Error:
        return at + 1, split_cells(first, separator)
    # A header may go over several lines; a quotation that is not closed would take all of them.
    if reader.line_num > MOST_LINES or at + reader.line_num >= len(lines) > 1:
        return at + 1, split_cells(first, separator)
    names = [" ".join(cell.split()) for cell in row]
    while len(names) > 1 and not names[-1]:
        names.pop()
    return at + reader.line_num, names


def begins_with_data(names: list[str], rows: list[list[str]]) -> bool:
    """Return True if a first row looks like data and not like the names of the columns.

    Every column of numbers has a number there, and every other a text that comes again below, or
    that cannot, as all texts differ. Years are names.
    """
    numbers_there = [name for name in names if is_number(name)]
    if not numbers_there or (
        len(numbers_there) < len(names) and all(map(_YEAR.fullmatch, numbers_there))
    ):
        return False
    for at, name in enumerate(names):
        column = [row[at] for row in rows if at < len(row)]
        numbers = sum(map(is_number, column))
        if numbers > len(column) / 2 or not column:
            if not (is_number(name) or is_missing(name)):
                return False
        elif name not in column and not is_missing(name) and len(set(column)) < len(column):
            return False
    return True
