"""Functions that read a table and convert its columns; pasted into the exported script.

They use only what `IMPORTS` imports, ``re`` and ``torch``. A cell without a value is NaN.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO

import torch

from gradscribe.engine.zoo.tables.cells import bare
from gradscribe.engine.zoo.tables.lazy_pandas import pd

IMPORTS = {
    "text": """import io
import itertools
from collections.abc import Iterable, Mapping, Sequence
import pandas as pd
""",
    "workbook": """from collections.abc import Mapping, Sequence
from typing import BinaryIO
import pandas as pd
""",
}
"""Imports of the functions that read a text, and of those that read a workbook or Parquet file."""


def read_rows(
    file: Iterable[str],
    names: list[str],
    separator: str = ",",
    comment: str = "",
    start: int = 1,
    first: int = 0,
    every: int = 1,
    missing: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """Return the cells below a header as texts, those without a value as NaN.

    Of a long file every k-th line is read. The index has the number of each row in the file.
    ``missing`` has the words for a missing value, by column.
    """
    above = start + first
    for _ in zip(range(above), file, strict=False):
        pass
    lines = list(itertools.islice(file, 0, None, every))
    if comment:
        lines = ["\n" if line.lstrip().startswith(comment) else line for line in lines]
    frame = pd.read_csv(
        io.StringIO("".join(lines)), sep=separator, header=None, names=names, index_col=False,
        dtype=object, keep_default_na=False, skip_blank_lines=False, skipinitialspace=True,
    )  # fmt: skip
    frame.index = above + 1 + every * frame.index
    frame = frame.fillna("").apply(lambda column: column.str.strip())
    frame = frame.mask(frame == "").dropna(how="all")
    return frame.mask(frame.isin(missing)) if missing else frame


def read_workbook(
    file: BinaryIO,
    header: bool = True,
    every: int = 1,
    missing: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """Return the cells of a workbook's first sheet; the index has the number of each row."""
    frame = pd.read_excel(file, header=0 if header else None, keep_default_na=False, na_values=[""])
    frame.columns = [
        " ".join(str(name).split()) if header else f"column {i + 1}"
        for i, name in enumerate(frame.columns)
    ]
    frame.index += 1 + header
    for name in frame:
        if frame[name].dtype.kind not in "biufM":
            cells = frame[name].map(str, na_action="ignore").astype(object).str.strip()
            frame[name] = cells.mask(cells.isin(["", *(missing or {}).get(name, [])]))
    return frame.dropna(how="all")[::every]


def read_parquet(
    file: BinaryIO, every: int = 1, missing: Mapping[str, Sequence[str]] | None = None
) -> pd.DataFrame:
    """Return the columns of a Parquet file; the index has the number of each row."""
    frame = pd.read_parquet(file).reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    frame.index += 1
    for name in frame:
        if frame[name].dtype.kind not in "biufM":
            cells = frame[name].map(str, na_action="ignore").astype(object).str.strip()
            frame[name] = cells.mask(cells.isin(["", *(missing or {}).get(name, [])]))
    return frame.dropna(how="all")[::every]


def numbers(cells: pd.Series) -> torch.Tensor:
    """Return a column of numbers, (n, 1)."""
    return torch.tensor(cells.astype("float64").to_numpy()).unsqueeze(1)


def marked_numbers(cells: pd.Series, decimal: str = ".", thousands: str = "") -> torch.Tensor:
    """Return a column of numbers, (n, 1), of texts like "$1,234.50", "(3)" or "12 %": 0.12."""
    text = cells.map(bare, na_action="ignore").astype(object)
    if thousands:
        text = text.str.replace(thousands, "", regex=False)
    values = text.str.replace(decimal, ".", regex=False).astype("float64")
    values = values.where(~cells.str.contains("%", na=False), values / 100)
    return torch.tensor(values.to_numpy()).unsqueeze(1)


def dates(cells: pd.Series, form: str | None) -> pd.Series:
    """Return dates without a time zone, in UTC if the cells have one; NaT where there is none."""
    return pd.to_datetime(cells, format=form, utc=True).dt.tz_localize(None)


def days(cells: pd.Series, form: str | None, since: str) -> torch.Tensor:
    """Return the days that have passed since a date, (n, 1)."""
    passed = dates(cells, form) - pd.Timestamp(since)
    return torch.tensor((passed / pd.Timedelta(days=1)).to_numpy("float64")).unsqueeze(1)


def date_parts(cells: pd.Series, form: str | None, parts: list[str]) -> torch.Tensor:
    """Return parts of dates as numbers, (n, parts): year, month, day_of_week (0: Monday)."""
    when = dates(cells, form).dt
    return torch.stack(
        [torch.tensor(getattr(when, part).to_numpy("float64")) for part in parts], dim=1
    )


def one_hot(cells: pd.Series, categories: list[str]) -> torch.Tensor:
    """Return a column for each category, (n, categories): 1 where a cell is it, else 0."""
    dummies = pd.get_dummies(pd.Categorical(cells, categories))
    return torch.tensor(dummies.to_numpy("float64"))


def filled(values: torch.Tensor, cells: pd.Series, flag: bool = False) -> torch.Tensor:
    """Return values with the mean where a cell is empty; ``flag``: and a column that marks it."""
    blank = torch.tensor(cells.isna().to_numpy())
    values[blank] = values[~blank].mean(dim=0)
    return torch.cat([values, blank.unsqueeze(1)], dim=1) if flag else values


def class_numbers(cells: pd.Series, class_names: list[str]) -> torch.Tensor:
    """Return the number of each cell's class, (n,)."""
    return torch.tensor(pd.Categorical(cells, class_names).codes.astype("int64"))
