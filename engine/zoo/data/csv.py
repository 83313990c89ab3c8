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
    path: str, inputs: list[str], target: str, classes: bool, limit: int, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the columns ``inputs`` (n, k) and ``target``: (n, 1) numbers, or (n,) classes.

    Of more than ``limit`` rows every k-th is taken. Classes are numbered in sorted order.
    """
    with open(path, newline="", encoding="utf-8-sig") as file:
        first = file.readline()
        delimiter = max(",;\t", key=first.count)
        file.seek(0)
        rows = [
            row
            for row in csv.reader(file, delimiter=delimiter)
            if any(cell.strip() for cell in row)
        ]
    if len(rows) < 2:
        raise ValueError(f"{path} has no rows below its header")
    header = [name.strip() for name in rows[0]]
    for name in [*inputs, target]:
        if name not in header:
            raise ValueError(f"{path} has no column {name!r}; it has {', '.join(header[:20])}")
    numbers = list(enumerate(rows[1:], 2))
    numbers = numbers[:: max(1, math.ceil(len(numbers) / limit))]

    def cell(number: int, row: list[str], name: str) -> str:
        at = header.index(name)
        if at >= len(row) or not row[at].strip():
            raise ValueError(f"row {number}, column {name!r}: nothing there")
        return row[at].strip()

    def value(number: int, row: list[str], name: str) -> float:
        text = cell(number, row, name)
        try:
            found = float(text)
        except ValueError:
            raise ValueError(f"row {number}, column {name!r}: {text!r} is no number") from None
        if not math.isfinite(found):
            raise ValueError(f"row {number}, column {name!r}: {text} is not finite")
        return found

    x = torch.tensor([[value(i, row, name) for name in inputs] for i, row in numbers])
    if not classes:
        return x, torch.tensor([[value(i, row, target)] for i, row in numbers])
    labels = [cell(i, row, target) for i, row in numbers]
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
        rows = sum(1 for _ in file) - 1
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
        Option("classes", "bool", False, "The target names classes"),
        Option("limit", "int", 20_000, "Rows at most", low=10, high=200_000, log=True),
    ),
    note=_note,
    group="Your own",
)
