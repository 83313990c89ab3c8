"""Scalars that the running program computes again and again, read from the log as it grows.

The recorder does nothing for it: another thread reads rows that are there already.
"""

import sys

import torch

from gradscribe.engine.protocol.messages import ComputedScalar
from gradscribe.engine.record.log import CodeLocation, EventRow, Log, OpRow, ValueRow
from gradscribe.engine.record.loops.columns import GrowingColumn
from gradscribe.engine.record.loops.recorder import LoopRecorder
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.values.snapshots import dtype_name
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

LEAST_ROUNDS = 3
"""Fewest rounds of a line that are sent."""
LEAST_UNROOTED = 12
"""Fewest rounds of a line that are sent before any scalar on which backward is called is."""
LEAST_BEFORE_ROOT = 120
"""The same while backward was called on a scalar that has not had `LEAST_ROUNDS` yet."""
MOST_LINES = 64
"""Most lines whose scalars are followed."""
EVENTS_AT_ONCE = 4_000
"""Most events that are read at once, some milliseconds; the rest waits for the next time."""


# Bound now, before a program can replace it.
_item = torch.Tensor.item
_Key = tuple[int, int, bool]
"""The code, the instruction and the grad mode of an op."""


class _Growing:
    """The numbers of a line that have not been sent yet."""

    def __init__(self, number: int, line: int, dtype: str) -> None:
        self.number, self.line, self.dtype = number, line, dtype
        self.called = 0
        self.latest = 0
        """The id of its latest value."""
        self.rounds = 0
        self.numbers: list[float] = []
        self.positions: list[int] = []

    def take(self) -> ComputedScalar:
        """Return the waiting numbers as part of a message."""
        numbers, positions = tuple(self.numbers), tuple(self.positions)
        self.numbers.clear()
        self.positions.clear()
        return ComputedScalar(self.number, self.line, self.called, self.dtype, numbers, positions)


class LiveScalars:
    """Reads a log that another thread writes.

    Of the scalars that one run of a line makes, the last counts: no op of that line takes it.
    """

    def __init__(self, log: Log, source: Source, loops: LoopRecorder | None = None) -> None:
        self._log, self._source, self._loops = log, source, loops
        self._taken: dict[int, int] = {}
        """By ``id()`` of a column of steps that are not recorded in full: numbers read of it."""
        self._next = 0
        self._line = 0
        self._lines: dict[tuple[int, int], int] = {}
        self._pending: dict[_Key, tuple[ValueRow, float, int]] = {}
        """Scalars of the present line that none of its ops has taken."""
        self._found: dict[_Key, _Growing] = {}

    def read(self) -> tuple[ComputedScalar, ...]:
        """Return what was computed since the last call, where a line repeats."""
        events = self._log.events
        stop = min(len(events), self._next + EVENTS_AT_ONCE)
        for at in range(self._next, stop):
            event = events[at]
            if type(event) is not EventRow:
                continue
            if event.kind == "op" and event.ref < len(self._log.ops):
                self._read_op(self._log.ops[event.ref], at)
            elif event.kind == "backward":
                self._read_backward(event)
            elif event.kind == "gap":
                self._read_columns(at, self._log.gaps[event.ref].last)
        self._next = stop
        if self._loops is not None and self._loops.is_light and stop == len(events):
            self._read_columns(stop)
        return tuple(
            one.take() for one in self._found.values() if one.numbers and self._is_due(one)
        )

    def _is_due(self, scalar: _Growing) -> bool:
        """Return whether a scalar has had enough rounds.

        What a step computes before its loss has its third round first, and would be taken for it.
        """
        if scalar.called:
            return scalar.rounds >= LEAST_ROUNDS
        roots = [one.rounds for one in self._found.values() if one.called]
        if not roots:
            return scalar.rounds >= LEAST_UNROOTED
        return scalar.rounds >= (LEAST_ROUNDS if max(roots) >= LEAST_ROUNDS else LEAST_BEFORE_ROOT)

    def _read_columns(self, position: int, last: int | None = None) -> None:
        """Take the losses of steps that are not recorded in full, up to the step ``last``."""
        self._flush()
        for column in self._loops.losses() if self._loops is not None else ():
            self._read_column(column, position, last)

    def _read_column(self, column: GrowingColumn, position: int, last: int | None) -> None:
        first, count = self._taken.get(id(column), 0), min(len(column.steps), len(column.numbers))
        if count < first:
            # Thinned: the numbers cannot be told apart by their order any more.
            self._taken[id(column)] = first = count = sys.maxsize
        while last is not None and count > first and column.steps[count - 1] > last:
            count -= 1
        line = self._line_of(column.where)
        # The losses before them, of steps recorded in full.
        same = next((one for one in self._found.values() if one.called == line), None)
        if same is None or first == count:
            return
        same.numbers += column.numbers[first:count]
        same.positions += [position] * (count - first)
        same.rounds += count - first
        self._taken[id(column)] = count

    def _read_op(self, op: OpRow, at: int) -> None:
        if op.phase != "forward":
            return
        line = self._line_of(op.where)
        if line != self._line:
            self._flush()
            self._line = line
        elif self._pending:
            taken = {row.id for row in op.inputs}
            for key in [k for k, waiting in self._pending.items() if waiting[0].id in taken]:
                del self._pending[key]
        if not line or op.where is None or len(op.outputs) != 1:
            return
        number = self._number(op.outputs[0])
        if number is not None:
            key = (id(op.where[0]), op.where[1], op.grad_mode)
            if key in self._pending:
                self._flush()
            self._pending[key] = (op.outputs[0], number, at + 1)

    def _flush(self) -> None:
        for key, (row, number, position) in self._pending.items():
            if key not in self._found:
                if len(self._found) >= MOST_LINES:
                    continue
                made = _Growing(len(self._found), self._line, dtype_name(row.dtype))
                self._found[key] = made
            one = self._found[key]
            one.latest = row.id
            one.rounds += 1
            one.numbers.append(number)
            one.positions.append(position)
        self._pending.clear()

    def _read_backward(self, event: EventRow) -> None:
        self._flush()
        if event.ref < len(self._log.passes):
            roots = self._log.passes[event.ref].roots
            for one in self._found.values():
                if one.latest in roots:
                    one.called = self._line_of(event.where)

    def _line_of(self, where: CodeLocation) -> int:
        if where is None:
            return 0
        key = id(where[0]), where[1]
        if key not in self._lines:
            span = self._source.span(where)
            self._lines[key] = span[0] if span is not None else 0
        return self._lines[key]

    def _number(self, row: ValueRow) -> float | None:
        """Return the number of a real scalar; None for all else, and on a device to wait for."""
        if (
            row.snapshot is None
            or row.role == "parameter"
            or row.dtype is torch.bool
            or row.dtype.is_complex
        ):
            return None
        if any(size != 1 for size in row.shape):
            return None
        copy = self._log.snapshots[row.snapshot]
        if type(copy) is not torch.Tensor or not copy.is_cpu:
            return None
        try:
            return float(_item(copy))
        except (RuntimeError, OverflowError):
            return None
