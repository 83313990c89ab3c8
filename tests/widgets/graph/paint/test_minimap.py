"""The minimap in the colours of what is shown; its place is tested with the layers."""

import pytest
from PySide6.QtCore import QSizeF

from gradscribe.playback.graph.coloring import Tint
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint.card import tints
from gradscribe.widgets.graph.paint.drawing import EMPTY_LOOK
from gradscribe.widgets.graph.paint.minimap import Minimap
from tests.widgets.pixels import drawing_of, near, painted
from tests.widgets.scenes import grid, network

VIEW = QSizeF(800, 800)


class Amounts:
    """Gives the first card a strong colour, others none."""

    def __init__(self, first):
        self.first, self.share = first, 1.0

    def tint(self, card, look):
        return Tint("much", "amount", self.share) if card.key == self.first else None

    def key(self):
        raise NotImplementedError


@pytest.fixture
def drawing(qapp):
    return drawing_of(network(), Theme.load("light"))


def seen(minimap, drawing):
    return painted(lambda p: minimap.paint(p, drawing, Camera(3.0), VIEW), (800, 800))


def test_in_a_colour_mode_cards_have_the_colours_of_the_mode(drawing):
    minimap, theme = Minimap(), drawing.theme
    roles = seen(minimap, drawing)
    assert near(roles, theme.parameter) > 20
    first = drawing.stage.card_keys[0]
    drawing.set_tinter(Amounts(first))
    minimap.forget()
    tinted = seen(minimap, drawing)
    assert near(tinted, theme.parameter) == 0
    full = tints.color_at("amount", 1.0, dark=False)
    # Cards are small in it, and the part one sees is tinted.
    assert near(tinted, full, 60) > near(roles, full, 60)


def test_what_a_mode_tells_of_another_position_is_painted_anew(drawing):
    minimap = Minimap()
    marks = Amounts(drawing.stage.card_keys[0])
    drawing.set_tinter(marks)
    before = seen(minimap, drawing)
    marks.share = 0.1
    drawing._readings.clear()
    assert (seen(minimap, drawing) == before).all()  # nothing moved
    drawing.set_look(type(drawing.look)(dict(drawing.look.cards), dict(drawing.look.wires)))
    assert (seen(minimap, drawing) != before).any()


def test_of_many_cards_each_is_still_a_dot_of_its_colour(qapp):
    m = grid(400, 20)
    m.card("w", "parameter", "w", (4200, 600), 1.0, (600, 600))
    drawing = drawing_of((m, m.reached()), Theme.load("light"))
    pixels = seen(Minimap(), drawing)
    assert near(pixels, drawing.theme.parameter, 40) > 50
    assert near(pixels, drawing.theme.line_strong, 60) > 200


def test_in_a_hurry_a_map_of_many_cards_is_left_for_later_and_one_of_few_is_not(qapp):
    few, many = (drawing_of((grid(n, 5), EMPTY_LOOK), Theme.load("light")) for n in (8, 500))

    def hurried(minimap, drawing):
        return painted(lambda p: minimap.paint(p, drawing, Camera(3.0), VIEW, True), (800, 800))

    minimap = Minimap()
    assert hurried(minimap, few).any()
    assert not minimap.awaited
    empty = hurried(minimap, many)
    assert minimap.awaited
    there = seen(minimap, many)
    assert not minimap.awaited
    assert (there != empty).any()
    assert (hurried(minimap, many) == there).all()  # what is kept costs nothing
    assert not minimap.awaited
