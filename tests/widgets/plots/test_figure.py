"""Figures are drawn on any ground, whatever a program plotted."""

import math

import pytest
from PySide6.QtGui import QColor

from gradscribe.engine.protocol.figures import AxesData, Figure, Trace
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.figure import describe_figure, figure_image, trace_color

X = (0.0, 1.0, 2.0)
KINDS = (
    Trace("line", X, (1, 3, 2), "a", "red", marked=True),
    Trace("points", X, (1, math.nan, 2), "b"),
    Trace("bars", X, (1, 3, 2), width=0.8),
    Trace("area", X, (1, 3, 2), base=(0, 0, 0)),
    Trace("level", (), (2,), style="dashed"),
    Trace("upright", (1,), ()),
)


def inked(figure: Figure, theme: Theme) -> int:
    """Return how many points along some lines differ from the ground."""
    image = figure_image(figure, theme, 1.0)
    across = [(x, 150) for x in range(70, image.width() - 14)]
    down = [(x, y) for x in range(70, image.width() - 14, 7) for y in range(20, 320)]
    return sum(image.pixelColor(x, y) != theme.panel for x, y in across + down)


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("trace", KINDS, ids=lambda trace: trace.kind)
def test_every_kind_leaves_ink(qapp, trace, name):
    theme = Theme.load(name)
    empty = inked(Figure((AxesData(y_range=(0.5, 3.5), x_range=(-1, 3)),)), theme)
    drawn = inked(Figure((AxesData(traces=(trace,), y_range=(0.5, 3.5), x_range=(-1, 3)),)), theme)
    assert drawn > empty


@pytest.mark.parametrize(
    "plotted",
    [
        AxesData(),
        AxesData(traces=(Trace("line"),)),
        AxesData(traces=(Trace("line", (math.inf, 1), (math.nan, 1e308)),)),
        AxesData(traces=(Trace("line", (1, 2), (-1, 0)),), y_log=True, legend=True),
        AxesData(traces=(Trace("bars", (1,), (2,)),), y_range=(5, 5), x_range=(3, 1)),
        AxesData(image=((math.nan, 1.0), (2.0, 3.0)), title="t", x_label="x", y_label="y"),
        AxesData(traces=(Trace("line", (1, 2, 3), (1,)),)),
    ],
)
def test_nothing_that_can_be_plotted_breaks_the_drawing(qapp, plotted):
    assert not figure_image(Figure((plotted,) * 3, 2, "title"), Theme.load("light"), 1.0).isNull()


def test_a_colour_that_cannot_be_seen_becomes_the_ink(qapp):
    dark, light = Theme.load("dark"), Theme.load("light")
    assert trace_color(Trace("line", color="black"), 0, dark) == dark.ink
    assert trace_color(Trace("line", color="black"), 0, light) == QColor("black")
    assert trace_color(Trace("line", color="no such"), 0, light).isValid()


def test_a_figure_is_told_in_words():
    words = describe_figure(Figure((AxesData("Loss", traces=(KINDS[0],)),)))
    assert words == "Loss: a with 3 points"
