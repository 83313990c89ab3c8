"""Redraw time of a loss curve of 10 million steps, for `make bench`: linear and logarithmic.

CPU milliseconds of the main thread, median of `ROUNDS`, 760 x 330 pixels, in memory: all that a
redraw takes once the run has grown, from the numbers to the picture in the window.
"""

import os
import statistics
import sys
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtWidgets import QApplication

from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.plots.plot import Plot
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import CurvePlot, PlotCurve

STEPS, GROWTH, ROUNDS = 10_000_000, 256, 25
SIZE = (760, 330)


def made(kind: type[CurvePlot], log: bool) -> CurvePlot:
    """Return a shown plot of a noisy loss that falls."""
    steps = np.arange(STEPS)
    noise = np.random.default_rng(0).lognormal(0, 0.4, STEPS)
    series = StepSeries()
    series.extend(steps, np.exp(-steps / 2e6) * noise + 1e-3)
    plot = kind("Loss", "caption", log)
    plot.set_curves([PlotCurve("batch", series, plot.theme.forward, shade=True)])
    plot.set_smoothing(6)
    plot.resize(*SIZE)
    plot.show()
    return plot


def redraw_ms(plot: CurvePlot) -> float:
    """Return the median time of a redraw after the curve has grown (ms)."""
    series, found = plot.curves[0].series, []
    for turn in range(ROUNDS + 3):
        first = int(series.last) + 1
        series.extend(np.arange(first, first + GROWTH), np.full(GROWTH, 0.01))
        begun = time.thread_time()
        plot.refresh()
        _paint(plot)
        if turn >= 3:
            found.append(1e3 * (time.thread_time() - begun))
    return statistics.median(found)


def _paint(plot: Plot) -> None:
    target = getattr(plot.canvas, "viewport", lambda: plot.canvas)()
    target.repaint()


def main() -> None:
    """Measure and print."""
    app = QApplication.instance() or QApplication([])
    for log in (False, True):
        for kind in (CurvePlot, CurveChart):
            plot = made(kind, log)
            app.processEvents()
            word = "log" if log else "linear"
            sys.stdout.write(f"{kind.__name__}, {word}: {redraw_ms(plot):.1f} ms\n")
            plot.close()


if __name__ == "__main__":
    main()
