"""Numbers of the steps that are not recorded in full, as columns that grow."""

import math
from array import array
from collections.abc import Sequence

import numpy as np
import torch
from msgspec import Struct

from gradscribe.engine.protocol.tape import ColumnKind, StepColumn
from gradscribe.engine.record.log import CodeLocation
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

STACKED = 256
"""Rows of norms that are converted at once: on a GPU each conversion waits for it."""
MOST_SCALARS = 32
"""Most places whose scalars are collected."""
MOST_NUMBERS = 4 << 20
"""Most scalars, and most norms, of a loop, 12 bytes each: past it every second step is dropped."""
CHECKED_EVERY = 4_096
"""Steps between two counts of the numbers."""

_item = torch.Tensor.item


class GrowingColumn(Struct, gc=False, eq=False):
    """A column: the steps that have a number, ascending, and the numbers."""

    kind: ColumnKind
    where: CodeLocation
    name: str
    value: int | None
    steps: "array[int]"
    numbers: "array[float]"


class NormRows:
    """Rows of norms that torch computed, one number a parameter, converted many at a time."""

    def __init__(self, kind: ColumnKind, parameters: list[tuple[int, str]]) -> None:
        self.columns = [
            GrowingColumn(kind, None, name, value, array("I"), array("d"))
            for value, name in parameters
        ]
        self._steps: list[int] = []
        self._rows: list[Sequence[torch.Tensor]] = []

    def add(self, step: int, row: Sequence[torch.Tensor]) -> None:
        """Append the row of a step: a tensor of one number for each column."""
        self._steps.append(step)
        self._rows.append(row)
        if len(self._rows) >= STACKED:
            self.convert()

    def thin(self, stride: int) -> None:
        """Drop the steps that are no multiple of ``stride``."""
        self.convert()
        for column in self.columns:
            thin(column, stride)

    def convert(self) -> None:
        """Convert the rows that wait."""
        if not self._rows:
            return
        numbers = torch.stack([number for row in self._rows for number in row])
        rows = numbers.view(len(self._rows), -1).to("cpu", torch.float64)
        steps, data = array("I", self._steps), rows.t().contiguous()
        for column, norms in zip(self.columns, data, strict=True):
            column.steps += steps
            column.numbers.frombytes(norms.numpy().tobytes())
        self._steps.clear()
        self._rows.clear()


class StepNumbers:
    """The columns of a loop's steps."""

    def __init__(self) -> None:
        self._scalars: dict[tuple[ColumnKind, int, int], GrowingColumn] = {}
        self.times: GrowingColumn = GrowingColumn("time", None, "", None, array("I"), array("d"))
        self._norms: list[NormRows] = []
        self.scalar_stride = self.norm_stride = 1
        """Only steps that are multiples of these have scalars and norms."""
        self._waiting: list[tuple[GrowingColumn, int, torch.Tensor]] = []
        """Scalars on a device, read when there are many."""

    def norms(self, kind: ColumnKind, parameters: list[tuple[int, str]]) -> NormRows:
        """Return new rows of norms for these parameters: their value ids and names."""
        rows = NormRows(kind, parameters)
        self._norms.append(rows)
        return rows

    def time(self, step: int, seconds: float) -> None:
        """Note how long a step took, its last number."""
        if step % self.scalar_stride == 0:
            self.times.steps.append(step)
            self.times.numbers.append(seconds)
        if step % CHECKED_EVERY == 0:
            self._limit()

    def _limit(self) -> None:
        """Drop numbers of every second step while there are too many."""
        columns = [*self._scalars.values(), self.times]
        while sum(len(column.steps) for column in columns) > MOST_NUMBERS:
            self.scalar_stride *= 2
            for column in columns:
                # A rate is noted where it changes, and holds from there.
                if column.kind != "rate":
                    thin(column, self.scalar_stride)
        norms = [column for rows in self._norms for column in rows.columns]
        while sum(len(column.steps) for column in norms) > MOST_NUMBERS:
            self.norm_stride *= 2
            for rows in self._norms:
                rows.thin(self.norm_stride)

    def scalar(self, kind: ColumnKind, where: CodeLocation, step: int, number: float) -> None:
        """Note a number that the program computed at a place; the last of a step counts."""
        if step % self.scalar_stride and kind != "rate":
            return
        column = self._column(kind, where)
        if column is not None:
            _put(column, step, number)

    def device_scalar(
        self, kind: ColumnKind, where: CodeLocation, step: int, t: torch.Tensor
    ) -> None:
        """Note a number that a device is computing."""
        if step % self.scalar_stride:
            return
        column = self._column(kind, where)
        if column is not None:
            self._waiting.append((column, step, t.detach().clone()))
            if len(self._waiting) >= STACKED:
                self.read_waiting()

    def read_waiting(self) -> None:
        """Wait for the numbers that devices compute, and note them."""
        waiting, self._waiting = self._waiting, []
        for column, step, t in waiting:
            _put(column, step, float(_item(t)))

    def name(self, kind: ColumnKind, where: CodeLocation, name: str) -> None:
        """Name the column of a place."""
        column = self._column(kind, where)
        if column is not None:
            column.name = name

    def losses(self) -> list[GrowingColumn]:
        """Return the columns of what backward was called on; callable from another thread."""
        return [column for (kind, _, _), column in list(self._scalars.items()) if kind == "loss"]

    def columns(self) -> list[GrowingColumn]:
        """Return all columns that have a number."""
        self.read_waiting()
        for rows in self._norms:
            rows.convert()
        of_norms = [column for rows in self._norms for column in rows.columns]
        merged: dict[tuple[ColumnKind, int | None], GrowingColumn] = {}
        for column in of_norms:
            key = column.kind, column.value
            known = merged.get(key)
            merged[key] = column if known is None else _joined(known, column)
        found = [*self._scalars.values(), *merged.values(), self.times]
        return [column for column in found if len(column.steps)]

    def _column(self, kind: ColumnKind, where: CodeLocation) -> GrowingColumn | None:
        key = (kind, id(where[0]), where[1]) if where is not None else (kind, 0, 0)
        column = self._scalars.get(key)
        if column is None:
            if len(self._scalars) >= MOST_SCALARS:
                return None
            column = GrowingColumn(kind, where, "", None, array("I"), array("d"))
            self._scalars[key] = column
        return column


def _joined(first: GrowingColumn, then: GrowingColumn) -> GrowingColumn:
    """Return the numbers of two runs of steps as one column."""
    steps, numbers = first.steps + then.steps, first.numbers + then.numbers
    return GrowingColumn(first.kind, first.where, first.name, first.value, steps, numbers)


def _put(column: GrowingColumn, step: int, number: float) -> None:
    if column.steps and column.steps[-1] == step:
        column.numbers[-1] = number
    else:
        column.steps.append(step)
        column.numbers.append(number)


def thin(column: GrowingColumn, stride: int) -> None:
    """Drop the steps of a column that are no multiple of ``stride``."""
    steps = np.array(column.steps, np.uint32)
    stays = steps % stride == 0
    column.steps = array("I", steps[stays].tobytes())
    column.numbers = array("d", np.array(column.numbers, np.float64)[stays].tobytes())


def tape_column(column: GrowingColumn, line: int) -> StepColumn:
    """Return a column as the tape has it."""
    steps, numbers = array("I", column.steps), array("d", column.numbers)
    return StepColumn(
        column.kind, column.name, line, column.value, steps.tobytes(), numbers.tobytes()
    )


def is_bad(number: float) -> bool:
    """Return whether a number is NaN or infinite."""
    return not math.isfinite(number)
