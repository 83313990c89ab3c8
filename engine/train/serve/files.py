"""Weights of a run as safetensors, and summaries of CSV files."""

import csv
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

import torch

from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training.replies import FileSummary
from gradscribe.engine.train.arrays import raw_bytes
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.zoo import provided_files
from gradscribe.engine.zoo.data.csv import separator

_NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
SHOWN_ROWS = 20
MOST_COLUMNS = 500
SAMPLE_ROWS = 2000
MOST_BYTES = 500 << 20
"""Maximum bytes of the weights in one message."""
NO_TEXT = "it is not text in UTF-8: save it as CSV UTF-8"
MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-")
"""Contents of cells with a missing number."""


def safetensors(run: TrainingRun) -> bytes:
    """Return parameters and buffers in the safetensors format.

    Eight bytes of header length, a JSON header with dtype, shape and offsets of each tensor, then
    their raw bytes, little-endian and row-major. Raises `SetupError` if they are too large.
    """
    if sum(t.nbytes for t in run.program.model.state_dict().values()) > MOST_BYTES:
        raise SetupError(f"the weights are more than {MOST_BYTES >> 20} MB", "weights")
    header: dict[str, object] = {"__metadata__": {"format": "pt", "step": str(run.step)}}
    bodies, at = [], 0
    for name, tensor in run.program.model.state_dict().items():
        body = raw_bytes(tensor)
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [at, at + len(body)],
        }
        bodies.append(body)
        at += len(body)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + b"".join(bodies)


def summarize_csv(run_id: int, name: str, header: bool | None = None) -> FileSummary:
    """Return the columns and first rows of a CSV file, or a problem.

    ``header``: whether the first row names the columns; None: it does unless it holds numbers.
    """
    try:
        return _look(run_id, name, header)
    except (OSError, ValueError, csv.Error) as error:
        why = NO_TEXT if isinstance(error, UnicodeDecodeError) else str(error)
        if isinstance(error, OSError) and error.strerror:
            why = error.strerror.lower()
        return FileSummary(run_id, name, problem=Problem("CSV", f"{Path(name).name}: {why}"))


def _look(run_id: int, name: str, named: bool | None) -> FileSummary:
    with cast(
        "IO[str]", provided_files.open_provided(name, newline="", encoding="utf-8-sig")
    ) as file:
        first = next((line for line in file if line.strip()), "")
        if "\0" in first:  # UTF-16 without a byte order mark
            raise ValueError(NO_TEXT)
        delimiter = separator(first)
        file.seek(0)
        reader = csv.reader(file, delimiter=delimiter)
        first_rows, at = itertools.islice(reader, SAMPLE_ROWS), 0
        rows = []
        try:
            for row in first_rows:
                at = reader.line_num
                if any(map(str.strip, row)):
                    rows.append((at, row))
            rest = next(reader, None) is not None
        except csv.Error as error:
            most = f"{csv.field_size_limit():,}"
            why = f"a cell below row {at} has more than {most} characters"
            raise ValueError(f"{why}; is a quotation mark there not closed?") from error
    if not rows:
        raise ValueError("the file is empty")
    first_row = tuple(cell.strip() for cell in rows[0][1])
    if named is None:
        named = not all(cell and _is_number(cell, True) for cell in first_row)
    if named:
        rows.pop(0)
    header = first_row if named else tuple(f"column {i + 1}" for i in range(len(first_row)))
    _check_header(header)
    if not rows:
        raise ValueError("there are no rows below the header")
    for number, row in rows:
        if len(row) != len(header):
            whose = "header" if named else "first"
            raise ValueError(f"row {number} has {len(row)} cells, the {whose} {len(header)}")
    cells = [row for _, row in rows]
    columns = list(zip(*cells, strict=True))
    numeric = tuple(_is_numeric(column, delimiter != ",") for column in columns)
    kinds = tuple(len({cell.strip() for cell in column}) for column in columns)
    shown = tuple(tuple(row) for row in cells[:SHOWN_ROWS])
    count = provided_files.count_line_ends(name) - named if rest else len(rows)
    return FileSummary(run_id, name, header, numeric, shown, count, None, kinds, named)


def _check_header(header: tuple[str, ...]) -> None:
    if len(header) > MOST_COLUMNS:
        raise ValueError(f"it has more than {MOST_COLUMNS} columns")
    if len(header) < 2:
        raise ValueError("it has one column; there must be one to learn from and one to learn")
    if len(set(header)) < len(header):
        twice = next(cell for cell in header if header.count(cell) > 1)
        if not twice:
            raise ValueError("row 1: a column has no name")
        raise ValueError(f"two columns are called {twice!r}")


def _is_numeric(column: Sequence[str], comma: bool) -> bool:
    """Return whether at least 90 percent of a column's nonempty cells are numbers."""
    filled = [cell for cell in column if cell.strip().lower() not in MISSING]
    numbers = sum(_is_number(cell, comma) for cell in filled)
    return bool(numbers) and numbers >= 0.9 * len(filled)


def _is_number(cell: str, comma: bool) -> bool:
    """Return whether a cell has a number, possibly with a decimal comma, or a missing value."""
    text = cell.strip()
    if text.lower() in MISSING:
        return True
    try:
        float(text.replace(",", ".") if comma else text)
    except ValueError:
        return False
    return True
