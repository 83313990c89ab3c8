"""Summary of a table's file for its preview: the columns, and how each is understood."""

from __future__ import annotations

from pathlib import Path

from gradscribe.engine.protocol.setup import JsonValue, SetupError
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training.replies import ColumnSummary, FileSummary
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.zoo import provided_files
from gradscribe.engine.zoo.data.own import csv
from gradscribe.engine.zoo.tables.columns import KINDS, Column, check_cells, described, understand
from gradscribe.engine.zoo.tables.loaded import SEPARATORS, LoadedTable, load
from gradscribe.engine.zoo.tables.script import ENCODINGS

MOST_COLUMNS = 500
SHOWN_ROWS = 20
MOST_TEXTS = 500
"""Distinct texts of a column from which its kind is guessed for the preview."""
_SEPARATORS = {
    ",": "cells between commas",
    ";": "cells between semicolons",
    "\t": "cells between tabs",
    "|": "cells between bars",
    SEPARATORS["spaces"]: "cells between spaces",
}


def summarize_table(
    run_id: int, path: str, header: bool | None = None, options: dict[str, JsonValue] | None = None
) -> FileSummary:
    """Return the columns and first rows of a table's file, or a problem.

    ``header``: whether the first row names the columns; None: it does unless it looks like data.
    ``options``: the setup's options of the data; those that are wrong are reported by the run.
    """
    known = {option.name: option.default for option in csv.OPTIONS}
    given = {**known, **_accepted(options or {}), "path": path, "header": header}
    try:
        return _summary(run_id, path, given)
    except FileNotFoundError:
        why = "no such file or directory"
    except OSError as error:
        why = error.strerror.lower() if error.strerror else str(error)
    except ValueError as error:
        why = str(error)
    name = Path(path).name
    why = why.removeprefix(name).lstrip(": ")
    return FileSummary(run_id, path, problem=Problem("CSV", f"{name}: {why}"))


def _accepted(options: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the options that the catalogue accepts."""
    found: dict[str, JsonValue] = {}
    for name, value in options.items():
        try:
            found[name] = catalogue.checked("data", "csv", name, value)
        except SetupError:
            continue
    return found


def _summary(run_id: int, path: str, options: dict[str, JsonValue]) -> FileSummary:
    table = load(path, options, provided_files.provided_files())
    names = table.names
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"it has more than {MOST_COLUMNS} columns")
    if len(names) < 2:
        raise ValueError("it has one column; there must be one to learn from and one to learn")
    columns = [_understood(table, name, options) for name in names]
    return FileSummary(
        run_id, path, tuple(names),
        numeric=tuple(column.kind == "number" for column in columns),
        rows=tuple(tuple(row) for row in table.first_rows[:SHOWN_ROWS]),
        count=table.whole_rows,
        kinds=tuple(column.distinct for column in columns),
        header=table.layout.header,
        details=tuple(_detail(table, column) for column in columns),
        facts=_facts(table),
    )  # fmt: skip


def _understood(table: LoadedTable, name: str, options: dict[str, JsonValue]) -> Column:
    try:
        return understand(table, name, options, MOST_TEXTS)
    except SetupError:
        # The run reports the choice that does not fit.
        return understand(table, name, {**options, "columns": {}}, MOST_TEXTS)


def _detail(table: LoadedTable, column: Column) -> ColumnSummary:
    problem = ""
    try:
        check_cells(table, column, table.frame.head(MOST_TEXTS))
    except ValueError as error:
        problem = str(error)
    kinds: tuple[str, ...] = KINDS
    if column.typed:
        kinds = ("days", "date parts") if column.since else ("number", "category")
    elif column.kind in ("text", "category"):
        kinds = ("category",)
    elif column.kind == "number":
        kinds = ("number", "category")
    elif column.kind in ("days", "date parts"):
        kinds = ("days", "date parts", "category")
    return ColumnSummary(
        column.name, column.kind, described(column), column.missing, column.blanks, kinds, problem
    )


def _facts(table: LoadedTable) -> str:
    """Return how the file is read, for a line of its preview."""
    layout, words = table.layout, []
    if table.kind == "text":
        encoding = layout.encoding.removesuffix("-sig")
        words.append(ENCODINGS.get(encoding, encoding.upper()))
        other = f"cells between {layout.separator!r}"
        words.append(_SEPARATORS.get(layout.separator, other))
        if layout.comment:
            words.append(f"lines with {layout.comment} are comments")
    else:
        words.append("first sheet of a workbook" if table.kind == "xlsx" else "Parquet")
    if not layout.header:
        words.append("no names in the first row")
    if table.missing:
        texts = dict.fromkeys(text for words in table.missing.values() for text in words)
        shown = ", ".join([*texts][:4])
        words.append(f"missing: {shown}")
    if table.every > 1:
        words.append(f"1 row in {table.every:,} is taken")
    return " · ".join(words)
