"""The key says which loss each colour of the surface is."""

import math

import numpy as np
import pytest
from PySide6.QtGui import QColor

from gradscribe.widgets.plots.views import loss_surface
from gradscribe.widgets.plots.views.loss_surface import LossSurface
from tests.widgets.pixels import near

BOX = (-1.0, -1.0, 1.0, 1.0)
RAMP = np.linspace(2.0, 12.0, 101)[None].repeat(101, 0)


@pytest.fixture
def surface(shown):
    made = shown(LossSurface(), 420, 300)
    made.show_grid(BOX, RAMP, ("a", "b"))
    return made


@pytest.mark.parametrize("log", [True, False])
def test_a_loss_at_a_share_has_the_color_of_that_share(surface, log):
    image = loss_surface.contour_image(RAMP, surface.theme, log=log)
    for share in (0.25, 0.5, 0.75):
        # Between two edges of the bands.
        share = (math.floor(share * loss_surface.BANDS) + 0.5) / loss_surface.BANDS
        (loss,) = loss_surface.losses_at(RAMP, np.array([share]), log)
        column = round((loss - 2.0) / 10.0 * (image.width() - 1))
        seen = image.pixelColor(column, image.height() // 2)
        band = math.floor(share * loss_surface.BANDS) / loss_surface.BANDS
        wanted = QColor(*loss_surface.band_color(band, surface.theme))
        assert abs(seen.lightness() - wanted.lightness()) <= 2


def test_the_least_loss_is_at_the_bottom_and_the_top_is_for_higher_ones():
    labels = loss_surface.key_labels(RAMP, log=False)
    assert [share for share, _ in labels] == [0, 1 / 3, 2 / 3, 1]
    # The highest fiftieth of the losses has the last colour: it begins at 11.8.
    assert [text for _, text in labels] == ["2.00", "5.27", "8.53", "≥ 11.80"]


@pytest.mark.parametrize("reach", [1.0, 1e-2, 1e-4, 1e-5])
@pytest.mark.parametrize("log", [True, False])
def test_losses_that_are_close_are_told_apart_in_the_key(reach, log):
    grid = 0.02 + reach * np.linspace(0, 1, 400).reshape(20, 20)
    texts = [text.removeprefix("≥ ") for _, text in loss_surface.key_labels(grid, log)]
    losses = loss_surface.losses_at(grid, np.asarray(loss_surface.KEY_SHARES), log)
    assert len(set(texts)) == 4
    apart = min(np.diff(losses))
    for text, loss in zip(texts, losses, strict=True):
        assert abs(float(text) - loss) < apart, "the text is nearer to its loss than to others"


def test_a_flat_surface_has_its_loss_with_two_decimals():
    texts = {text.removeprefix("≥ ") for _, text in loss_surface.key_labels(np.full((5, 5), 0.25))}
    assert texts == {"0.25"}


def test_the_key_is_drawn_beside_the_surface_where_there_is_space(surface, look):
    seen = look(surface)
    frame = surface.drawn_axes.area
    beside = seen[:, int(frame.right()) + 4 :]
    strongest = QColor(*loss_surface.band_color(0.0, surface.theme))
    assert near(beside, strongest) > 40
    surface.resize(200, 300)
    look(surface)
    assert surface.drawn_axes.area.right() > surface.canvas.width() - 24


@pytest.mark.parametrize("numbers", [np.nan, np.inf, 3e38, 0.0, -1.0])
def test_a_surface_of_strange_numbers_has_a_key_or_none(surface, look, numbers):
    surface.show_grid(BOX, np.full((5, 5), numbers), ("a", "b"))
    assert look(surface).shape[0] > 50


def test_the_next_step_is_an_arrow_from_the_end_of_the_path(surface):
    surface.show_grid((0.0, 0.0, 10.0, 10.0), np.arange(25.0).reshape(5, 5) + 1, ("a", "b"))
    surface.show_path(np.array([[1.0, 1.0], [5.0, 5.0]]), [0, 1])
    surface.grab()
    assert surface.step_arrow() is None
    surface.show_gradient_step((-4.0, 0.0))
    surface.grab()
    line, times = surface.step_arrow()
    ends = surface.drawn_axes.points(np.array([5.0, 1.0]), np.array([5.0, 5.0]))
    assert times == 1.0
    assert [line.x1(), line.y1(), line.x2(), line.y2()] == pytest.approx(ends.ravel().tolist())
    surface.show_gradient_step((-1e-4, 0.0))
    line, times = surface.step_arrow()
    assert line.length() == pytest.approx(loss_surface.LEAST_ARROW)
    assert times > 100
    for nothing in ((0.0, 0.0), (float("nan"), 1.0), None):
        surface.show_gradient_step(nothing)
        surface.grab()
        assert surface.step_arrow() is None
