"""Statistics and tables of the numbers between two steps."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import PlotCurve

STEADY = 0.05
"""Largest relative change between the first and the last quarter of a steady curve."""
CHUNK = 2048
"""Most numbers of a curve that are read or written at once."""
MOST_EXACT = 1 << 20
"""Most numbers of a curve whose mean is that of all of them; that of more is put together from
blocks of 16 and more numbers, which the ends of the stretch may cut."""


@dataclass(frozen=True)
class Stretch:
    """A curve between two steps: mean and least number, and the change from begin to end."""

    name: str
    mean: float
    least: float
    factor: float
    """Mean of the last quarter of the numbers over that of the first; NaN if either is not above
    zero."""


def bounds(series: StepSeries, low: float, high: float) -> tuple[int, int]:
    """Return the indices of the first number from ``low`` on and of the first beyond ``high``."""
    start = min(len(series), series.index(low))
    return start, max(start, min(len(series), series.index(math.nextafter(high, math.inf))))


def measure(curve: PlotCurve, low: float, high: float) -> Stretch | None:
    """Return the statistics of a curve between two steps; None if it has no numbers there."""
    start, stop = bounds(curve.series, low, high)
    if stop - start <= MOST_EXACT:
        least = mean = curve.series.numbers(start, stop).astype(np.float64)
    else:
        rows = curve.series.summary(low, high, 4096)[1].astype(np.float64)
        least, mean = rows[0], rows[2]
    mean, least = mean[np.isfinite(mean)], least[np.isfinite(least)]
    if not mean.size or not least.size:
        return None
    quarter = max(1, mean.size // 4)
    first, last = float(mean[:quarter].mean()), float(mean[-quarter:].mean())
    factor = last / first if first > 0 and last > 0 else math.nan
    return Stretch(curve.name, float(mean.mean()), float(least.min()), factor)


def in_words(curve: PlotCurve) -> str:
    """Return a curve's steps, latest and least number and trend; empty without numbers."""
    count = len(curve.series)
    if not count:
        return ""
    first = float(curve.series.steps(0, 1)[0])
    last = float(curve.series.steps(count - 1, count)[0])
    one = measure(curve, first, last)
    if one is None:
        return ""
    trend = tr("steady")
    if one.factor < 1 - STEADY or one.factor > 1 + STEADY:
        trend = tr("falling") if one.factor < 1 else tr("rising")
    return tr(
        "{name}, steps {first:,} to {last:,}, last {latest}, least {least}, {trend}",
        name=curve.name,
        first=round(first),
        last=round(last),
        latest=formatting.number(float(curve.series.numbers(count - 1, count)[0])),
        least=formatting.number(one.least),
        trend=trend,
    )


def table_parts(curves: Sequence[PlotCurve], low: float, high: float) -> Iterator[str]:
    """Yield CSV, some lines at a time: a row per step, a column per curve, empty where it has none.

    Numbers have the digits that give the recorded float32 again.
    """
    yield _lines([["step", *(curve.name for curve in curves)]])
    ends = [bounds(curve.series, low, high) for curve in curves]
    at, stops = [start for start, _ in ends], [stop for _, stop in ends]
    while any(a < stop for a, stop in zip(at, stops, strict=True)):
        edge = min(
            float(curve.series.steps(last := min(a + CHUNK, stop) - 1, last + 1)[0])
            for curve, a, stop in zip(curves, at, stops, strict=True)
            if a < stop
        )
        upto = [
            max(a, bounds(curve.series, low, min(edge, high))[1])
            for curve, a in zip(curves, at, strict=True)
        ]
        parts = [
            (curve.series.steps(a, b), curve.series.numbers(a, b)) if a < b else ((), ())
            for curve, a, b in zip(curves, at, upto, strict=True)
        ]
        steps = np.unique(np.concatenate([np.asarray(part[0], np.float64) for part in parts]))
        columns = [[""] * steps.size for _ in parts]
        for column, (x, y) in zip(columns, parts, strict=True):
            for place, number in zip(np.searchsorted(steps, x), y, strict=True):
                column[place] = str(number)
        yield _lines(zip([f"{step:.17g}" for step in steps], *columns, strict=True))
        at = upto


def _lines(rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
