"""Boxes found by where they are are those that a look at every one of them finds."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from gradscribe.widgets.graph.paint import spatial_index
from gradscribe.widgets.graph.paint.spatial_index import BoxIndex


def some(count, seed=0):
    """Boxes all over, a few of them very tall or very wide, some without any extent."""
    dice = np.random.default_rng(seed)
    corner = dice.uniform(-500, 500, (count, 2))
    size = dice.uniform(0, 40, (count, 2))
    size[::50, 1] *= 30
    size[7::50, 0] *= 30
    size[3::40] = 0
    return np.concatenate([corner, corner + size], axis=1)


def by_hand(boxes, area, reach):
    found = []
    for n, (left, top, right, bottom) in enumerate(boxes.tolist()):
        beside = left > area.right() + reach or right < area.left() - reach
        above = top > area.bottom() + reach or bottom < area.top() - reach
        if not beside and not above:
            found.append(n)
    return found


@pytest.mark.parametrize("count", [0, 1, 40, 3 * spatial_index.SCAN_LIMIT])
def test_it_finds_what_touches_an_area_and_nothing_else(count):
    boxes, dice = some(count), np.random.default_rng(1)
    made = BoxIndex(boxes)
    for _ in range(60):
        x, y, width, height = dice.uniform(-600, 600, 4)
        area = QRectF(x, y, abs(width) / 3, abs(height) / 3)
        reach = float(dice.choice([0.0, 14.0, 160.0]))
        assert made.touching(area, reach).tolist() == by_hand(boxes, area, reach)


def test_what_touches_any_of_some_areas_is_found_once():
    boxes = some(2 * spatial_index.SCAN_LIMIT)
    made = BoxIndex(boxes)
    areas = [QRectF(0, 0, 100, 100), QRectF(50, 50, 100, 100), QRectF(-400, 0, 20, 300)]
    wanted = sorted({n for area in areas for n in by_hand(boxes, area, 0.0)})
    assert made.touching_any(areas).tolist() == wanted
    assert made.touching_any(areas[:1]).tolist() == by_hand(boxes, areas[0], 0.0)
    assert made.touching_any([]).tolist() == []


def test_tiles_hold_every_box_once_and_reach_all_of_it():
    boxes = some(700)
    tiles = spatial_index.group_by_tile(boxes, 100.0, 10.0)
    members = sorted(n for numbers, _ in tiles.values() for n in numbers)
    assert members == list(range(700))
    for (column, row), (numbers, area) in tiles.items():
        left, top = boxes[numbers, :2].min(axis=0)
        right, bottom = boxes[numbers, 2:].max(axis=0)
        assert area == QRectF(left - 10, top - 10, right - left + 20, bottom - top + 20)
        for middle in (boxes[numbers, :2] + boxes[numbers, 2:]) / 2:
            assert column <= middle[0] / 100 < column + 1
            assert row <= middle[1] / 100 < row + 1


def test_no_boxes_have_no_tiles():
    assert spatial_index.group_by_tile(np.empty((0, 4)), 100.0, 10.0) == {}
