"""A table as it was read: its cells, its layout, and the rows that were taken."""

from __future__ import annotations

import csv
import functools
import math
import os
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import msgspec

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.requests import LineSample
from gradscribe.engine.zoo import provided_files
from gradscribe.engine.zoo.provided_files import ProvidedFiles
from gradscribe.engine.zoo.tables import convert
from gradscribe.engine.zoo.tables.cells import decimal_marks, is_missing
from gradscribe.engine.zoo.tables.layout import (
    SPACES,
    Layout,
    file_kind,
    guess_encoding,
    guess_layout,
    split_cells,
)
from gradscribe.engine.zoo.tables.lazy_pandas import pd

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "spaces": SPACES}
DECIMALS = {"point": ".", "comma": ","}
THOUSANDS = {"none": "", "comma": ",", "point": ".", "apostrophe": "'", "space": " "}
EVIDENCE_ROWS = 200
"""Rows from which the decimal mark of a table is guessed."""
MOST_COLUMNS = 2000
SHOWN_ROWS = 20
_REFUSED = {
    "xls": "is an old workbook: save it as .xlsx or CSV",
    "gzip": "is compressed: unpack it",
    "pdf": "is a PDF: save the table as CSV",
    "sqlite": "is a database: export the table as CSV",
    "hdf": "is an HDF5 file: save the table as CSV or Parquet",
}
UNREADABLE = (ValueError, KeyError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile)
"""Exceptions of the readers of workbooks and Parquet files."""
Reading = Mapping[str, JsonValue]
"""The options that say how a file is read."""


class LoadedTable:
    """A table's rows as texts, or as the numbers that a workbook or a Parquet file has.

    Raises:
        ValueError: it cannot be read; the message names the file and, where there is one, the row.
        OSError: the file cannot be opened.
    """

    def __init__(self, path: str, options: Reading, files: ProvidedFiles | None = None) -> None:
        self.path, self.name = path, Path(path).name
        self._options, self._files = options, files
        self._data, self._sample = _contents(path, files)
        self.kind = file_kind(self._data[:16])
        self.limit = max(1, int(str(options.get("limit", 20_000))))
        self.layout = Layout("", "")
        self.every, self.first, self.trailing = 1, 0, 0
        try:
            if self.kind in _REFUSED:
                raise ValueError(_REFUSED[self.kind])
            self.frame: pd.DataFrame = self._text() if self.kind == "text" else self._typed()
        except UnicodeError:
            name = self.layout.encoding or str(options.get("encoding"))
            raise ValueError(f'{self.name} is not text in {name}: set "encoding"') from None
        except LookupError:
            name = str(options.get("encoding"))
            raise ValueError(
                f"there is no encoding {name[:40]!r}; usual are utf-8, cp1252"
            ) from None
        except ValueError as error:
            words = str(error)
            named = words if words.startswith("row ") else f"{self.name} {words}"
            raise ValueError(named) from None
        self.names = [str(name) for name in self.frame.columns]

    # Reading

    def _open(self, mode: str = "r") -> IO[Any]:
        if "b" in mode:
            return provided_files.open_provided(self.path, mode, files=self._files)
        encoding = self.layout.encoding
        return provided_files.open_provided(
            self.path, newline="", encoding=encoding, files=self._files
        )

    def _text(self) -> pd.DataFrame:
        given = dict(self._options)
        if self._sample is not None and self._sample.recoded:
            given["encoding"] = "utf-8"
        elif not given.get("encoding"):
            given["encoding"] = guess_encoding(self._data)
        if "\0" in str(given["encoding"]):
            raise LookupError
        given["separator"] = SEPARATORS.get(str(given.get("separator")), "")
        self.layout = guess_layout(self._data, **given)
        self.layout = msgspec.structs.replace(self.layout, names=_unique(self.layout.names))
        if self._sample is not None and self._sample.recoded:
            self.layout = msgspec.structs.replace(self.layout, encoding=self._sample.recoded)
        if len(self.layout.names) > MOST_COLUMNS:
            raise ValueError(f"has more than {MOST_COLUMNS:,} columns")
        start = self.layout.start
        if self._sample is not None:
            self.every = self._sample.every
            self.first = (self._sample.start - start) % self.every
        else:
            ends = provided_files.count_line_ends(self.path, self._files)
            self.every = max(1, math.ceil((ends - 1) / self.limit))
            self._check_quotations()
        self.names = [*self.layout.names]
        self.trailing = self._extra_cells()
        frame = self._parse()
        beyond = list(frame.columns[len(self.names) :])
        if beyond and frame[beyond].notna().any(axis=None):
            self._refuse_width()
        frame = frame.drop(columns=beyond)
        if not len(frame):
            raise ValueError("has no rows below its header" if self.layout.header else "is empty")
        self.missing = self._missing_words(frame)
        self.first_rows = _shown(frame)
        return frame.mask(frame.isin(self.missing)) if self.missing else frame

    def _extra_cells(self) -> int:
        """Return the most cells of a row beyond the last name: empty ones do no harm."""
        separator, width = self.layout.separator, len(self.names)
        with self._open() as file:
            lines = islice(file, self.layout.start + self.first, None, self.every)
            if separator == SPACES:
                most = max((len(line.split()) for line in lines), default=0)
            else:
                quoted = functools.partial(split_cells, separator=separator)
                most = max(
                    (
                        len(quoted(line)) if '"' in line else line.count(separator) + 1
                        for line in lines
                    ),
                    default=0,
                )
        if most - width > MOST_COLUMNS:
            self._refuse_width()
        return max(0, most - width)

    def _parse(self) -> pd.DataFrame:
        layout = self.layout
        try:
            with self._open() as file, warnings.catch_warnings():
                # It reports cells that would be lost.
                warnings.simplefilter("error", pd.errors.ParserWarning)
                return convert.read_rows(
                    file, [*self.names, *beyond_names(self.trailing)], layout.separator,
                    layout.comment, layout.start, self.first, self.every,
                )  # fmt: skip
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            if "EOF inside string" in str(error):
                self._refuse_quotation()
            self._refuse_width()
            raise ValueError(" ".join(str(error).split())) from None

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the cells of each row; for messages alone, as it is slow."""
        with self._open() as file:
            lines = islice(file, self.layout.start + self.first, None, self.every)
            above, size = self.layout.start + self.first, self.every
            if self.layout.separator == SPACES:
                yield from ((above + 1 + i * size, line.split()) for i, line in enumerate(lines))
                return
            reader = csv.reader(lines, delimiter=self.layout.separator, skipinitialspace=True)
            at = 0
            try:
                for row in reader:
                    yield above + 1 + at * size, row
                    at = reader.line_num
            except csv.Error:  # a quotation that is not closed, for more than 128 kB
                yield above + 1 + at * size, []

    def _refuse_width(self) -> None:
        """Raise ValueError for the first row with more cells than there are names."""
        width = len(self.names)
        for number, row in self._rows():
            comment = self.layout.comment
            if comment and row and row[0].lstrip().startswith(comment):
                continue
            if any(cell.strip() for cell in row[width:]):
                quoted = "; does a cell need quotation marks?" if len(row) == width + 1 else ""
                raise ValueError(
                    f"row {number} has {len(row)} cells, "
                    f"the {'header' if self.layout.header else 'first'} {width}{quoted}"
                )

    def _refuse_quotation(self) -> None:
        last = 0
        for number, _ in self._rows():
            last = number
        raise ValueError(f"row {last} opens a quotation and does not close it")

    def _check_quotations(self) -> None:
        """Refuse cells over several lines where lines are left out: a sample would cut them."""
        if self.every == 1 or b'"' not in self._data or self.layout.separator == SPACES:
            return
        with self._open() as file:
            for place, line in enumerate(file, 1):
                if place > self.layout.start and line.count('"') % 2:
                    check_closed(line, self.layout.separator, place)

    def _typed(self) -> pd.DataFrame:
        try:
            with cast("BinaryIO", self._open("rb")) as file:
                if self.kind == "xlsx":
                    frame = convert.read_workbook(file, self._options.get("header") is not False)
                else:
                    frame = convert.read_parquet(file)
        except ImportError:
            what = "workbooks" if self.kind == "xlsx" else "Parquet files"
            package = "openpyxl" if self.kind == "xlsx" else "pyarrow"
            raise ValueError(
                f"needs {package}: install gradscribe[tables] to read {what}, or save it as CSV"
            ) from None
        except UNREADABLE as error:
            raise ValueError(f"cannot be read: {' '.join(str(error).split())[:200]}") from None
        if not len(frame):
            raise ValueError("has no rows")
        header = self.kind == "parquet" or self._options.get("header") is not False
        self.every = max(1, math.ceil(len(frame) / self.limit))
        self.layout = Layout("", "", names=_unique(map(str, frame.columns)), header=header)
        if (names := list(self.layout.names)) != list(frame.columns):
            twice = next(name for name in names if name not in set(frame.columns))
            raise ValueError(f"has a column without a name of its own, here called {twice!r}")
        self.missing = self._missing_words(frame)
        self.first_rows = _shown(frame)
        return frame.mask(frame.isin(self.missing))[:: self.every]

    def _missing_words(self, frame: pd.DataFrame) -> dict[str, list[str]]:
        """Return the words for a missing value that each column has, in order."""
        given = self._options.get("missing_words")
        extra = {str(word).strip() for word in given} if isinstance(given, list) else set()
        found: dict[str, list[str]] = {}
        for name in frame:
            texts = set(frame[name].dropna().unique()) if frame[name].dtype == object else set()
            words = {text for text in texts if is_missing(text) or text in extra}
            if any(set(text) == {"+"} for text in texts):
                # Where there is a plus, a minus is a value as well.
                words -= {text for text in words if set(text) <= set("-–—")}
            if words:
                found[str(name)] = sorted(words)
        return found

    # Questions

    @property
    def rows(self) -> int:
        """The number of rows that were taken."""
        return len(self.frame)

    @property
    def whole_rows(self) -> int:
        """About the number of rows of the file."""
        return self.rows if self.every == 1 else self._whole_rows

    @cached_property
    def _whole_rows(self) -> int:
        if self.kind != "text":
            return self.rows * self.every
        ends = provided_files.count_line_ends(self.path, self._files)
        return ends - self.layout.start

    @cached_property
    def decimal_marks(self) -> set[str]:
        """The decimal marks of the columns that leave no doubt."""
        head = self.frame.head(EVIDENCE_ROWS)
        texts = (head[name] for name in self.names if head[name].dtype == object)
        return decimal_marks([*map(str, cells.dropna().unique())] for cells in texts)

    def row_number(self, label: int) -> int:
        """Return the row of the file that has a label of the index: cells may have line ends."""
        if self.kind != "text" or self.every > 1:
            return label
        above = self.frame[self.frame.index < label]
        return label + sum(
            int(above[name].str.count("\n").sum())
            for name in self.names
            if above[name].dtype == object
        )


def beyond_names(count: int) -> list[str]:
    """Return names for the empty cells beyond the last name."""
    return [f"beyond {i + 1}" for i in range(count)]


def _shown(frame: pd.DataFrame) -> list[list[str]]:
    """Return the cells of the first rows as texts."""
    head = frame.head(SHOWN_ROWS)
    rows = [[head[name].iloc[at] for name in head] for at in range(len(head))]
    return [["" if pd.isna(cell) else str(cell) for cell in row] for row in rows]


def check_closed(line: str, separator: str, row: int) -> None:
    """Raise ValueError if a quotation that begins in a line does not end there."""
    reader = csv.reader([line, ""], delimiter=separator)
    next(reader, None)
    if reader.line_num > 1:
        why = f"row {row} opens a quotation and does not close it"
        raise ValueError(f"{why}; where rows are left out, each is to be one line")


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    """Return names, each once: a second "price" becomes "price (2)", an empty one "column 3"."""
    found: list[str] = []
    for at, name in enumerate(names, 1):
        whole = base = name.replace("\0", "") or f"column {at}"
        again = 2
        while whole in found:
            whole, again = f"{base} ({again})", again + 1
        found.append(whole)
    return tuple(found)


def _contents(path: str, files: ProvidedFiles | None) -> tuple[bytes, LineSample | None]:
    """Return a file's bytes, or those of a sample of its lines. Raises OSError."""
    stored = provided_files.stored_file(path, files)
    if stored is not None:
        return stored
    return Path(path).read_bytes(), None


_cache: dict[tuple[object, ...], tuple[object, LoadedTable]] = {}
MOST_CACHED = 3


def load(path: str, options: Reading, files: ProvidedFiles | None = None) -> LoadedTable:
    """Return a table, from memory if the same contents were read in the same way. Raises as it."""
    stored = provided_files.stored_file(path, files)
    if stored is not None:
        data: object = stored[0]
        key: tuple[object, ...] = (path, id(data), stored[1])
    else:
        found = os.stat(path)
        data, key = None, (path, found.st_size, found.st_mtime_ns)
    wanted = ("encoding", "separator", "comment", "header", "limit", "missing_words")
    key += (msgspec.json.encode([options.get(name) for name in wanted]),)
    if key not in _cache:
        while len(_cache) >= MOST_CACHED:
            del _cache[next(iter(_cache))]
        # The bytes are part of it, so that their identity is not used again.
        _cache[key] = data, LoadedTable(path, options, files)
    return _cache[key][1]


def typed_texts(cells: pd.Series) -> list[str]:
    """Return the distinct texts of a column, in order of appearance."""
    return cast("list[str]", cells.dropna().unique().tolist())
