"""A picture from very far: every card a dot of its colour, every wire a line of its kind."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPen

from gradscribe.engine.protocol.tape import Tape
from gradscribe.widgets.graph.paint.far.dots import DotPainter
from gradscribe.widgets.graph.paint.stage import Stage
from tests.widgets.pixels import near, painted
from tests.widgets.scenes import Maker, grid

BLUE, RED = QColor("#0000ff"), QColor("#ff0000")
SIZE = (600, 500)


@pytest.fixture
def stage(qapp):
    m = grid(9, 3)
    return Stage(Tape(), m.picture, m.placement)


def dots(made, stage, areas=None):
    return painted(lambda p: made.paint_cards(p, areas or [stage.bounds]), SIZE)


def test_every_card_is_a_box_of_its_colour(stage):
    made = DotPainter(stage, lambda key: RED if key == "c4" else BLUE)
    pixels = dots(made, stage)
    box = stage.boxes["c4"]
    assert near(pixels, RED) == pytest.approx(box.width() * box.height(), rel=0.02)
    assert near(pixels, BLUE) == pytest.approx(8 * box.width() * box.height(), rel=0.02)
    middle = box.center().toPoint()
    assert pixels[middle.y(), middle.x()].tolist() == [255, 0, 0]


def test_only_what_is_near_the_areas_is_painted(stage):
    pixels = dots(
        DotPainter(stage, lambda _key: BLUE), stage, [stage.boxes["c0"], stage.boxes["c8"]]
    )
    box = stage.boxes["c0"]
    assert near(pixels, BLUE) == pytest.approx(2 * box.width() * box.height(), rel=0.02)


def test_a_colour_is_asked_for_again_only_where_something_was_touched(stage):
    asked = []

    def color(key):
        asked.append(key)
        return RED if len(asked) > 9 else BLUE

    made = DotPainter(stage, color)
    made.invalidate(["c3"], [])
    assert asked == []
    assert near(dots(made, stage), RED) == 0
    assert len(asked) == 9
    made.invalidate(["c3"], [])
    assert near(dots(made, stage), RED) > 0
    assert asked[9:] == ["c3"]


def test_only_what_is_painted_is_asked_for(stage):
    asked = []
    made = DotPainter(stage, lambda key: asked.append(key) or BLUE)
    dots(made, stage, [stage.boxes["c0"], stage.boxes["c8"]])
    assert asked == ["c0", "c8"]
    dots(made, stage)
    assert sorted(asked) == sorted(stage.boxes)


def test_where_several_cards_lie_in_a_pixel_one_is_asked_and_fills_it(stage):
    asked = []
    made = DotPainter(stage, lambda key: asked.append(key) or BLUE)
    whole = stage.bounds
    pixel = max(whole.width(), whole.height()) + 1.0
    seen = painted(lambda p: made.paint_cards(p, [whole], pixel), SIZE)
    # The middles of all of them lie within four squares of that size at most.
    assert 1 <= len(asked) <= 4
    for box in stage.boxes.values():
        middle = box.center().toPoint()
        assert near(seen[middle.y(), middle.x()], BLUE) == 1


def test_a_map_with_pixels_smaller_than_cards_shows_every_card(stage):
    made = DotPainter(stage, lambda key: RED if key == "c4" else BLUE)
    least = min(min(box.width(), box.height()) for box in stage.boxes.values())
    fine = painted(lambda p: made.paint_cards(p, [stage.bounds], least / 2), SIZE)
    assert (fine == dots(made, stage)).all()


def test_of_many_small_cards_each_that_has_a_pixel_of_its_own_is_seen(qapp):
    m = grid(400, 20)
    stage = Stage(Tape(), m.picture, m.placement)
    asked = set()
    made = DotPainter(stage, lambda key: asked.add(key) or BLUE)
    box = stage.boxes["c0"]
    pixel = 1.01 * max(box.width(), box.height())
    painted(lambda p: made.paint_cards(p, [stage.bounds], pixel), SIZE)
    cells = {
        (int(b.center().x() // pixel), int(b.center().y() // pixel)) for b in stage.boxes.values()
    }
    assert len(asked) == len(cells) < 400


def test_wires_are_lines_with_the_pen_of_their_kind(stage):
    pens, first = {0: QPen(BLUE, 3), 1: QPen(RED, 3)}, stage.wire_keys[0]
    made = DotPainter(stage, lambda _key: BLUE, lambda key: int(key == first))
    whole = [stage.bounds]

    def lines():
        return painted(lambda p: made.paint_wires(p, whole, lambda p, n: p.setPen(pens[n])), SIZE)

    pixels = lines()
    (x0, y0), *_, (x1, y1) = stage.placement.routes[first]
    assert near(pixels, RED) >= np.hypot(x1 - x0, y1 - y0)
    assert near(pixels[round((y0 + y1) / 2), round((x0 + x1) / 2)], RED) == 1
    assert near(pixels, BLUE) > 5 * near(pixels, RED)


def test_an_empty_picture_paints_nothing(qapp):
    m = grid(0)
    stage = Stage(Tape(), m.picture, m.placement)
    made = DotPainter(stage, lambda _key: BLUE)
    area = [QRectF(0, 0, 100, 100)]
    assert near(dots(made, stage, area), BLUE) == 0
    made.paint_wires(None, area, lambda *_: pytest.fail("no wire is there"))


def test_the_largest_of_the_cards_in_a_pixel_stands_for_them(qapp):
    m = Maker()
    for at, (width, height) in enumerate([(20, 20), (60, 40), (30, 10)]):
        m.card(f"c{at}", "op", "add", (50 + at, 50), size=(width, height))
    stage = Stage(Tape(), m.picture, m.placement)
    made = DotPainter(stage, lambda key: RED if key == "c1" else BLUE)
    seen = painted(lambda p: made.paint_cards(p, [stage.bounds], 100.0), SIZE)
    assert near(seen[50, 50], RED) == 1
    assert near(seen, BLUE) == 0
