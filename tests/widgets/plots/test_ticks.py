"""Numbers below a plot: as many as there is room for, and never one over the other."""

from itertools import pairwise

import pytest
from PySide6.QtGui import QFontMetricsF

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.plot import TICK_PX, bottom_ticks

AXES = [
    Axis(0, 800),
    Axis(0, 1),
    Axis(0, 24_504),
    Axis(-6.3, 6.3),
    Axis(1e6 - 200, 1e6),
    Axis(-1e-7, 3e-7),
    Axis(1e-6, 1e3, log=True),
]


@pytest.fixture
def metrics(qapp):
    return QFontMetricsF(Theme.load("light").font(TICK_PX, 500))


def test_a_narrow_plot_of_800_steps_tells_every_200(metrics):
    labels = [label for _, label in bottom_ticks(Axis(0, 800), 330, metrics, whole=True)]
    assert labels == ["0", "200", "400", "600", "800"]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("width", [60, 200, 330, 900, 2000])
def test_labels_have_room_between_them(metrics, axis, width):
    ticks = bottom_ticks(axis, width, metrics)
    if len(ticks) <= 3:
        return  # As few as there can be; `bottom_axis` leaves out what does not fit.
    ends = [
        (axis.number_share(number) * width, metrics.horizontalAdvance(label) / 2)
        for number, label in ticks
    ]
    assert all(a + half < b - other for (a, half), (b, other) in pairwise(ends))


@pytest.mark.parametrize("axis", AXES)
def test_a_wider_plot_tells_no_fewer(metrics, axis):
    counts = [len(bottom_ticks(axis, width, metrics)) for width in (200, 400, 800, 1600)]
    assert counts == sorted(counts)
    assert counts[-1] >= 4


def test_of_steps_only_whole_ones_are_told(metrics):
    ticks = bottom_ticks(Axis(0, 2), 900, metrics, whole=True)
    assert [number for number, _ in ticks] == [0, 1, 2]


@pytest.mark.parametrize(("axis", "labels"), [(Axis(0, 1), "0 1"), (Axis(47, 48), "47 48")])
def test_a_step_is_written_without_decimals(metrics, axis, labels):
    ticks = bottom_ticks(axis, 330, metrics, whole=True)
    assert [label for _, label in ticks] == labels.split()
