"""The ground: a picture out of date loses its colours and nothing else."""

import random

import pytest
from PySide6.QtGui import QImage, QPixmap, qGray

from gradscribe.widgets.graph.paint.background import to_grey


@pytest.fixture
def colored(qapp):
    """More pixels than are greyed in one go, in rows of an odd length."""
    dice = random.Random(0)
    image = QImage(331, 223, QImage.Format.Format_RGB32)
    for x in range(image.width()):
        for y in range(image.height()):
            image.setPixel(x, y, 0xFF000000 | dice.getrandbits(24))
    return image


def test_every_pixel_is_as_light_as_its_colour(colored):
    grey = to_grey(QPixmap.fromImage(colored)).toImage()
    assert grey.size() == colored.size()
    for x in range(colored.width()):
        for y in range(colored.height()):
            seen = grey.pixelColor(x, y)
            assert seen.red() == seen.green() == seen.blue() == qGray(colored.pixel(x, y))


def test_the_colours_of_the_original_stay_and_so_does_its_density(colored):
    before = QPixmap.fromImage(colored)
    before.setDevicePixelRatio(2.0)
    grey = to_grey(before)
    assert grey.devicePixelRatio() == 2.0
    assert not grey.hasAlphaChannel()
    assert before.toImage() == colored
