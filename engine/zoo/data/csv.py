"""A table in a CSV file."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import torch

from engine.setup import BadSetup
from engine.training.parts import Option
from engine.zoo.pieces import Data, Options

MOST_BYTES = 256 << 20


def table(
    path: str,
    inputs: list[str],
    target: str,
    classes: bool,
    missing: str,
    limit: int,
    rng: torch.Generator,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the columns ``inputs`` (n, k) and ``target``: (n, 1) numbers, or (n,) classes.

    Of more than ``limit`` rows every k-th is taken. Classes are numbered in sorted order. Between
    semicolons a comma is a decimal point.
    """
    with open(path, "rb") as raw:
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: raw.read(1 << 20), b""))
    every = max(1, math.ceil((lines - 1) / limit))
    with open(path, newline="", encoding="utf-8-sig") as file:
        first = next((line for line in file if line.strip()), "")
        delimiter = max(",;\t|", key=lambda mark: first.count(mark))
        file.seek(0)
        head = csv.reader(file, delimiter=delimiter)
        header = [name.strip() for name in next((row for row in head if any(row)), [])]
        reader = csv.reader(
            (line for place, line in enumerate(file) if place % every == 0), delimiter=delimiter
        )
        rows = [
            (head.line_num + 1 + (reader.line_num - 1) * every, row)
            for row in reader
            if any(cell.strip() for cell in row)
        ]
    if not rows:
        raise ValueError(f"{path} has no rows below its header")
    for name in [*inputs, target]:
        if name not in header:
            raise ValueError(f"{path} has no column {name!r}; it has {', '.join(header[:20])}")

    def cell(row: list[str], name: str) -> str:
        at = header.index(name)
        return row[at].strip() if at < len(row) else ""

    def is_there(row: list[str], name: str) -> bool:
        return cell(row, name).lower() not in ("", "na", "n/a", "nan", "null", "none", "?", "-")

    def value(number: int, row: list[str], name: str) -> float:
        text = cell(row, name)
        try:
            found = float(text if delimiter == "," else text.replace(",", "."))
        except ValueError:
            raise ValueError(f"row {number}, column {name!r}: {text!r} is no number") from None
        if not math.isfinite(found):
            raise ValueError(f"row {number}, column {name!r}: {text} is not finite")
        return found

    whole = [(i, row) for i, row in rows if all(is_there(row, n) for n in [*inputs, target])]
    if len(whole) < len(rows) and missing == "refuse":
        names = [*inputs, target]
        number, name = next((i, n) for i, row in rows for n in names if not is_there(row, n))
        raise ValueError(
            f"row {number}, column {name!r}: nothing there; rows with missing values: "
            f"{len(rows) - len(whole)} of {len(rows)}"
        )
    if not whole:
        raise ValueError(f"{path} has no row in which all columns are filled")
    x = torch.tensor([[value(i, row, name) for name in inputs] for i, row in whole])
    if not classes:
        return x, torch.tensor([[value(i, row, target)] for i, row in whole])
    labels = [cell(row, target) for _, row in whole]
    known = sorted(set(labels))
    return x, torch.tensor([known.index(label) for label in labels])


def _note(options: Options) -> str:
    path = Path(str(options["path"]))
    inputs, target = options["inputs"], options["target"]
    if not str(options["path"]):
        raise BadSetup("name a file: data.path is empty", "data.path")
    if not path.is_file():
        raise BadSetup(f"there is no file {path}", "data.path")
    if path.stat().st_size > MOST_BYTES:
        raise BadSetup(f"{path} has more than {MOST_BYTES >> 20} MB", "data.path")
    if not inputs or not target:
        key = "inputs" if not inputs else "target"
        raise BadSetup(f"name columns: data.{key} is empty", f"data.{key}")
    with path.open("rb") as file:
        rows = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b"")) - 1
    limit = int(str(options["limit"]))
    if rows <= limit:
        return ""
    return f"{path.name} has about {rows:,} rows; every {math.ceil(rows / limit)}th is taken"


ENTRY = Data(
    table,
    "CSV file",
    "Columns of a table; the first row names them",
    "any",
    "n",
    options=(
        Option("path", "text", "", "The file"),
        Option("inputs", "choices", [], "Input columns"),
        Option("target", "text", "", "Target column"),
        Option("classes", "bool", False, "The target names classes", "Target names classes"),
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
)
