"""A table in a CSV file."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import torch

from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo import provided_files
from gradscribe.engine.zoo.entry import Data, Options


def separator(line: str) -> str:
    """Return the separator of a line's cells; a comma in numbers is a decimal point."""
    for mark in ";\t|":
        cells = line.replace(",", ".").split(mark)
        if len(cells) > 1 and all(cell.strip().replace(".", "", 1).isdigit() for cell in cells):
            return mark
    return max(",;\t|", key=line.count)


def is_closed(line: str, mark: str, row: int) -> bool:
    """Return True if every quotation that begins in a line ends there; else raise ValueError."""
    reader = csv.reader([line, ""], delimiter=mark)
    next(reader, None)
    if reader.line_num > 1:
        why = f"row {row} opens a quotation and does not close it"
        raise ValueError(f"{why}; where rows are left out, each is to be one line")
    return True


def line_ends(path: str) -> tuple[int, bool]:
    """Return the number of line ends in a file, and whether it has a quotation mark."""
    lines, is_quoted = 0, False
    with open(path, "rb") as raw:
        for chunk in iter(lambda: raw.read(1 << 20), b""):
            lines += chunk.count(b"\n")
            is_quoted = is_quoted or b'"' in chunk
    return lines, is_quoted


def check_widths(names: list[str], rows: list[tuple[int, list[str]]], header: bool) -> None:
    """Raise ValueError if a row has more cells than there are names."""
    for number, row in rows:
        if any(cell.strip() for cell in row[len(names) :]):
            first = "header" if header else "first"
            raise ValueError(f"row {number} has {len(row)} cells, the {first} {len(names)}")


def numbered(sample: list[str], mark: str, above: int, every: int) -> list[tuple[int, list[str]]]:
    """Return rows with line numbers; the sample is every k-th line after the first ``above``."""
    # An unclosed quotation would include this extra line in its cell.
    reader = csv.reader([*sample, "end"], delimiter=mark)
    rows, at = [], above
    try:
        for row in reader:
            if reader.line_num > len(sample):
                if row != ["end"]:
                    raise ValueError(f"row {at + 1} opens a quotation and does not close it")
                break
            at = above + 1 + (reader.line_num - 1) * every
            if any(cell.strip() for cell in row):
                rows.append((at, row))
    except csv.Error:
        most = f"{csv.field_size_limit():,}"
        why = f"a cell below row {at} has more than {most} characters"
        raise ValueError(f"{why}; is a quotation mark there not closed?") from None
    return rows


def read_rows(
    path: str, limit: int, header: bool = True
) -> tuple[list[str], list[tuple[int, list[str]]], str]:
    """Return names, rows with line numbers, and the separator; of many rows, every k-th.

    Without a ``header`` the first row is data, and columns are called column 1 and so on.
    """
    lines, is_quoted = line_ends(path)
    every = max(1, math.ceil((lines - 1) / limit))
    with open(path, newline="", encoding="utf-8-sig") as file:
        first = next((line for line in file if line.strip()), "")
        if "\0" in first:
            raise ValueError(f"{path} is not text in UTF-8: save it as CSV UTF-8")
        mark = separator(first)
        file.seek(0)
        head = csv.reader(file, delimiter=mark)
        names = [name.strip() for name in next((row for row in head if any(row)), [])]
        checked = (
            line
            for place, line in enumerate(file, head.line_num + 1)
            if line.count('"') % 2 == 0 or is_closed(line, mark, place)
        )
        below = checked if is_quoted and every > 1 else file
        # Lines in between are skipped many at a time: with a long file that saves a minute.
        blocks, rest = divmod(every - 1, 64)
        sample = []
        for line in below:
            sample.append(line)
            for _ in zip(range(blocks), *[below] * 64, strict=False):
                pass
            for _ in zip(range(rest), below, strict=False):
                pass
        rows = numbered(sample, mark, head.line_num, every)
    if names and not header:
        rows.insert(0, (head.line_num, names))
        names = [f"column {i + 1}" for i in range(len(names))]
    if not rows:
        why = "has no rows below its header" if header and names else "is empty"
        raise ValueError(f"{path} {why}")
    check_widths(names, rows, header)
    return names, rows, mark


def read_text(
    path: str, limit: int, header: bool = True
) -> tuple[list[str], list[tuple[int, list[str]]], str]:
    """Return the result of `read_rows`; raise ValueError if the file is not text."""
    try:
        return read_rows(path, limit, header)
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8: save it as CSV UTF-8") from None


def filled(cell: str) -> str:
    """Return a cell's text, empty for words that mark a missing value."""
    text = cell.strip()
    return "" if text.lower() in ("na", "n/a", "nan", "null", "none", "?", "-") else text


def table(
    path: str,
    inputs: list[str],
    target: str,
    classes: bool,
    missing: str,
    limit: int,
    rng: torch.Generator,
    header: bool = True,
) -> tuple[torch.Tensor, torch.Tensor, list[str]]:
    """Return the columns ``inputs`` (n, k) and ``target``, and the names of its classes.

    The target: (n, 1) numbers, or (n,) classes, numbered in sorted order. Numbers keep their digits
    until ``dtype`` rounds them. If there are more than ``limit`` rows, every k-th is used.
    """
    columns, rows, mark = read_text(path, limit, header)
    names = [*inputs, target]
    for name in names:
        if columns.count(name) != 1:
            some = "two columns" if name in columns else "no column"
            raise ValueError(f"{path} has {some} {name!r}; it has {', '.join(columns[:20])}")

    def cell(row: list[str], name: str) -> str:
        at = columns.index(name)
        return filled(row[at]) if at < len(row) else ""

    def value(number: int, row: list[str], name: str) -> float:
        text = cell(row, name)
        try:
            found = float(text if mark == "," else text.replace(",", "."))
        except ValueError:
            raise ValueError(f"row {number}, column {name!r}: {text!r} is no number") from None
        if not math.isfinite(found):
            raise ValueError(f"row {number}, column {name!r}: {text} is not finite")
        return found

    whole = [(i, row) for i, row in rows if all(cell(row, name) for name in names)]
    if len(whole) < len(rows) and missing == "refuse":
        number, name = next((i, n) for i, row in rows for n in names if not cell(row, n))
        many = f"rows with missing values: {len(rows) - len(whole)} of {len(rows)}"
        raise ValueError(f"row {number}, column {name!r}: nothing there; {many}")
    if not whole:
        raise ValueError(f"{path} has no row in which all columns are filled")
    numbers = [[value(i, row, name) for name in inputs] for i, row in whole]
    x = torch.tensor(numbers, dtype=torch.float64)
    if not classes:
        return x, torch.tensor([[value(i, row, target)] for i, row in whole], dtype=x.dtype), []
    labels = [cell(row, target) for _, row in whole]
    known = sorted(set(labels))
    return x, torch.tensor([known.index(label) for label in labels]), known


def _columns(path: str, header: bool) -> str:
    """Return a text listing the columns of a file; empty if it cannot be read."""
    try:
        with provided_files.open_provided(path, newline="", encoding="utf-8-sig") as file:
            first = next((line for line in file if str(line).strip()), "")
        names = next(csv.reader([str(first)], delimiter=separator(str(first))), [])
    except (UnicodeDecodeError, csv.Error, OSError):
        return ""
    if not header:
        names = [f"column {i + 1}" for i in range(len(names))]
    return f"; the file has {', '.join(name.strip() for name in names[:20])}" if names else ""


def _note(options: Options) -> str:
    path, inputs, target = str(options["path"]), options["inputs"], options["target"]
    if not path:
        raise SetupError("choose a file", "data.path")
    try:
        rows = provided_files.count_line_ends(path) - 1
    except FileNotFoundError:
        raise SetupError(f"there is no file {path}", "data.path") from None
    except OSError as error:
        raise SetupError(f"{path}: {error.strerror or error}", "data.path") from None
    if not inputs or not target:
        key = "inputs" if not inputs else "target"
        there = _columns(path, bool(options["header"]))
        raise SetupError(f"name columns: data.{key} is empty{there}", f"data.{key}")
    rows += not options["header"]
    limit = int(str(options["limit"]))
    if rows <= limit:
        return ""
    return f"{Path(path).name} has about {rows:,} rows; 1 in {math.ceil(rows / limit):,} is taken"


ENTRY = Data(
    table,
    "CSV file",
    "Columns of a table",
    "any",
    "n",
    options=(
        Option("path", "text", "", "The file"),
        Option("inputs", "choices", [], "Input columns"),
        Option("target", "text", "", "Target column"),
        Option("classes", "bool", False, "The target names classes", "Target names classes"),
        Option(
            "header", "bool", True, "The first row names the columns", "First row names columns"
        ),
        Option(
            "missing",
            "choice",
            "refuse",
            "What to do with rows that miss a value",
            "Missing values",
            choices=("refuse", "leave rows out"),
        ),
        Option("limit", "int", 20_000, "Rows at most", low=10, high=200_000, log=True),
    ),
    note=_note,
    group="Your own",
    uses=(separator, is_closed, line_ends, check_widths, numbered, read_rows, read_text, filled),
    class_names=True,
)
