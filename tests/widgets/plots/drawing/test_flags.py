"""A flag stands at the step after which something was changed, and says what."""

import numpy as np
import pytest
from PySide6.QtGui import QColor

from gradscribe.widgets.plots.drawing import flags
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views import curve_plot
from gradscribe.widgets.plots.views.curve_plot import CurvePlot, PlotCurve
from tests.widgets.pixels import near


@pytest.fixture
def plot(shown):
    made = shown(CurvePlot("Loss"), 420, 260)
    series = StepSeries()
    series.extend(np.arange(101), np.zeros(101))
    made.set_curves([PlotCurve("loss", series, QColor("black"))])
    return made


def column(plot, step):
    area = plot._drawn.area
    return area.left() + step / 100 * area.width()


def test_a_flag_stands_in_the_column_of_its_step(plot, look):
    assert near(look(plot), plot.theme.parameter) == 0
    plot.set_flags([(25, "lr 0.1")])
    seen = look(plot)
    assert near(seen, plot.theme.parameter) > 20
    (found,) = flags.flag_columns(plot._drawn, plot.flags)
    assert found[0] == pytest.approx(column(plot, 25), abs=1)
    left = seen[:, : int(column(plot, 20))]
    assert near(left, plot.theme.parameter) == 0


def test_only_flags_of_steps_in_sight_are_drawn(plot, look):
    plot.set_flags([(25, "lr 0.1"), (75, "batch 8")])
    plot.zoom(50, 100)
    look(plot)
    assert [flag for _, flag in flags.flag_columns(plot._drawn, plot.flags)] == [(75, "batch 8")]


def test_a_flag_of_the_last_step_lies_inside(plot, look):
    plot.set_flags([(100, "lr 0.1")])
    seen = look(plot)
    assert near(seen, plot.theme.parameter) > 20


def test_the_mouse_reads_every_change_of_a_flag(plot, look, mouse, monkeypatch):
    told = []
    monkeypatch.setattr(curve_plot, "draw_bubble", lambda *given: told.append(given[3]))
    plot.set_flags([(25, "lr 0.1"), (25, "batch 8"), (75, "SGD")])
    look(plot)
    mouse(plot).move(column(plot, 25) + 2, plot._drawn.area.center().y())
    look(plot)
    assert told[-1][-2:] == ["after step 25: lr 0.1", "after step 25: batch 8"]
    mouse(plot).move(column(plot, 50), plot._drawn.area.center().y())
    look(plot)
    assert len(told[-1]) == 2
