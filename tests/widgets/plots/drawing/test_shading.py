"""The colours of a regression's numbers: where they are pale, and what the legend says."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.shading import (
    Shading,
    draw_scale,
    legend_number,
    shading_legend,
    shading_of,
)


@pytest.mark.parametrize("numbers", [[-1.0, 0.2, 1.0], [-0.2, 1.0], [5.0, -3.0, np.nan, np.inf]])
def test_numbers_on_both_sides_of_zero_are_pale_at_zero(numbers):
    found = shading_of(np.array(numbers))
    known = [abs(one) for one in numbers if np.isfinite(one)]
    assert found == Shading(0.0, max(known))


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("least", [-100.0, 90_000.0, 499_000.0])
def test_numbers_on_one_side_of_zero_have_both_colours(sign, least):
    numbers = sign * np.linspace(least, 510_000.0, 120)
    found = shading_of(numbers)
    share = (numbers - found.middle) / found.reach
    assert share.max() > 0.9
    assert share.min() < -0.9
    assert np.abs(share).max() <= 1.02
    assert abs(found.middle - numbers.mean()) <= 0.1 * found.reach


def test_one_price_far_off_does_not_take_the_colours_from_the_others():
    numbers = np.append(np.linspace(1e5, 5e5, 400), 4e7)
    share = (numbers - shading_of(numbers).middle) / shading_of(numbers).reach
    assert share[:400].max() > 0.9
    assert share[:400].min() < -0.9


@pytest.mark.parametrize(
    ("numbers", "shading"),
    [
        ([], Shading()),
        ([np.nan], Shading()),
        ([0.0, 0.0], Shading()),
        ([7.0, 7.0], Shading(7.0, 1.0)),
    ],
)
def test_numbers_without_a_range_have_a_shading_too(numbers, shading):
    assert shading_of(np.array(numbers)) == shading


def test_of_numbers_that_are_nearly_all_the_same_the_others_tell():
    numbers = np.array([5.0] * 1000 + [6.0])
    found = shading_of(numbers)
    assert (found.middle, found.reach) == (5.5, 0.5)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (284_317.0, "284,000"),
        (-1234.5, "\N{MINUS SIGN}1,230"),
        (0.0, "0"),
        (0.5, "0.500"),
        (12.34, "12.3"),
        (3e12, "3.00e+12"),
    ],
)
def test_a_legend_has_three_digits_of_a_number(number, words):
    assert legend_number(number) == words


def test_the_legend_names_the_middle_and_what_is_measured():
    assert shading_legend(Shading(0.0, 3.0), "price") == "blue: above zero, orange: below"
    assert shading_legend(Shading(3e5, 2e5)) == "blue: above 300,000, orange: below"
    long = shading_legend(Shading(3e5, 2e5), "the_price_of_the_house_in_euros_as_advertised")
    assert long == "blue: the_price_of…_advertised above 300,000, orange: below"


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_scale_goes_from_orange_to_blue_and_needs_its_room(qapp, name):
    theme = Theme.load(name)

    def drawn(room):
        image = QImage(300, 26, QImage.Format.Format_RGB32)
        image.fill(theme.panel)
        painter = QPainter(image)
        painter.setFont(theme.font(12))
        line = QRectF(0, 0, 300, 26)
        wide = draw_scale(painter, line, Shading(3e5, 2e5), room, theme)
        painter.end()
        return wide, image

    wide, image = drawn(300)
    seen = {image.pixelColor(x, 13).rgb() for x in range(round(wide))}
    near = [
        min(
            max(abs(one.red() - c[0]), abs(one.green() - c[1]), abs(one.blue() - c[2]))
            for c in [(x >> 16 & 255, x >> 8 & 255, x & 255) for x in seen]
        )
        for one in (heat.color(share, 1.0, theme.dark) for share in (-0.9, 0.9))
    ]
    assert max(near) < 24
    assert 72 < wide < 300
    narrow, nothing = drawn(wide - 1)
    assert narrow == 0
    assert {nothing.pixelColor(x, 13).rgb() for x in range(300)} == {theme.panel.rgb()}
