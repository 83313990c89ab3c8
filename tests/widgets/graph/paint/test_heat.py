import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtGui import QColor

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.widgets.graph.paint import heat
from tests.widgets.colour_vision import EYES, distance


def snapshot(numbers, store="<f4"):
    array = np.asarray(numbers, dtype=store)
    return Snapshot(array.shape, "float32", store, array.tobytes())


def end(dark, at):
    return QColor(*(int(band) for band in heat.table(dark)[at]))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", EYES)
def test_plus_and_minus_differ_for_every_kind_of_eye(dark, eye):
    assert distance(end(dark, 0), end(dark, -1), eye) > 25


@pytest.mark.parametrize("dark", [False, True])
def test_the_map_is_neutral_in_the_middle_and_even_along_its_arms(dark):
    middle = heat.table(dark)[heat.LEVELS // 2]
    assert int(middle.max()) - int(middle.min()) <= 3
    at = [end(dark, n) for n in range(0, heat.LEVELS, 16)]
    steps = [distance(a, b) for a, b in pairwise(at)]
    assert np.std(steps) / np.mean(steps) < 0.45


def test_zero_is_the_colour_of_the_card():
    assert heat.color(0, 8, dark=False).lightness() > 235
    assert heat.color(0, 8, dark=True).lightness() < 60


def test_negative_is_orange_and_positive_blue_and_more_is_stronger():
    minus, plus = heat.color(-8, 8, False), heat.color(8, 8, False)
    assert minus.red() > minus.blue()
    assert plus.blue() > plus.red()
    assert heat.color(4, 8, False).lightness() > plus.lightness()


@pytest.mark.parametrize("x", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_has_the_colour_of_zero(x):
    assert heat.color(x, 8, False) == heat.color(0, 8, False)


def test_numbers_past_the_scale_have_the_last_colour():
    assert heat.color(99, 8, False) == heat.color(8, 8, False)
    assert heat.color(1, 0, False) == heat.color(0, 8, False)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("scale", [0.0, 1e-30, 0.37, 2.0, 1e300])
def test_many_numbers_have_the_colours_that_each_has_alone(dark, scale):
    numbers = np.append(np.linspace(-3, 3, 4001), [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324])
    alone = [heat.color(float(x), scale, dark) for x in numbers]
    assert heat.colors(numbers, scale, dark) == alone


def test_a_colour_that_was_given_out_can_be_changed_alone():
    heat.color(1, 1, False).setAlphaF(0.5)
    assert heat.color(1, 1, False).alphaF() == 1


def test_the_scale_leaves_out_half_a_percent_of_outliers():
    grid = np.ones((40, 50))
    grid[0, 0] = 1e9
    assert heat.scale_of(grid) == 1
    assert heat.scale_of(np.full((2, 2), np.nan)) == 0


def test_a_vector_is_one_row_and_more_dimensions_are_stacked():
    assert heat.grid_of(snapshot([1, 2, 3])).shape == (1, 3)
    assert heat.grid_of(snapshot(np.zeros((4, 5, 6)))).shape == (20, 6)
    assert heat.grid_of(snapshot(7)).shape == (1, 1)
    assert heat.grid_of(snapshot(np.zeros((0, 3)))) is None


def test_complex_numbers_are_shown_by_their_size_and_booleans_as_one():
    assert heat.grid_of(snapshot([3 + 4j], "<c8")).tolist() == [[5]]
    assert heat.grid_of(snapshot([True, False], "|b1")).tolist() == [[1, 0]]


def test_a_tensor_that_did_not_travel_is_shown_by_its_thumbnail():
    thumb = np.arange(6, dtype="<f4").reshape(2, 3)
    big = Snapshot((200, 300), "float32", thumb=thumb.tobytes(), thumb_shape=(2, 3))
    assert heat.grid_of(big).tolist() == thumb.tolist()
    assert heat.grid_of(Snapshot((200, 300), "float32")) is None


def test_thinning_keeps_within_the_bounds_and_small_grids_whole():
    assert heat.thin(np.zeros((100, 7)), 40, 40).shape == (34, 7)
    assert heat.thin(np.zeros((3, 4)), 40, 40).shape == (3, 4)


def test_the_image_has_a_pixel_per_number_and_holes_where_none_is():
    grid = np.array([[-1.0, 0.0, 1.0], [np.nan, np.inf, 0.5]])
    image = heat.image(grid, dark=False)
    assert (image.width(), image.height()) == (3, 2)
    assert image.pixelColor(0, 0) == heat.color(-1, 1, False)
    assert image.pixelColor(0, 1).alpha() == image.pixelColor(1, 1).alpha() == 0
    assert image.pixelColor(2, 1).alpha() == 255


def test_an_image_of_nothing_but_zeros_or_nan_is_made_without_a_warning():
    heat.image(np.zeros((2, 2)), False)
    heat.image(np.full((2, 2), np.nan), True)
    heat.image(np.array([[1e308, -1e308]]), True)


@pytest.mark.parametrize("dark", [False, True])
def test_shades_of_many_numbers_are_few_and_near_to_their_own(dark):
    numbers = np.random.default_rng(0).standard_normal(5_000)
    found, which = heat.indexed_colors(numbers, dark)
    assert len(found) <= heat.LEVELS // heat.SHADE_STEP + 2
    scale = np.abs(numbers).max()
    for number, shade in zip(numbers[:200].tolist(), which[:200].tolist(), strict=True):
        own = heat.color(number, scale, dark)
        assert distance(found[shade], own) < 4


def test_shades_keep_the_ends_and_zero_and_what_is_no_number():
    ends = np.array([-2.0, 0.0, 2.0, np.nan, np.inf])
    found, which = heat.indexed_colors(ends, dark=False)
    table = heat.table(False)
    wanted = [table[0], table[heat.LEVELS // 2], table[-1]]
    for at, color in zip(which[:3].tolist(), wanted, strict=True):
        shade = found[at]
        assert distance(shade, QColor(*(int(band) for band in color))) < 4
    assert which[3] == which[4] == which[1]
    assert heat.indexed_colors(np.zeros(3), dark=True)[1].tolist() == [0, 0, 0]
    assert heat.indexed_colors(np.zeros(0), dark=True)[0] == []


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 200, 201, 4097])
def test_a_quantile_is_the_one_of_numpy_to_the_bit(count):
    dice = np.random.default_rng(count)
    for share in (0.0, 0.25, 0.5, 0.995, 1.0):
        numbers = dice.normal(size=count) * 10.0 ** dice.integers(-30, 30)
        assert heat.quantile(numbers, share) == float(np.quantile(numbers, share))


def test_a_scale_boxes_and_plots_are_found_without_the_masked_arrays_of_numpy():
    # They take as long to import as the first picture to paint.
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import sys; import numpy as np;"
                "from gradscribe.widgets.graph.paint import heat, spatial_index;"
                "heat.scale_of(np.ones((2, 3))); spatial_index.BoxIndex(np.ones((3, 4)));"
                "from gradscribe.widgets.plots.drawing import shading;"
                "from gradscribe.widgets.plots.views import loss_surface as surface;"
                "from gradscribe.widgets.base.theme import Theme;"
                "shading.shading_of(np.array([1.0, 2.0, 5.0]));"
                "surface.contour_image(np.ones((4, 4)), Theme.load('light'));"
                "print('numpy.ma' in sys.modules)"
            ),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


def test_a_nan_that_signals_is_a_nan_like_any_other():
    bits = np.array([[0x7F800001, 0x3F800000]], np.uint32)
    grid = heat.grid_of(Snapshot((1, 2), "float32", "<f4", bits.tobytes()))
    assert np.isnan(grid[0, 0])
    assert grid[0, 1] == 1.0


def test_of_complex_numbers_the_sizes_are_shown_however_great():
    made = np.array([[3 + 4j, 3e38 + 3e38j]], np.complex64)
    grid = heat.grid_of(Snapshot((1, 2), "complex64", "<c8", made.tobytes()))
    assert grid[0, 0] == 5.0
    assert grid[0, 1] >= 3e38
