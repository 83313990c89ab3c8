"""A table's data section: the statements that read the file and convert its columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from gradscribe.engine.protocol.setup import JsonValue, SetupError
from gradscribe.engine.protocol.slips.near_words import did_you_mean
from gradscribe.engine.zoo.entry import Written
from gradscribe.engine.zoo.provided_files import ProvidedFiles
from gradscribe.engine.zoo.tables import convert
from gradscribe.engine.zoo.tables.cells import bare, is_bare, shape
from gradscribe.engine.zoo.tables.columns import Column, check_cells, understand
from gradscribe.engine.zoo.tables.layout import begins_with_data
from gradscribe.engine.zoo.tables.lazy_pandas import pd
from gradscribe.engine.zoo.tables.loaded import LoadedTable, beyond_names, load, typed_texts

_READS: Mapping[str, Callable[..., object]] = {
    "text": convert.read_rows,
    "xlsx": convert.read_workbook,
    "parquet": convert.read_parquet,
}


MOST_ROWS = 200_000
"""The greatest limit of rows."""


def target_names(options: Mapping[str, JsonValue], names: list[str]) -> list[str]:
    """Return the target columns: a list, or a text that may name several with commas between."""
    given = options.get("target")
    if isinstance(given, list):
        return [str(name) for name in given]
    text = str(given or "")
    several = [name.strip() for name in text.split(",")]
    if text and text not in names and all(name in names for name in several):
        return several
    return [text] if text else []


class TableProgram:
    """A table's columns as they are understood, and the source that converts them.

    Raises:
        SetupError: a column is missing or does not fit; the message names row, column and cell.
        OSError: the file cannot be opened.
    """

    def __init__(self, options: dict[str, JsonValue], files: ProvidedFiles | None = None) -> None:
        self.options = options
        try:
            self.table: LoadedTable = load(str(options["path"]), options, files)
        except ValueError as error:
            raise SetupError(str(error), "data.path") from None
        given = options.get("inputs")
        inputs = [str(name) for name in given] if isinstance(given, list) else []
        self.targets = target_names(options, self.table.names)
        self.classes = bool(options.get("classes"))
        if self.classes and len(self.targets) > 1:
            raise SetupError("classes are one target column, not several", "data.target")
        for place, names in (("data.inputs", inputs), ("data.target", self.targets)):
            for name in names:
                self._check_name(name, place)
        self.inputs = [self._input(name) for name in inputs]
        self.outputs = [self._target(name) for name in self.targets]
        self.used = self._used_rows()
        # Categories and first dates are those of the rows that are left.
        self.inputs = [self._again(column) for column in self.inputs]
        self.outputs = [self._again(column) for column in self.outputs]
        self._check_used()

    def _check_name(self, name: str, place: str) -> None:
        names = self.table.names
        if name in names:
            return
        hint = did_you_mean(name, names)
        has = f"{self.table.name} has no column {name!r}{hint}; it has {', '.join(names[:20])}"
        if self.looks_headless:
            shown = ", ".join(names[:5])
            has = (
                f"{self.table.name} has no column {name!r}. Its first row, {shown}, looks like "
                f'data: with "header": false the columns are called column 1 to {len(names)}'
            )
        raise SetupError(has, place)

    @property
    def looks_headless(self) -> bool:
        """True if the row that names the columns looks like data."""
        table = self.table
        if table.kind == "parquet" or not table.layout.header:
            return False
        head = table.frame.head(200).astype(object)
        rows = head.where(head.notna(), "").to_numpy().tolist()
        return begins_with_data(table.names, [[*map(str, row)] for row in rows])

    def _input(self, name: str) -> Column:
        column = understand(self.table, name, self.options)
        if column.kind == "empty":
            raise SetupError(f"column {name!r} has no values; leave it out", "data.inputs")
        if column.kind == "text":
            shown = ", ".join(repr(text[:20]) for text in column.texts[:3])
            raise SetupError(
                f"column {name!r} has {column.distinct} different texts in {self.table.rows} rows, "
                f"as {shown}: a name says little about a row. Leave the column out, or read it as "
                f'categories: "columns": {{{json.dumps(name)}: "category"}}',
                "data.inputs",
            )
        return column

    def _target(self, name: str) -> Column:
        if self.classes:
            columns: dict[str, object] = {name: {"as": "category"}}
            return understand(self.table, name, {**self.options, "columns": columns})
        column = understand(self.table, name, self.options)
        if column.kind == "number":
            return column
        if column.kind == "empty":
            raise SetupError(f"column {name!r} has no values", "data.target")
        if column.kind == "days" and _is_chosen(self.options, name):
            return column
        cells = self.table.frame[name].dropna()
        at = f"row {self.table.row_number(cells.index[0])}, column {name!r}"
        cell = str(cells.iloc[0])[:60]
        if column.kind in ("days", "date parts"):
            raise SetupError(
                f'{at}: {cell!r} is a date: "columns": {{{json.dumps(name)}: "days"}} makes it '
                f"days since {column.since}",
                "data.target",
            )
        raise SetupError(
            f"{at}: {cell!r} is no number; the column holds {column.distinct} different texts: "
            'with "classes": true they are learned as classes',
            "data.target",
        )

    def _again(self, column: Column) -> Column:
        """Return a column as it is understood in the used rows alone."""
        choice = {"as": column.kind, "missing": column.missing, "format": column.dates}
        columns: dict[str, object] = {column.name: choice}
        options = {**self.options, "columns": columns}
        again = understand(self.table, column.name, options, rows=self.used)
        if again.kind == "empty":
            words = f"column {column.name!r} has no values in the rows that are left"
            raise SetupError(words, "data.missing")
        return again

    def _used_rows(self) -> pd.DataFrame:
        """Return the rows that are trained on; raise `SetupError` if they may not miss values."""
        frame, outputs = self.table.frame, {column.name for column in self.outputs}
        blank = [column for column in (*self.inputs, *self.outputs) if column.blanks]
        for column in blank:
            if column.missing == "refuse":
                raise SetupError(self._missing_words(blank), "data.missing")
        dropped = [c.name for c in blank if c.name in outputs or c.missing == "leave rows out"]
        self.dropped = list(dict.fromkeys(dropped))
        used = frame.dropna(subset=self.dropped) if self.dropped else frame
        if not len(used):
            words = f"{self.table.name} has no row in which all columns are filled"
            raise SetupError(words, "data.missing")
        return used

    def _missing_words(self, blank: list[Column]) -> str:
        frame = self.table.frame
        refused = list(dict.fromkeys(c.name for c in blank if c.missing == "refuse"))
        empty = frame[refused].isna()
        rows = empty.any(axis=1)
        label = rows.index[rows][0]
        name = next(name for name in refused if empty.loc[label, name])
        missing = [repr(word) for word in self.table.missing.get(name, [])[:3]]
        said = f" ({', '.join(missing)} {'is' if len(missing) == 1 else 'are'} read so)"
        said = said if missing else ""
        return (
            f"row {self.table.row_number(label)}, column {name!r}: nothing there{said}; rows with "
            f"missing values: {int(rows.sum()):,} of {len(frame):,}. "
            'Choose "leave rows out", "mean" or "own category" for missing values'
        )

    def _check_used(self) -> None:
        for column in (*self.inputs, *self.outputs):
            if self.classes and column in self.outputs:
                continue
            try:
                check_cells(self.table, column, self.used)
            except ValueError as error:
                raise SetupError(str(error), "data") from None

    # Source

    def written(self) -> Written:
        """Return the source of the data section."""
        uses: list[Callable[..., object]] = []
        inputs = [self._expression(column, uses) for column in self.inputs]
        listed = "".join(f"        {text},\n" for text in inputs)
        lines = [*self._reading(), "x = torch.cat(", f"    [\n{listed}    ],", "    dim=1,", ")"]
        if self.classes:
            column = self.outputs[0]
            lines.append(f"class_names = {list(column.texts)!r}")
            lines.append(f"y = class_numbers({self._cells(column)}, class_names)")
            uses.append(convert.class_numbers)
        else:
            lines.append("class_names = []")
            parts = [self._expression(column, uses) for column in self.outputs]
            joined = f"torch.cat([{', '.join(parts)}], dim=1)" if len(parts) > 1 else parts[0]
            lines.append(f"y = {joined}")
        imports = convert.IMPORTS["text" if self.table.kind == "text" else "workbook"]
        if convert.marked_numbers in uses:
            uses.insert(0, bare)
            imports += "import re\n"
        return Written(
            imports=imports,
            uses=tuple(dict.fromkeys([_READS[self.table.kind], *uses])),
            statements="\n".join(lines) + "\n",
            input_names=tuple(name for column in self.inputs for name in column.input_names),
            target_names=tuple(self.targets),
            columns=tuple((column.name, len(column.input_names)) for column in self.inputs),
            note=self.note(),
        )

    def _reading(self) -> list[str]:
        table, layout = self.table, self.table.layout
        used = {column.name for column in (*self.inputs, *self.outputs)}
        blank = {name: found for name, found in table.missing.items() if name in used}
        missing = f"    missing={blank!r},\n" if blank else ""
        every = f"    every={table.every},\n" if table.every > 1 else ""
        opened = repr(str(self.options["path"]))
        if table.kind == "text":
            names = [*layout.names, *beyond_names(table.trailing)]
            words = f"    names={names!r},\n"
            words += f"    separator={layout.separator!r},\n" * (layout.separator != ",")
            words += f"    comment={layout.comment!r},\n" * bool(layout.comment)
            words += f"    start={layout.start},\n" * (layout.start != 1)
            words += f"    first={table.first},\n" * (table.first != 0)
            call = f"read_rows(\n        file,\n{_indented(words + every + missing)}    )"
            head = f'with open({opened}, newline="", encoding={layout.encoding!r}) as file:'
        else:
            name = "read_workbook" if table.kind == "xlsx" else "read_parquet"
            words = "    header=False,\n" * (table.kind == "xlsx" and not layout.header)
            words += every + missing
            call = f"{name}(\n        file,\n{_indented(words)}    )" if words else f"{name}(file)"
            head = f'with open({opened}, "rb") as file:'
        lines = [head, f"    frame = {call}"]
        if self.dropped:
            lines.append(f"frame = frame.dropna(subset={self.dropped!r})")
        return lines

    def _cells(self, column: Column) -> str:
        cells = f"frame[{column.name!r}]"
        if column.typed and column.kind == "category":
            return f'{cells}.map("{{:g}}".format, na_action="ignore")'
        return cells

    def _expression(self, column: Column, uses: list[Callable[..., object]]) -> str:
        """Return the expression that converts a column; add the functions that it needs."""
        cells = self._cells(column)
        match column.kind:
            case "number":
                form = column.numbers
                is_plain = (form.decimal, form.thousands) == (".", "")
                if is_plain and not form.percent and not form.currency and self._is_plain(column):
                    uses.append(convert.numbers)
                    text = f"numbers({cells})"
                else:
                    uses.append(convert.marked_numbers)
                    words = [f"decimal={form.decimal!r}"] * (form.decimal != ".")
                    words += [f"thousands={form.thousands!r}"] * bool(form.thousands)
                    text = f"marked_numbers({', '.join([cells, *words])})"
            case "days":
                uses += [convert.dates, convert.days]
                text = f"days({cells}, {column.dates or None!r}, since={column.since!r})"
            case "date parts":
                uses += [convert.dates, convert.date_parts]
                text = f"date_parts({cells}, {column.dates or None!r}, {list(column.parts)!r})"
            case _ if column.blanks and column.missing == "own category":
                uses.append(convert.one_hot)
                return f"one_hot({cells}.fillna(''), {[*column.texts, '']!r})"
            case _:
                uses.append(convert.one_hot)
                text = f"one_hot({cells}, {list(column.texts)!r})"
        if column.name in self.dropped or not column.blanks:
            return text
        uses.append(convert.filled)
        flag = ", flag=True" if column.missing == "own category" else ""
        return f"filled({text}, frame[{column.name!r}]{flag})"

    def _is_plain(self, column: Column) -> bool:
        """Return True if pandas itself can convert the texts of a column."""
        if column.typed:
            return True
        return all(is_bare(shape(text)) for text in typed_texts(self.used[column.name]))

    # Remarks

    def note(self) -> str:
        """Return remarks on what was left out, or read in a way that may surprise; or empty."""
        table, words = self.table, []
        if table.every > 1:
            more = ' ("limit" takes more)' if table.limit < MOST_ROWS else ""
            words.append(
                f"{table.name} has about {table.whole_rows:,} rows; 1 in {table.every:,} is taken"
                f"{more}"
            )
        if left := table.rows - len(self.used):
            words.append(f"{left:,} of {table.rows:,} rows are left out: a value is missing")
        if table.kind == "text" and table.layout.encoding not in ("utf-8", "utf-8-sig"):
            words.append(f"read as {ENCODINGS.get(table.layout.encoding, table.layout.encoding)}")
        if self.looks_headless:
            words.append('the first row looks like data: "header" false reads it so')
        columns = (*self.inputs, *self.outputs)
        words += [f"{c.name}: {_doubt(c)}" for c in columns if c.is_ambiguous]
        return "; ".join(words)


ENCODINGS = {
    "cp1252": "Western European text (cp1252)",
    "cp1251": "Cyrillic text (cp1251)",
    "latin-1": "Western European text (latin-1)",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
}


def _doubt(column: Column) -> str:
    if column.kind == "number":
        mark = "comma" if column.numbers.decimal == "," else "point"
        return f'the {mark} is taken as decimal mark ("decimal" changes that)'
    return "month first" if column.dates.startswith("%m") else "day first"


def _is_chosen(options: Mapping[str, JsonValue], name: str) -> bool:
    columns = options.get("columns")
    return isinstance(columns, dict) and name in columns


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())
