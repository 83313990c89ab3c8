"""The names of curves below a plot: all of them, line by line, or none."""

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from gradscribe.widgets.base.theme import Theme, mono_font
from gradscribe.widgets.plots.drawing.colors import depth_color
from gradscribe.widgets.plots.drawing.curve_legend import (
    APART,
    GAP,
    SIZE,
    STROKE,
    draw_legend,
    wrap_entries,
)
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.curve_plot import CurvePlot, PlotCurve
from tests.widgets.pixels import near, painted

RED = QColor("#FF0000")


def letters(qapp):
    return QFontMetricsF(mono_font(SIZE))


def test_a_line_has_as_many_names_as_fit_beside_each_other(qapp):
    entries = [(f"{k}.weight", RED, ()) for k in range(5)]
    one = STROKE + GAP + letters(qapp).horizontalAdvance("0.weight")
    lines = wrap_entries(entries, 2 * one + APART, letters(qapp))
    assert [[name for name, _, _ in line] for line in lines] == [
        ["0.weight", "1.weight"],
        ["2.weight", "3.weight"],
        ["4.weight"],
    ]


def key(count, height):
    image = QImage(300, height, QImage.Format.Format_RGB32)
    area = QRectF(0, 0, 300, height)
    painter = QPainter(image)
    entries = [(f"{k}.weight", RED, ()) for k in range(count)]
    left = draw_legend(painter, area, entries, Theme.load("light"))
    painter.end()
    return area.height() - left.height()


def test_it_takes_its_room_below_the_plot_or_none(qapp):
    line = letters(qapp).height() + 2
    assert abs(key(2, 200) - line) < 4
    assert key(40, 200) == 0  # A key that names some of them would mislead.
    assert key(2, 30) == 0


def test_every_curve_of_a_keyed_plot_is_shown_twice_as_a_line_and_in_the_key(shown, look):
    series = StepSeries()
    series.extend(np.arange(10), np.linspace(1, 2, 10))
    plot = shown(CurvePlot("Gradients", log=True), 320, 300)
    plot.set_curves([PlotCurve("0.weight", series, RED)])
    bare = near(look(plot)[-40:], RED)
    plot.is_keyed = True
    plot.refresh()
    assert bare == 0
    assert near(look(plot)[-40:], RED) >= STROKE


def test_parameters_beside_each_other_differ_in_hue_and_none_comes_twice():
    for count in (2, 6, 7):
        hues = [depth_color(place, count, True).hsvHueF() for place in range(count)]
        apart = [min(abs(a - b), 1 - abs(a - b)) for i, a in enumerate(hues) for b in hues[:i]]
        assert min(apart) > 0.06


def test_the_stroke_of_each_name_is_as_thick_as_that_of_the_first(qapp):
    entries = [(f"{k}.weight", RED, (4.0, 2.0) if k else ()) for k in range(3)]
    theme = Theme.load("light")

    def paint(painter):
        draw_legend(painter, QRectF(0, 0, 400, 60), entries, theme)

    pixels = painted(paint, (400, 60), "#FFFFFF")
    thick = [near(pixels[:, column], RED) for column in range(400)]
    assert max(thick) <= 3
    assert sum(map(bool, thick)) > STROKE
