"""High contrast makes the lines of charts, bars and maps thicker, not only those of the graph."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSize, QSizeF

from gradscribe.playback.tape.loops.step_curves import StepCurve
from gradscribe.playback.tape.loops.steps import RateChange, StepMarks, Steps
from gradscribe.playback.tape.track import Segment
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.curves import CurveChart
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint.minimap import Minimap
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import CurvePlot, PlotCurve
from gradscribe.widgets.training.step_slider import StepSlider
from gradscribe.widgets.transport.scrubber import Scrubber
from gradscribe.widgets.transport.step_canvas import StepCanvas
from tests.widgets.pixels import drawing_of, near, painted
from tests.widgets.scenes import network

SIZE = (500, 120)


def themes():
    """Return a theme with high contrast, and its colours with the usual lines."""
    strong = Theme.load("contrast-light")
    return strong, replace(strong, high_contrast=False)


def strip(theme):
    canvas = StepCanvas()
    canvas.set_theme(theme)
    canvas.set_steps(Steps(tuple(range(300)), 300), StepMarks({}, (RateChange(99, "SGD", 1, 2),)))
    canvas.set_curves([StepCurve("loss", np.arange(300) + 0.5, 1 / np.arange(1.0, 301), True)])
    return canvas, canvas.colors()[0]


def scrubber(theme):
    bar = Scrubber()
    bar.set_theme(theme)
    bar.set_track((Segment("Forward", 0, 10),), 10)
    bar.setValue(0)
    return bar, theme.forward


def step_slider(theme):
    axis = StepSlider()
    axis.set_theme(theme)
    axis.set_steps(100, 400, (50, 90))
    return axis, theme.parameter


def curve_plot(theme):
    plot = CurvePlot("Loss")
    plot.set_theme(theme)
    series = StepSeries()
    series.extend(np.arange(50), np.linspace(1, 0, 50))
    plot.set_curves([PlotCurve("loss", series, theme.forward)])
    plot.position = 20
    return plot, theme.selection


@pytest.mark.parametrize("make", [strip, scrubber, step_slider, curve_plot])
def test_lines_of_bars_and_charts_are_thicker(shown, make):
    inked = []
    for theme in themes():
        widget, color = make(theme)
        shown(widget, *SIZE)
        inked.append(near(painted(lambda p, w=widget: w.render(p, QPoint()), QSize(*SIZE)), color))
    assert inked[0] > inked[1] > 0


def test_the_frame_in_the_minimap_is_thicker(qapp):
    inked = []
    for theme in themes():
        drawing, view = drawing_of(network(), theme), QSizeF(800, 800)
        drawn = painted(
            lambda p, d=drawing, v=view: Minimap().paint(p, d, Camera(3.0), v), (800, 800)
        )
        inked.append(near(drawn, theme.selection))
    assert inked[0] > inked[1] > 0


def test_lines_to_drag_in_a_chart_are_thicker(shown):
    widths = []
    for theme in themes():
        chart = CurveChart("Loss")
        shown(chart, *SIZE)
        chart.set_theme(theme)
        widths.append(
            [chart.marker.pen.widthF(), chart.played.pen.widthF()]
            + [line.pen.widthF() for line in chart.region.lines]
        )
    strong, usual = widths
    assert all(a > b for a, b in zip(strong, usual, strict=True))
