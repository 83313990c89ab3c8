"""Curves of the trials of a sweep: live points while one runs, then the whole curve."""

from pathlib import Path

import msgspec

from gradscribe.app.training.sweep import rows as trial_rows
from gradscribe.app.training.sweep.folder import RESULT, SETUP
from gradscribe.app.training.sweep.rows import TrialRow
from gradscribe.widgets.plots.step_series import StepSeries

MOST_POINTS = 2_000
"""Most points of a curve that are kept."""
MAX_BYTES = 4 << 20
"""Size of a result above which its curve is not read: the points that came live stay."""
SHOWN = 24
"""Most curves that are shown: the best, and those that run."""


class _Series(msgspec.Struct):
    step: list[int]
    loss: list[float | None]
    val: list[float | None]


class _Result(msgspec.Struct):
    series: _Series


class TrialCurves:
    """The validation loss of each trial over its steps, or its loss without one."""

    def __init__(self) -> None:
        self.series: dict[int, StepSeries] = {}
        self._last: dict[int, int] = {}
        self._whole: set[int] = set()

    def add(self, row: TrialRow) -> None:
        """Add the numbers of a trial that runs."""
        value = row.loss if row.validation_loss is None else row.validation_loss
        if value is not None and row.step > self._last.get(row.number, -1):
            self._last[row.number] = row.step
            self._of(row.number).extend([row.step], [value])

    def read(self, row: TrialRow, folder: Path) -> None:
        """Read the whole curve of a trial that has ended, once."""
        if row.number in self._whole or not row.setup:
            return
        self._whole.add(row.number)
        path = folder / f"{Path(row.setup).name.removesuffix(SETUP)}{RESULT}"
        try:
            if path.stat().st_size > MAX_BYTES:
                return
            series = msgspec.json.decode(path.read_bytes(), type=_Result).series
        except (OSError, msgspec.DecodeError):
            return
        numbers = series.val if any(value is not None for value in series.val) else series.loss
        known = [(x, y) for x, y in zip(series.step, numbers, strict=False) if y is not None]
        self.series[row.number] = made = StepSeries(MOST_POINTS)
        made.extend([x for x, _ in known], [y for _, y in known])

    def _of(self, number: int) -> StepSeries:
        if number not in self.series:
            self.series[number] = StepSeries(MOST_POINTS)
        return self.series[number]


def shown(rows: list[TrialRow]) -> list[TrialRow]:
    """Return the trials whose curves are shown: those that run, and the best."""
    running = [row for row in rows if row.status == "running"]
    ended = [row for row in trial_rows.ranked(rows) if row.score == row.score]
    return [*ended[: max(0, SHOWN - len(running))], *running][:SHOWN]
