"""Marks are copied from a few painted ones, and look as if each had been painted."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradscribe.widgets.plots.drawing import marks
from gradscribe.widgets.plots.drawing.colors import SHAPES, draw_mark
from gradscribe.widgets.plots.drawing.marks import RIM, Mark, MarkStamps
from gradscribe.widgets.plots.views.fit_plot import FitPlot
from tests.widgets.pixels import near, painted

pytestmark = pytest.mark.usefixtures("qapp")

RED, BLUE = QColor(200, 30, 30), QColor(30, 60, 200)
SIZE = QSizeF(120, 80)
WHITE = QColor(Qt.GlobalColor.white)


def copied(points, looks, which=None, ratio=1.0):
    which = np.zeros(len(points), np.intp) if which is None else np.asarray(which, np.intp)
    made = MarkStamps().layer(SIZE, ratio, np.asarray(points, float), looks, which)
    return painted(lambda painter: painter.drawPixmap(0, 0, made), SIZE * ratio, WHITE, ratio)


def drawn(points, looks, ratio=1.0):
    def paint(painter):
        for x, y in points:
            painter.setPen(QPen(looks[0].rim, RIM))
            painter.setBrush(looks[0].fill)
            draw_mark(painter, looks[0].shape, QPointF(x, y), looks[0].size)

    return painted(paint, SIZE * ratio, WHITE, ratio)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_a_copied_mark_looks_like_a_drawn_one(shape, ratio):
    looks = [Mark(shape, RED, BLUE, 4.2)]
    # In the middle of a phase, where nothing is rounded.
    points = [(20.125, 30.375), (60.625, 50.875), (0.125, 40.125), (119.875, 79.875)]
    if ratio == 2.0:
        points = [(x + 0.0625, y + 0.0625) for x, y in np.floor(points) + 0.25]
    assert np.abs(copied(points, looks, ratio=ratio) - drawn(points, looks, ratio)).max() <= 2


def test_a_mark_anywhere_is_less_than_a_quarter_of_a_pixel_off():
    looks = [Mark("circle", RED, RED, 4.0)]
    for x, y in np.random.default_rng(0).uniform(20, 60, (40, 2)).tolist():
        found = 255.0 - copied([(x, y)], looks)[..., 1]
        rows, columns = np.mgrid[: found.shape[0], : found.shape[1]] + 0.5
        middle = (found * columns).sum() / found.sum(), (found * rows).sum() / found.sum()
        assert np.hypot(middle[0] - x, middle[1] - y) < 0.25


def test_the_later_mark_covers_the_earlier():
    looks = [Mark("circle", RED, RED, 4.0), Mark("square", BLUE, BLUE, 6.0)]
    assert near(copied([(50, 40), (50, 40)], looks, [0, 1]), RED) == 0
    assert near(copied([(50, 40), (50, 40)], looks, [1, 0]), RED) > 20


def test_a_point_that_is_nowhere_has_no_mark_and_a_far_one_none_in_sight():
    looks = [Mark("circle", RED, RED, 4.0)]
    for where in (np.nan, np.inf, -np.inf, 1e300, -1e300):
        assert near(copied([(where, 40), (50, where)], looks), RED) == 0


def test_thousands_of_marks_are_painted_a_few_times_only(monkeypatch):
    painted_ones = []

    def counted(painter, *rest):
        painted_ones.append(rest)
        draw_mark(painter, *rest)

    monkeypatch.setattr(marks, "draw_mark", counted)
    random = np.random.default_rng(0)
    points = random.uniform(0, 80, (4_000, 2))
    for looks, most in ((4, 4 * marks.FINE**2), (60, 60 * marks.COARSE**2)):
        painted_ones.clear()
        many = [Mark("circle", QColor(n, 0, 0), BLUE, 3.0) for n in range(looks)]
        copied(points, many, random.integers(0, looks, 4_000))
        assert 0 < len(painted_ones) <= most


def test_a_fit_to_thousands_of_points_paints_a_few(shown, look, monkeypatch):
    painted_ones = []
    monkeypatch.setattr(marks, "draw_mark", lambda *given: painted_ones.append(given))
    plot = shown(FitPlot(), 400, 300)
    x = np.linspace(0, 1, 4_000)
    plot.show_points(x, x**2, np.arange(4_000) % 5 == 0)
    look(plot)
    assert 0 < len(painted_ones) <= 2 * marks.FINE**2


def test_what_was_painted_for_one_layer_serves_the_next(monkeypatch):
    painted_ones, stamps = [], MarkStamps()

    def counted(painter, *rest):
        painted_ones.append(rest)
        draw_mark(painter, *rest)

    monkeypatch.setattr(marks, "draw_mark", counted)
    where = np.random.default_rng(0).uniform(0, 80, (4_000, 2))
    which = np.zeros(4_000, np.intp)
    looks = [Mark("circle", RED, BLUE, 3.0)]
    stamps.layer(SIZE, 1.0, where, looks, which)
    assert len(painted_ones) == marks.FINE**2
    stamps.layer(SIZE * 2, 1.0, 2 * where, looks, which)
    assert len(painted_ones) == marks.FINE**2
    for other in (Mark("circle", BLUE, BLUE, 3.0), Mark("circle", RED, BLUE, 4.0)):
        painted_ones.clear()
        stamps.layer(SIZE, 1.0, where, [other], which)
        assert len(painted_ones) == marks.FINE**2
    stamps.layer(SIZE, 2.0, where, looks, which)
    assert len(painted_ones) == 2 * marks.FINE**2


def test_painted_marks_that_are_kept_are_bounded():
    stamps = MarkStamps()
    for shade in range(200):
        many = [Mark("circle", QColor(shade, n, 0), BLUE, 3.0) for n in range(10)]
        stamps.layer(SIZE, 1.0, np.full((10, 2), 20.0), many, np.arange(10))
        assert len(stamps._kept) <= marks.MOST_KEPT


def test_all_looks_that_are_new_are_painted_by_one_painter(monkeypatch):
    painters = []

    class Counted(QPainter):
        def __init__(self, *device):
            super().__init__(*device)
            painters.append(device)

    monkeypatch.setattr(marks, "QPainter", Counted)
    stamps, random = MarkStamps(), np.random.default_rng(0)
    points = random.uniform(0, 80, (1_000, 2))
    looks = [
        Mark(shape, QColor.fromHsv(hue, 200, 200), BLUE, 3.2)
        for shape in SHAPES[:2]
        for hue in range(0, 350, 10)
    ]
    stamps.layer(SIZE, 1.0, points, looks, random.integers(0, len(looks), 1_000))
    # One for the marks, one for the layer that they are copied into.
    assert len(painters) == 2


def test_looks_beyond_those_kept_are_painted_all_the_same(monkeypatch):
    monkeypatch.setattr(marks, "MOST_KEPT", 5)
    stamps, green = MarkStamps(), QColor(20, 160, 40)
    looks = [Mark("circle", color, color, 3.0) for color in (RED, BLUE, green)]
    points = np.array([(20.1, 20.1), (50.6, 20.6), (80.4, 60.9)])
    for _ in range(3):
        for which in ([0, 1, 2], [2, 0, 1], [1, 1, 0]):
            layer = stamps.layer(SIZE, 1.0, points, looks, np.array(which, np.intp))
            image = layer.toImage()
            seen = [image.pixelColor(int(x), int(y)).name() for x, y in points]
            assert seen == [looks[one].fill.name() for one in which]
