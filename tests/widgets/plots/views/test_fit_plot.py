import numpy as np
import pytest

from gradscribe.widgets.plots.views.fit_plot import FitPlot
from tests.widgets.pixels import near

X = np.array([0.0, 1.0, 2.0])


@pytest.fixture
def plot(shown):
    made = shown(FitPlot(), 360, 260)
    made.show_points(X, np.array([0.0, 3.0, 4.0]), np.array([False, False, True]))
    return made


def test_residuals_are_target_minus_fit(plot):
    plot.show_curve(np.array([0.0, 2.0]), np.array([0.0, 4.0]))
    assert plot.residual_values().tolist() == [0.0, 1.0, 0.0]


def test_beyond_the_curve_there_is_no_residual(plot):
    plot.show_curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert np.isnan(plot.residual_values()[2])


def test_curve_and_points_are_drawn(plot, look):
    assert near(look(plot), plot.theme.forward) == 0
    plot.show_curve(np.array([0.0, 2.0]), np.array([0.0, 4.0]))
    pixels = look(plot)
    assert near(pixels, plot.theme.forward) > 100
    assert near(pixels, plot.theme.data) > 30


def test_residuals_take_the_place_of_the_data(plot, look):
    plot.show_curve(np.array([0.0, 2.0]), np.array([0.0, 4.0]))
    before = look(plot)
    plot.residuals.click()
    assert (look(plot) != before).any()


def test_a_wild_model_does_not_squeeze_the_data(plot, look):
    plot.show_curve(np.array([0.0, 2.0]), np.array([-1e30, 1e30]))
    look(plot)
    assert plot.drawn_axes.y.high < 10
    plot.show_curve(np.array([0.0, 2.0]), np.array([np.nan, np.inf]))
    look(plot)


def test_points_are_drawn_and_moved_with_the_mouse(plot, look, mouse):
    plot.editable = True
    look(plot)
    done = []
    plot.drawn.connect(lambda x, y, _k: done.append((round(x, 1), round(y, 1))))
    plot.moved.connect(lambda i, *_at: done.append(i))
    plot.removed.connect(lambda i: done.append(-i))
    across, up, area = plot.drawn_axes.x, plot.drawn_axes.y, plot.drawn_axes.area
    x = area.left() + across.number_share(0.5) * area.width()
    y = area.bottom() - up.number_share(2.0) * area.height()
    mouse(plot).press(x, y)
    x = area.left() + across.number_share(1.0) * area.width()
    y = area.bottom() - up.number_share(3.0) * area.height()
    mouse(plot).press(x, y)
    mouse(plot).move(x + 30, y)
    assert done == [(0.5, 2.0), 1]


def test_the_point_under_the_mouse_is_marked(plot, look, mouse):
    plot.show_curve(np.array([0.0, 2.0]), np.array([0.0, 4.0]))
    look(plot)
    across, up, area = plot.drawn_axes.x, plot.drawn_axes.y, plot.drawn_axes.area
    x = area.left() + across.number_share(1.0) * area.width()
    y = area.bottom() - up.number_share(3.0) * area.height()
    mouse(plot).move(x, y - 7)
    marked = look(plot)[round(y) - 3 : round(y) + 4, round(x) - 3 : round(x) + 4]
    mouse(plot).move(x, y - 12)
    beside = look(plot)[round(y) - 3 : round(y) + 4, round(x) - 3 : round(x) + 4]
    assert (marked != beside).any()


def test_where_no_point_stands_none_is_under_the_mouse(plot, look, mouse):
    plot.show_points(X, np.full(3, np.nan))
    look(plot)
    mouse(plot).move(*plot.drawn_axes.area.center().toTuple())
    look(plot)


@pytest.mark.checklist(51)
def test_the_true_function_is_drawn_dashed_next_to_the_fit(plot, look):
    """Row 51."""
    plot.show_curve(np.array([0.0, 2.0]), np.array([0.0, 4.0]))
    plot.show_true(np.array([0.0, 2.0]), np.array([0.0, 4.0]))
    same = look(plot)
    plot.show_true(np.array([0.0, 1.0, 2.0]), np.array([4.0, 2.0, 0.0]))
    assert "true" in plot.caption.said()
    assert near(look(plot), plot.theme.ink) > near(same, plot.theme.ink) + 50
    plot.residuals.click()
    look(plot)
    plot.show_true(np.empty(0), np.empty(0))
    assert plot.caption.said() == ""
