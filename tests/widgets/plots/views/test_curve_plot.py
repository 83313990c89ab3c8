import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.plot import Plot
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views import curve_plot
from gradscribe.widgets.plots.views.curve_plot import CurvePlot, PlotCurve
from tests.widgets.pixels import near


def series(numbers):
    made = StepSeries()
    made.extend(np.arange(len(numbers)), numbers)
    return made


@pytest.fixture
def plot(shown):
    return shown(CurvePlot("Loss"), 420, 260)


def curve(plot, numbers, token="forward", **more):
    return PlotCurve("loss", series(numbers), plot.theme.color(token), **more)


def test_a_curve_is_drawn_in_its_color(plot, look):
    assert near(look(plot), plot.theme.forward) == 0
    plot.set_curves([curve(plot, np.linspace(1, 0, 50))])
    assert near(look(plot), plot.theme.forward) > 200


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "numbers",
    [
        [1.0],
        [0.0, 0.0],
        [float("nan")] * 9,
        [float("inf"), -float("inf"), 1.0],
        [-1.0, -2.0],
        [3e38, 1e-45, 0.0],
    ],
)
def test_any_numbers_can_be_drawn(plot, look, log, numbers):
    plot.set_curves([curve(plot, numbers, shade=True)])
    plot.set_smoothing(30)
    plot.set_log(log)
    assert look(plot).shape[0] > 50


def test_the_mouse_reads_the_step_and_the_number(plot, look, mouse):
    plot.set_curves([curve(plot, np.zeros(101))])
    look(plot)
    area = plot._drawn.area
    picked = []
    plot.step_picked.connect(picked.append)
    mouse(plot).move(area.left() + area.width() * 0.25, area.center().y())
    look(plot)
    mouse(plot).press(area.left() + area.width() * 0.25, area.center().y())
    mouse(plot).release(area.left() + area.width() * 0.25, area.center().y())
    assert picked == [25]


def test_leaving_takes_the_readout_away(plot, look, mouse):
    plot.set_curves([curve(plot, np.zeros(101))])
    before = look(plot)
    mouse(plot).move(200, 100)
    assert (look(plot) != before).any()
    mouse(plot).leave()
    assert (look(plot) == before).all()


def test_smoothing_draws_the_numbers_pale_below_the_line(plot, look):
    noise = np.random.default_rng(0).normal(size=400)
    plot.set_curves([curve(plot, noise, shade=True)])
    rough = near(look(plot), plot.theme.forward)
    plot.set_smoothing(30)
    assert near(look(plot), plot.theme.forward) < rough


def test_curves_of_different_lengths_are_smoothed_over_the_same_pixels(plot, look, monkeypatch):
    asked = {}
    plain = curve_plot.exponential_average

    def note(numbers, points):
        asked[len(asked)] = points / len(numbers)
        return plain(numbers, points)

    monkeypatch.setattr(curve_plot, "exponential_average", note)
    long, short = StepSeries(), StepSeries()
    for made, size in ((long, 8000), (short, 2000)):
        made.extend(np.arange(size), np.random.default_rng(0).normal(size=size))
    color = plot.theme.forward
    plot.set_curves(
        [PlotCurve("a", long, color, shade=True), PlotCurve("b", short, color, shade=True)]
    )
    plot.set_smoothing(10)
    look(plot)
    # Of a curve over a quarter of the steps, 10 pixels are four times the share.
    assert asked[1] == pytest.approx(4 * asked[0], rel=0.02)
    wide = plot._drawn.area.width()
    assert asked[0] == pytest.approx(10 / wide, rel=0.02)
    asked.clear()
    plot.zoom(0, 2000)
    look(plot)
    assert asked[0] == pytest.approx(10 / wide, rel=0.02)


def test_of_many_runs_those_on_top_show_how_they_swing(plot, look, monkeypatch):
    swung = []
    monkeypatch.setattr(CurvePlot, "_draw_swing", lambda *given: swung.append(given[2]))
    noise = np.random.default_rng(0).normal(size=400)
    curves = [curve(plot, noise + n, shade=True) for n in range(30)]
    plot.set_curves(curves)
    plot.set_smoothing(30)
    look(plot)
    assert {id(one) for one in swung} == {id(one) for one in curves[-curve_plot.MOST_SWINGS :]}


def test_a_position_is_marked(plot, look):
    plot.set_curves([curve(plot, np.zeros(100))])
    before = near(look(plot), plot.theme.selection)
    plot.position = 50.0
    assert near(look(plot), plot.theme.selection) > before + 50


def test_zooming_shows_only_some_steps(plot, look):
    plot.set_curves([curve(plot, np.arange(1000.0))])
    look(plot)
    whole = plot._drawn.y.high
    plot.zoom(10, 20)
    look(plot)
    assert plot._drawn.y.high < 30
    plot.fit()
    look(plot)
    assert plot._drawn.y.high == whole


def test_a_plot_without_curves_says_so(plot, look):
    assert near(look(plot), plot.theme.ink3, 90) > 20


def test_a_plot_follows_the_theme(plot, look):
    plot.set_theme(Theme.load("dark"))
    assert near(look(plot), plot.theme.panel) > 1000


def test_the_heading_is_told_to_screen_readers(qtbot):
    plot = Plot("Loss")
    qtbot.addWidget(plot)
    plot.set_caption("this batch 0.1976")
    assert plot.accessibleName() == "Loss"
    assert plot.accessibleDescription() == "this batch 0.1976"


def test_a_line_that_swings_wildly_is_drawn_thin(plot, look, monkeypatch):
    widths = []
    monkeypatch.setattr(
        curve_plot, "draw_polyline", lambda painter, _: widths.append(painter.pen().widthF())
    )
    for numbers in (np.ones(300), np.arange(300) % 2):
        plot.set_curves([curve(plot, numbers, width=3.0)])
        look(plot)
    assert widths == [3.0, 1.0]


@pytest.mark.parametrize("wild", [False, True])
def test_a_dashed_line_has_gaps_however_wildly_it_swings(plot, look, wild):
    numbers = np.arange(300) % 2 if wild else np.ones(300)

    def columns(dashes):
        plot.set_curves([curve(plot, numbers, dashes=dashes)])
        color = plot.theme.forward
        away = look(plot).astype(int) - (color.red(), color.green(), color.blue())
        return int((np.abs(away).max(axis=2) < 90).any(axis=0).sum())

    assert 0.3 * columns(()) < columns((5, 3)) < 0.9 * columns(())


def test_what_stands_under_the_mouse_lies_inside_the_plot(plot, look, mouse, monkeypatch):
    long = "moons · mlp · adam · no zero grad · a name that is as long as it can be"
    made = PlotCurve(long, series(np.ones(101)), plot.theme.forward)
    plot.set_curves([made])
    look(plot)
    frame, drawn = plot._drawn.area, []
    bubble = curve_plot.draw_bubble

    class Painter:
        """Notes the boxes; everything else goes to the painter."""

        def __init__(self, painter):
            self._painter = painter

        def drawRoundedRect(self, box, *more):
            drawn.append(box)
            self._painter.drawRoundedRect(box, *more)

        def __getattr__(self, name):
            return getattr(self._painter, name)

    monkeypatch.setattr(
        curve_plot, "draw_bubble", lambda painter, *rest: bubble(Painter(painter), *rest)
    )
    for share in (0.02, 0.4, 0.5, 0.6, 0.98):
        mouse(plot).move(frame.left() + frame.width() * share, frame.center().y())
        look(plot)
    assert len(drawn) >= 5
    for box in drawn:
        assert frame.left() <= box.left()
        assert box.right() <= frame.right()


def test_labels_of_curves_that_end_at_the_same_place_do_not_overlap():
    frame = QRectF(0, 0, 300, 120)
    taken = []
    for y in (60, 60, 61, 58, 4, 118):
        place = curve_plot._free_place(QRectF(200, 0, 80, 14), y, frame, taken)
        assert frame.contains(place)
        assert not any(place.intersects(other) for other in taken)
        taken.append(place)


def test_a_label_is_written_at_the_end_of_its_curve(plot, look):
    numbers, color = np.full(50, 0.5), plot.theme.backward
    plot.set_curves([PlotCurve("loss", series(numbers), color), curve(plot, np.arange(50) / 50)])
    before = near(look(plot), color)
    labelled = PlotCurve("loss", series(numbers), color, label="right run")
    plot.set_curves([labelled, curve(plot, np.arange(50) / 50)])
    assert near(look(plot), color) > before + 40


def test_a_curve_of_one_step_is_a_spot_that_one_sees(shown, look):
    plot = shown(CurvePlot("Loss"), 300, 200)
    series = StepSeries()
    series.extend([0], [0.7])
    plot.set_curves([PlotCurve("loss", series, QColor("#FF0000"))])
    assert near(look(plot), QColor("#FF0000"), 40) > 20
