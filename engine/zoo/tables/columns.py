"""Columns of a table: their kinds, and what is done where a value is missing."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from gradscribe.engine.protocol.setup import JsonValue, SetupError
from gradscribe.engine.protocol.slips.near_words import did_you_mean
from gradscribe.engine.zoo.tables.cells import (
    INFINITE,
    NumberFormat,
    bare,
    fitting,
    guess_dates,
    guess_numbers,
    is_ambiguous_date,
    is_date,
    shape,
)
from gradscribe.engine.zoo.tables.lazy_pandas import pd
from gradscribe.engine.zoo.tables.loaded import DECIMALS, THOUSANDS, LoadedTable, typed_texts

KINDS = ("number", "category", "days", "date parts")
"""The kinds of columns; a choice of each is ``as`` in the setup's ``columns``."""
MISSING_CHOICES = ("refuse", "leave rows out", "mean", "own category")
KEYS = ("as", "missing", "format")
MOST_CATEGORIES = 100
"""Most categories of an input column."""
PARTS = ("year", "month", "day", "day_of_week", "hour")
"""Parts of dates, by their names in pandas."""
SHOWN_TEXTS = 6
MOST_QUOTED = 60
MOST_DIGITS = 300
"""Most characters of a number that is finite whatever its digits."""


class Column(Struct, frozen=True):
    """A column of a table as it is understood."""

    name: str
    kind: str
    """One of `KINDS`; ``text`` for texts that are too many for categories, ``empty``."""
    numbers: NumberFormat = NumberFormat()
    dates: str = ""
    """The format of dates for `datetime.strptime`; empty if they are dates already."""
    since: str = ""
    """The first date."""
    parts: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """The categories, sorted."""
    distinct: int = 0
    blanks: int = 0
    missing: str = "refuse"
    typed: bool = False
    """True if the file holds numbers or dates and not texts."""
    is_ambiguous: bool = False

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs that the column becomes."""
        names: tuple[str, ...] = (self.name,)
        if self.kind == "category":
            names = tuple(f"{self.name} = {text}" for text in self.texts)
        elif self.kind == "date parts":
            names = tuple(f"{self.name}: {part.replace('_', ' ')}" for part in self.parts)
        flag = self.blanks and self.missing == "own category"
        return (*names, f"{self.name} = (missing)") if flag else names


def understand(
    table: LoadedTable,
    name: str,
    options: dict[str, JsonValue],
    most: int = 1 << 30,
    rows: pd.DataFrame | None = None,
) -> Column:
    """Return how a column is understood, by itself and by the setup's choices for it.

    ``most``: distinct texts to look at; ``rows``: a part of the table's rows.

    Raises:
        SetupError: a choice is wrong, or does not fit the column.
    """
    cells = (table.frame if rows is None else rows)[name]
    given = _choices(table, options).get(name, {})
    missing = str(given.get("missing") or options.get("missing") or "refuse")
    blanks = int(cells.isna().sum())
    wanted = str(given.get("as") or "")
    typed = cells.dtype != object
    if blanks == len(cells):
        return Column(name, "empty", blanks=blanks, missing=missing)
    texts = [] if typed else typed_texts(cells)[:most]
    shared = Column(
        name, "", distinct=int(cells.nunique()), blanks=blanks, missing=missing, typed=typed
    )
    if typed and wanted != "category":
        return _typed(shared, cells, wanted)
    return _of_texts(shared, table, cells, texts, wanted, str(given.get("format") or ""), options)


def _choices(table: LoadedTable, options: dict[str, JsonValue]) -> dict[str, dict[str, JsonValue]]:
    """Return the setup's choices for columns, checked. Raises `SetupError`."""
    found: dict[str, dict[str, JsonValue]] = {}
    given = options.get("columns")
    for name, choice in given.items() if isinstance(given, dict) else ():
        place = "data.columns"
        if name not in table.names:
            hint = did_you_mean(name, table.names)
            raise SetupError(f"{table.name} has no column {name!r}{hint}", place)
        if isinstance(choice, str):
            choice = {"as": choice}
        if not isinstance(choice, dict):
            raise SetupError(f'{place}: {name!r} is an object like {{"as": "category"}}', place)
        for key, value in choice.items():
            if key not in KEYS:
                hint = did_you_mean(key, KEYS) or f"; it has {', '.join(KEYS)}"
                raise SetupError(f"{place}: {name!r} has no key {key!r}{hint}", place)
            allowed = {"as": KINDS, "missing": MISSING_CHOICES}.get(key)
            if allowed is not None and value not in allowed:
                words = f"{key} of {name!r} is {str(value)[:40]!r}"
                listed = ", ".join(allowed)
                raise SetupError(f"{place}: {words}, but must be one of {listed}", place)
        found[name] = dict(choice)
    return found


def _typed(column: Column, cells: pd.Series, wanted: str) -> Column:
    """Return a column of numbers or dates, as a workbook or a Parquet file has them."""
    if cells.dtype.kind == "M":
        return _dated(column, cells, "", wanted if wanted in ("days", "date parts") else "days")
    if wanted in ("days", "date parts"):
        raise SetupError(f"column {column.name!r} holds numbers, not dates", "data.columns")
    return _replaced(column, kind="number")


def _of_texts(
    column: Column,
    table: LoadedTable,
    cells: pd.Series,
    texts: Sequence[str],
    wanted: str,
    form: str,
    options: dict[str, JsonValue],
) -> Column:
    separator = table.layout.separator
    marks = (
        DECIMALS.get(str(options.get("decimal")), ""),
        THOUSANDS.get(str(options.get("thousands")), ""),
    )
    if marks[0] and marks[0] == marks[1]:
        words = f'"decimal" and "thousands" are both {options["decimal"]}: numbers have one of each'
        raise SetupError(words, "data.thousands")
    if wanted in ("", "number"):
        numbers = guess_numbers(texts, separator, table.decimal_marks - {marks[0]}, *marks)
        if numbers is None and wanted:
            # Every cell is then reported as no number.
            numbers = NumberFormat(marks[0] or ".", marks[1])
        if numbers is not None:
            return _replaced(
                column, kind="number", numbers=numbers, is_ambiguous=numbers.is_ambiguous
            )
    if wanted in ("", "days", "date parts"):
        day_first = separator == ";" or "," in table.decimal_marks
        form = form or guess_dates(texts, day_first)
        if form:
            return _dated(column, cells, form, wanted or "days")
        if wanted:
            shown = ", ".join(repr(text[:20]) for text in texts[:3])
            example = {column.name: {"as": wanted, "format": "%d.%m.%Y"}}
            raise SetupError(
                f"column {column.name!r}: {shown} are no dates in a usual format; give one, as in "
                f'"columns": {json.dumps(example)}',
                "data.columns",
            )
    if column.typed:
        texts = [*map("{:g}".format, texts or sorted(cells.dropna().unique()))]
    few = len(texts) <= MOST_CATEGORIES and (len(texts) <= 20 or len(texts) <= len(cells) / 2)
    kind = "category" if wanted or (few and len(texts) < max(3, len(cells))) else "text"
    return _replaced(column, kind=kind, texts=tuple(sorted(texts)))


def _dated(column: Column, cells: pd.Series, form: str, kind: str) -> Column:
    """Return a column of dates: its first date, and the parts that are worth an input."""
    try:
        when = pd.to_datetime(cells, format=form or None, errors="coerce", utc=True)
    except ValueError:
        raise SetupError(
            f"{form!r} is no format of dates, as %d.%m.%Y is", "data.columns"
        ) from None
    first = when.min()
    with_time = bool((when.dropna() != when.dropna().dt.normalize()).any())
    parts = PARTS if with_time else PARTS[:-1]
    texts = [] if column.typed else typed_texts(cells)
    return _replaced(
        column, kind=kind, dates=form, parts=parts,
        since="1970-01-01" if first is pd.NaT else str(first.date()),
        is_ambiguous=bool(form) and is_ambiguous_date(texts, form),
    )  # fmt: skip


def _replaced(column: Column, **more: object) -> Column:
    return msgspec.structs.replace(column, **more)


# Words


def check_cells(table: LoadedTable, column: Column, rows: pd.DataFrame) -> None:
    """Raise ValueError for the first cell of some rows that a column's kind cannot convert.

    ``rows``: the rows that are used, a part of the table's frame.
    """
    cells = rows[column.name]
    if column.kind == "number":
        _check_numbers(table, column, cells.dropna())
    elif column.kind in ("days", "date parts") and column.dates:
        bad = [(i, t) for i, t in cells.dropna().items() if not is_date(t, column.dates)]
        if bad:
            at = f"row {table.row_number(bad[0][0])}, column {column.name!r}"
            raise ValueError(
                f"{at}: {bad[0][1][:MOST_QUOTED]!r} is no date like the others, which are "
                f"{_example(cells, column.dates)}; correct it, or give a format"
            )


def _check_numbers(table: LoadedTable, column: Column, cells: pd.Series) -> None:
    if column.typed:
        return
    marks = column.numbers.decimal, column.numbers.thousands
    texts = typed_texts(cells)
    bad = [text for text in texts if marks not in fitting(shape(text))]
    bad += [text for text in texts if "n" in text.lower() and INFINITE.fullmatch(bare(text))]
    if bad:
        label = cells.index[cells.isin(bad)][0]
        text, count = cells[label], int(cells.isin(bad).sum())
        at = f"row {table.row_number(label)}, column {column.name!r}"
        if INFINITE.fullmatch(bare(text)):
            raise ValueError(f"{at}: {text} is not finite")
        raise ValueError(
            f"{at}: {text[:MOST_QUOTED]!r} is no number{_advice(column, count, cells)}"
        )
    # Only these can be greater than any float.
    for text in (text for text in texts if len(text) > MOST_DIGITS or "e" in text.lower()):
        plain = bare(text).replace(marks[1], "") if marks[1] else bare(text)
        if not math.isfinite(float(plain.replace(marks[0], "."))):
            at = f"row {table.row_number(cells.index[cells == text][0])}, column {column.name!r}"
            raise ValueError(f"{at}: {text[:MOST_QUOTED]} is not finite")


def _advice(column: Column, count: int, cells: pd.Series) -> str:
    """Return what to do about cells that are no numbers."""
    kind = f'"columns": {{{json.dumps(column.name)}: "category"}}'
    if count == len(cells):
        return f"; the column holds text: {kind} makes inputs of it"
    many = "the only one" if count == 1 else f"one of {count:,}"
    few = int(cells.nunique()) <= MOST_CATEGORIES
    other = (
        f", leave the column out, or read it as text: {kind}"
        if few
        else ", or leave the column out"
    )
    return f" ({many}); correct it{other}"


def _example(cells: pd.Series, form: str) -> str:
    return next((f"like {t!r}" for t in typed_texts(cells) if is_date(t, form)), form)


def described(column: Column) -> str:
    """Return a sentence's part on how a column is read, for its preview."""
    numbers = column.numbers
    match column.kind:
        case "number":
            words = ["numbers"]
            if numbers.decimal == ",":
                words.append("decimal comma")
            if numbers.thousands:
                named = {v: k for k, v in THOUSANDS.items()}[numbers.thousands]
                words.append(f"thousands by {named}")
            words += ["12 % is 0.12"] * numbers.percent + ["currency left out"] * numbers.currency
        case "category":
            shown = ", ".join(text[:20] for text in column.texts[:SHOWN_TEXTS])
            more = "…" if len(column.texts) > SHOWN_TEXTS else ""
            words = [f"{len(column.texts)} categories: {shown}{more}"]
        case "days":
            words = [f"days since {column.since}"]
        case "date parts":
            words = [f"date as {', '.join(column.parts).replace('_', ' ')}"]
        case "empty":
            words = ["nothing in it"]
        case _:
            words = [f"text, {column.distinct} different"]
    if column.is_ambiguous and column.kind == "number":
        words.append(f"{'comma' if numbers.decimal == ',' else 'point'} taken as decimal mark")
    if column.is_ambiguous and column.dates:
        words.append("month first" if column.dates.startswith("%m") else "day first")
    missing = f"; {column.blanks:,} missing" if column.blanks else ""
    return ", ".join(words) + missing
