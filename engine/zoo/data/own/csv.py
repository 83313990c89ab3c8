"""A table in a file: text of any layout, a workbook, or Parquet."""

from pathlib import Path
from typing import cast

import torch

from gradscribe.engine.protocol.setup import JsonValue, SetupError
from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Data, Written
from gradscribe.engine.zoo.provided_files import ProvidedFiles
from gradscribe.engine.zoo.tables.columns import MISSING_CHOICES
from gradscribe.engine.zoo.tables.loaded import DECIMALS, SEPARATORS, THOUSANDS, load
from gradscribe.engine.zoo.tables.script import TableProgram

FOLD = "How the file is read"
OPTIONS = (
    Option("path", "text", "", "The file"),
    Option("inputs", "choices", [], "Input columns"),
    Option("target", "names", "", "Target column, or several of numbers"),
    Option("columns", "columns", {}, "Kind of a column, and what to do where a value is missing"),
    Option("classes", "bool", False, "The target names classes", "Target names classes"),
    Option("header", "bool", True, "The first row names the columns", "First row names columns"),
    Option(
        "missing",
        "choice",
        "refuse",
        "What to do with rows that miss a value; rows without a target are left out",
        "Missing values",
        choices=MISSING_CHOICES,
    ),
    Option("missing_words", "choices", [], "Further words for a missing value, as -999"),
    Option("limit", "int", 20_000, "Rows at most", low=10, high=200_000, log=True),
    Option(
        "separator",
        "choice",
        "auto",
        "What stands between two cells; auto: what fits",
        choices=("auto", *SEPARATORS),
        fold=FOLD,
    ),
    Option(
        "decimal",
        "choice",
        "auto",
        "Decimal mark of numbers; auto: as each column has it",
        "Decimal mark",
        choices=("auto", *DECIMALS),
        fold=FOLD,
    ),
    Option(
        "thousands",
        "choice",
        "auto",
        "What divides thousands; auto: as each column has it",
        choices=("auto", *THOUSANDS),
        fold=FOLD,
    ),
    Option("encoding", "text", "", "Encoding of the text, as cp1252; empty: what fits", fold=FOLD),
    Option(
        "comment", "text", "", "Beginning of lines that are comments; empty: what fits", fold=FOLD
    ),
)


def write(options: dict[str, JsonValue], files: ProvidedFiles) -> Written:
    """Return the data section of a table. Raises `SetupError`."""
    path = str(options["path"])
    if not path:
        raise SetupError("choose a file", "data.path")
    try:
        if not options["inputs"] or not options["target"]:
            key = "inputs" if not options["inputs"] else "target"
            there = _columns(path, options, files)
            raise SetupError(f"name columns: data.{key} is empty{there}", f"data.{key}")
        return TableProgram(options, files).written()
    except FileNotFoundError:
        raise SetupError(f"there is no file {path}", "data.path") from None
    except OSError as error:
        raise SetupError(f"{path}: {error.strerror or error}", "data.path") from None


def _columns(path: str, options: dict[str, JsonValue], files: ProvidedFiles) -> str:
    """Return a text listing the columns of a file. Raises OSError."""
    try:
        return f"; {Path(path).name} has {', '.join(load(path, options, files).names[:20])}"
    except ValueError as error:
        raise SetupError(str(error), "data.path") from None


def table(
    path: str, rng: torch.Generator | None = None, **options: JsonValue
) -> tuple[torch.Tensor, torch.Tensor, list[str]]:
    """Return inputs (n, k), the target, and the names of its classes, as the section makes them.

    The target: (n, 1) numbers, one column for each of several, or (n,) classes in sorted order.
    """
    known = {option.name: option.default for option in OPTIONS}
    written = write({**known, **options, "path": path}, {})
    names: dict[str, object] = {"torch": torch}
    exec(written.imports, names)
    names |= {part.__name__: part for part in written.uses}
    exec(written.statements, names)
    return cast(
        "tuple[torch.Tensor, torch.Tensor, list[str]]",
        (names["x"], names["y"], names["class_names"]),
    )


ENTRY = Data(
    table,
    "Table",
    "Columns of a CSV or text file, a workbook or a Parquet file",
    "any",
    "n",
    options=OPTIONS,
    write=write,
    group="Your own",
    class_names=True,
)
