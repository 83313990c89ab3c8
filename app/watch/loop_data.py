"""The numbers of a watched loop, as they have arrived so far."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gradscribe.engine.protocol.watch_file import (
    WatchEvent,
    WatchHeader,
    WatchLosses,
    WatchRecord,
    WatchSample,
)
from gradscribe.playback.tape.parameters import ParameterRow
from gradscribe.widgets.plots.step_series import StepSeries

MOST_STEPS = 1 << 21
"""Most losses that are drawn; of more every second is left out."""
MOST_EVENTS = 1000
MOST_COLUMNS = 1 << 13
"""Most parameters or modules; a watch sends fewer."""
COURSE = 120
"""Most points of a parameter's course in the table."""
Row = NDArray[np.float32]
Sample = tuple[int, Row, Row, Row, Row, Row]


class LoopData:
    """Series over the steps, filled record by record."""

    def __init__(self) -> None:
        self.header: WatchHeader | None = None
        self.loss, self.rate = StepSeries(MOST_STEPS), StepSeries(MOST_STEPS)
        self.gradient = StepSeries(MOST_STEPS)
        """Norm of all gradients together."""
        self.samples: list[Sample] = []
        """Step, gradients, weights, updates, means, spreads; a number a parameter or module."""
        self.events: list[WatchEvent] = []
        self.dropped = self.lost = 0
        self.step = 0
        self.has_ended = False

    def add(self, record: WatchRecord) -> None:
        """Add a record.

        Raises:
            ValueError: it does not fit the loop; the file is spoilt.
        """
        if isinstance(record, WatchHeader):
            if max(len(record.parameters), len(record.modules)) > MOST_COLUMNS:
                raise ValueError("it has too many parameters")
            self.header = self.header or record
        elif isinstance(record, WatchLosses):
            steps = np.frombuffer(record.steps, "<i8")
            numbers = np.frombuffer(record.numbers, "<f8")
            if len(steps) != len(numbers) or (np.diff(steps) < 1).any():
                raise ValueError("losses do not fit their steps")
            self.dropped += max(0, record.dropped)
            if len(steps):
                self.loss.extend(steps, numbers)
                self.step = max(self.step, int(steps[-1]))
        elif isinstance(record, WatchSample):
            self._add_sample(record)
        elif len(self.events) < MOST_EVENTS:
            self.events.append(record)
            self.has_ended = record.kind == "end"
            self.step = max(self.step, record.step)

    def _add_sample(self, sample: WatchSample) -> None:
        header = self.header
        if header is None or (self.samples and sample.step <= self.samples[-1][0]):
            raise ValueError("a measurement is out of order")
        sizes = [len(header.parameters)] * 3 + [len(header.modules)] * 2
        data = (sample.gradients, sample.weights, sample.updates, sample.means, sample.spreads)
        rows = [np.frombuffer(row, "<f4") for row in data]
        if [len(row) for row in rows] != sizes:
            raise ValueError("a measurement does not fit the parameters")
        gradients, weights, updates, means, spreads = rows
        self.samples.append((sample.step, gradients, weights, updates, means, spreads))
        self.step = max(self.step, sample.step)
        self.rate.extend([sample.step], [sample.rate])
        known = rows[0][~np.isnan(rows[0])].astype(np.float64)
        total = math.sqrt(float(known @ known)) if len(known) else math.nan
        self.gradient.extend([sample.step], [total])

    def series(self, kind: int, place: int) -> StepSeries:
        """Return the course of a column of `samples`, 1 to 5, for a parameter or module."""
        found = StepSeries(MOST_STEPS)
        found.extend(
            [sample[0] for sample in self.samples],
            [float(sample[kind][place]) for sample in self.samples],  # type: ignore[index]
        )
        return found

    def rows(self) -> Sequence[ParameterRow]:
        """Return the parameters with their latest numbers."""
        if self.header is None:
            return ()
        blank = np.full(len(self.header.parameters), np.nan, np.float32)
        gradients, weights, updates = (self.samples[-1][1:4]) if self.samples else (blank,) * 3
        # Updates are measured in turn: the latest that is known counts.
        updates = updates.copy()
        for sample in reversed(self.samples[-64:-1]):
            if not np.isnan(updates).any():
                break
            updates = np.where(np.isnan(updates), sample[3], updates)
        every = max(1, len(self.samples) // COURSE)
        course = np.array([sample[1] for sample in self.samples[::every]]).T
        return tuple(
            ParameterRow(
                name,
                tuple(shape),
                _known(weights[at]),
                _known(gradients[at]),
                _known(updates[at]),
                int(np.isinf(gradients[at])) + int(np.isinf(weights[at])),
                course[at].tolist() if len(course) else (),
            )
            for at, (name, shape) in enumerate(self.header.parameters)
        )


def _known(number: np.float32) -> float | None:
    return None if math.isnan(number) else float(number)
