"""Copies and sums of broadcasting: cells counted on the pixels, boxes that cover no card."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, QSizeF

from gradscribe.widgets.base.theme import Theme, mix
from gradscribe.widgets.graph.paint.wire import stretch
from gradscribe.widgets.graph.paint.wire.wires import Polyline
from tests.widgets.pixels import near, painted

CASES = [
    # Shape, result, cells of the operand and of the result as drawn.
    ((1,), (4,), 1, 4),
    ((4,), (3, 4), 4, 12),
    ((3, 1), (3, 4), 3, 12),
    ((), (2, 3), 1, 6),
]


def cells(broadcast, backward, share, theme):
    """Return how many cells' worth of pixels have the source's colour, and the copies' colour."""
    size = QSizeF(*stretch.size(broadcast, ""))

    def paint(painter):
        box = QRectF(QPointF(), size)
        stretch.paint(painter, box, broadcast, backward, share, theme, "")

    zoom = 4
    pixels = painted(paint, size * zoom, zoom=zoom)[20:-20, 20:-20]
    color = theme.backward if backward else theme.forward
    each = (stretch.CELL * zoom) ** 2
    found = near(pixels, color, 6), near(pixels, mix(color, theme.surface, 0.42), 6)
    return [count / each for count in found]


@pytest.mark.parametrize(("shape", "onto", "small", "large"), CASES)
@pytest.mark.parametrize("name", ["light", "dark"])
def test_a_value_is_copied_forward_and_its_gradient_summed_back(
    qapp, shape, onto, small, large, name
):
    theme, broadcast = Theme.load(name), (shape, onto)
    begin, end = (cells(broadcast, False, share, theme) for share in (0.0, 1.0))
    assert begin == pytest.approx([small, 0], abs=0.1)
    assert end == pytest.approx([small, large - small], abs=0.1)
    middle = cells(broadcast, False, 0.5, theme)
    assert 0 < middle[1] < large - small
    begin, end = (cells(broadcast, True, share, theme) for share in (0.0, 1.0))
    assert begin == pytest.approx([small, large - small], abs=0.1)
    assert end == pytest.approx([small, 0], abs=0.1)


def test_large_tensors_are_drawn_in_part_and_named_in_full(qapp):
    broadcast = ((1, 5_000), (3_000, 5_000))
    width, height = stretch.size(broadcast, "")
    assert max(width, height) < 80
    assert stretch.words(broadcast, False) == "1 × 5000 → 3000 × 5000"
    assert stretch.words(broadcast, True) == "Σ 3000 × 5000 → 1 × 5000"


def test_further_axes_are_a_stack(qapp):
    flat, deep = stretch.size(((4,), (3, 4)), ""), stretch.size(((3, 4), (5, 3, 4)), "")
    assert deep[0] > flat[0]
    assert deep[1] > flat[1]


def test_its_box_covers_no_card_where_there_is_room():
    track = Polyline(np.array([(0.0, 0.0), (0.0, 100.0)]))
    right = QRectF(5, 0, 200, 100)
    view = QRectF(-300, -100, 700, 400)
    box = stretch.place(track, (60.0, 40.0), [right], view)
    assert not box.intersects(right)
    assert view.contains(box)
    # Out of view is worse than on a card.
    narrow = QRectF(-10, -10, 120, 120)
    assert narrow.contains(stretch.place(track, (60.0, 40.0), [right], narrow))
