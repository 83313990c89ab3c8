"""Reading of a table's file, whole or as a sample of its lines; usable from a worker thread."""

import codecs
import contextlib
import csv
import math
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from gradscribe.engine.protocol.training import LineSample, ProvideFile
from gradscribe.engine.zoo.tables.layout import (
    HEAD,
    SPACES,
    file_kind,
    guess_encoding,
    guess_layout,
)
from gradscribe.playback.translation import tr

MOST_UNSAMPLED = 8 << 20
"""Largest file in bytes that is read without sampling."""
MOST = 128 << 20
"""Most bytes that are sent of any file."""
LONGEST_LINE = 1 << 20
"""Most bytes of a line."""
PREVIEW_LINES = 8000
"""Lines at the beginning that are never left out: for the preview."""
CHUNK = 1 << 20

Ends = NDArray[np.intp]
Report = Callable[[float], None]
"""Callback that takes the share of the file that has been read."""


def file_size(path: str) -> int:
    """Return the size of a file in bytes.

    Raises:
        OSError: it does not exist, or is not a regular file.
    """
    found = Path(path).stat()
    if stat.S_ISDIR(found.st_mode):
        raise OSError(tr("it is a folder"))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(tr("it is no plain file"))
    return found.st_size


def read_file(path: str, limit: int, report: Report = lambda _share: None) -> ProvideFile:
    """Return the contents of a file, or why it cannot be read.

    Of a long file every k-th line below the header is taken, so that ``limit`` are left: the same
    lines as `engine.zoo.tables.loaded` takes. Workbooks and Parquet files are read whole. An
    exception that ``report`` raises ends it.
    """
    try:
        size = file_size(path)
        if size <= MOST_UNSAMPLED:
            return ProvideFile(0, path, Path(path).read_bytes())
        with Path(path).open("rb") as file:
            beginning = file.read(HEAD)
            if file_kind(beginning) != "text":
                return _whole(path, file, size)
            encoding = guess_encoding(beginning)
            return _long(path, TextBytes(file, encoding), size, limit, report)
    except FileNotFoundError:
        return ProvideFile(0, path, problem=tr("there is no such file"))
    except (OSError, ValueError) as error:
        known = getattr(error, "strerror", None)
        return ProvideFile(0, path, problem=known.lower() if known else str(error))


class TextBytes:
    """The bytes of a text file; UTF-16 and UTF-32 as UTF-8, so that each line ends in one byte."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file = file
        self.recoded = encoding if encoding.startswith(("utf-16", "utf-32")) else ""
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def rewind(self) -> None:
        """Go back to the beginning."""
        self._file.seek(0)
        self._decoder.reset()

    def read(self, size: int) -> bytes:
        """Return about ``size`` bytes; none at the end."""
        data = self._file.read(size)
        if not self.recoded:
            return data
        text = self._decoder.decode(data, not data)
        while data and not text:
            data = self._file.read(size)
            text = self._decoder.decode(data, not data)
        return text.removeprefix("\ufeff").encode()


def _whole(path: str, file: BinaryIO, size: int) -> ProvideFile:
    """Return a file that is not sampled."""
    if size > MOST:
        raise ValueError(f"it has more than {MOST >> 20} MB; save it as CSV, which is sampled")
    file.seek(0)
    return ProvideFile(0, path, file.read())


def _long(path: str, file: TextBytes, size: int, limit: int, report: Report) -> ProvideFile:
    file.rewind()
    ends, last = 0, b""
    for done, chunk in _chunks(file):
        if b"\0" in chunk[:CHUNK]:
            raise ValueError("it is not text")
        ends += chunk.count(b"\n")
        last = chunk
        report(0.5 * done / size)
    lines = ends + (not last.endswith(b"\n"))
    every = max(1, math.ceil((ends - 1) / limit))
    if every == 1 and size > MOST:
        rows = tr("one row") if lines == 1 else tr("{lines:,} rows", lines=lines)
        raise ValueError(f"it has more than {MOST >> 20} MB in {rows}")
    file.rewind()
    layout = guess_layout(file.read(LONGEST_LINE), header=True)
    sample = LineSample(lines, ends, PREVIEW_LINES, layout.start, every, file.recoded)
    mark = "," if layout.separator == SPACES else layout.separator
    file.rewind()
    kept = bytearray()
    for done, part in _sampled_lines(file, sample, mark):
        kept += part
        if len(kept) > MOST:
            raise ValueError(f"{limit:,} of its rows have more than {MOST >> 20} MB")
        report(0.5 + 0.5 * done / size)
    return ProvideFile(0, path, bytes(kept), sample=sample)


def _chunks(file: TextBytes) -> Iterator[tuple[int, bytes]]:
    done = 0
    while chunk := file.read(CHUNK):
        done += len(chunk)
        yield done, chunk


def _check_quotations(data: bytes, ends: Ends, at: int, sample: LineSample, mark: str) -> None:
    """Refuse a line with an open quotation: a sample might lose the lines that close it.

    ``ends``: the end of each line of ``data``, whose first line has the number ``at``.
    """
    text = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    if sample.every == 1 or not quotes.size:
        return
    counts = np.diff(np.searchsorted(quotes, ends), prepend=0)
    # A quote opens a quotation only at the beginning of a cell; others are text.
    begins = np.isin(text[quotes - 1], np.frombuffer(b",;\t|\n", np.uint8)) | (quotes == 0)
    lines = np.unique(np.searchsorted(ends, quotes[begins], side="right"))
    for line in lines[counts[np.minimum(lines, ends.size - 1)] % 2 == 1].tolist():
        if line < ends.size and at + line >= sample.start:
            start = ends[line - 1] if line else 0
            _check_quotation(data[start : ends[line]], at + line, mark)


def _check_quotation(line: bytes, place: int, mark: str) -> None:
    reader = csv.reader([line.decode("utf-8", "replace"), ""], delimiter=mark)
    with contextlib.suppress(csv.Error):
        next(reader, None)
    if reader.line_num > 1:
        why = tr("row {value} opens a quotation and does not close it", value=place + 1)
        raise ValueError(f"{why}; where rows are left out, each is to be one line")


def _sampled_lines(file: TextBytes, sample: LineSample, mark: str) -> Iterator[tuple[int, bytes]]:
    """Yield the number of bytes read so far and the sampled lines of each chunk."""
    at, rest = 0, b""
    for done, chunk in _chunks(file):
        data = rest + chunk
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
        _check_quotations(data, ends, at, sample, mark)
        starts = np.concatenate(([0], ends))
        numbers = at + np.arange(ends.size)
        wanted = (numbers < sample.first) | ((numbers - sample.start) % sample.every == 0)
        places = np.flatnonzero(wanted)
        yield done, b"".join([data[starts[i] : ends[i]] for i in places.tolist()])
        at, rest = at + ends.size, data[int(starts[-1]) :]
        if len(rest) > LONGEST_LINE:
            raise ValueError(f"row {at + 1} has more than {LONGEST_LINE >> 20} MB")
    if rest:
        _check_quotations(rest, np.array([len(rest)]), at, sample, mark)
    if rest and sample.next_sampled(at) == at:
        yield 0, rest
