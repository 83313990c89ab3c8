"""The cells of a card: copied from a picture that is as good as painting them."""

import numpy as np
import pytest

from gradscribe.engine.inspect.lab import probe
from gradscribe.engine.protocol.messages import Probe
from gradscribe.playback.lab.cells import Cell
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.lab.canvas import LabCanvas
from gradscribe.widgets.lab.cells import CellPixmaps, index_on_card


@pytest.fixture
def canvas(qtbot):
    made = LabCanvas()
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show_probed(probe(Probe(1, "a = torch.arange(6.0).view(2, 3)\na.sum(0)")))
    return made


def middle(canvas, key, index):
    card = next(one for one in canvas.cards if one.key == key)
    return card.cell(index).center().toPoint()


def spot(canvas, image, key, index):
    ratio = image.devicePixelRatio()
    place = middle(canvas, key, index)
    # Beside the number, inside the ring.
    return image.pixelColor(round((place.x() - 9) * ratio), round((place.y() - 9) * ratio)).name()


def test_looking_at_a_cell_dims_all_but_those_that_belong_to_it(canvas):
    plain = canvas.grab().toImage()
    canvas.look_at(Cell("result", 1))
    seen = canvas.grab().toImage()
    for index in range(6):
        same = spot(canvas, plain, "a", index) == spot(canvas, seen, "a", index)
        assert same == (index in (1, 4)) or index == 0  # zero has no colour to lose
    canvas.look_at(None)
    assert canvas.grab().toImage() == plain


def test_other_numbers_and_another_theme_are_painted_anew(canvas):
    before = canvas.grab().toImage()
    canvas.show_probed(probe(Probe(1, "a = -torch.arange(6.0).view(2, 3)\na.sum(0)")))
    turned = canvas.grab().toImage()
    assert spot(canvas, before, "a", 5) != spot(canvas, turned, "a", 5)
    canvas.set_theme(Theme.load("dark"))
    assert spot(canvas, canvas.grab().toImage(), "a", 5) != spot(canvas, turned, "a", 5)


def test_moving_over_the_cells_paints_none_of_the_others(canvas, monkeypatch):
    canvas.look_at(Cell("a", 0))
    canvas.grab()
    made = []
    monkeypatch.setattr(CellPixmaps, "_painted_cells", lambda *_, **__: made.append(1))
    canvas.look_at(Cell("a", 1))
    canvas.grab()
    assert not made


def test_cells_of_two_big_cards_are_painted_in_two_turns(canvas, qtbot):
    def seen(card):
        """The colours in the picture of a card's cells."""
        image = canvas.grab(card.frame.toRect().adjusted(14, 50, -14, -14)).toImage()
        return {image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, 60, 3)}

    canvas.resize(700, 1000)
    canvas.show_probed(probe(Probe(1, "a = torch.randn(60, 60)\na * 2")))
    canvas.resize(700, canvas.minimumHeight())
    first, second = canvas.cards
    canvas.grab()
    assert len(canvas._sheets._sheets) == 1
    with qtbot.waitExposed(canvas):
        canvas.show()
    qtbot.waitUntil(lambda: len(canvas._sheets._sheets) == 2)
    assert min(len(seen(first)), len(seen(second))) > 50


def test_cells_of_small_cards_are_painted_at_once(canvas):
    canvas.show_probed(probe(Probe(1, "a = torch.randn(8, 8)\nb = torch.randn(8, 8)\na @ b")))
    canvas.grab()
    assert len(canvas._sheets._sheets) == 3


@pytest.mark.parametrize("shape", ["2, 3", "6", "()", "4, 3, 2", "14, 3, 5", "0, 3", "2, 0, 2"])
def test_all_cells_of_a_card_stand_where_each_of_them_does(canvas, shape):
    canvas.show_probed(probe(Probe(1, f"a = torch.zeros({shape})\na + 1")))
    card = canvas.cards[0]
    alone = [card.cell(index) for index in range(card.cells.snapshot.numel)]
    assert card.boxes() == [box for box in alone if box is not None]


def test_a_thousand_cells_ask_for_their_colours_in_one_go(canvas, monkeypatch):
    asked = []
    colors = heat.colors
    monkeypatch.setattr(heat, "colors", lambda *all_: asked.append(1) or colors(*all_))
    canvas.show_probed(probe(Probe(1, "a = torch.randn(40, 40)\na.T")))
    canvas.grab()
    assert len(asked) == len(canvas.cards) == 2


@pytest.mark.parametrize(
    "source",
    [
        "a = torch.tensor([1 + 2j, 3.0])\na * 2",
        "a = torch.tensor([True, False])\n~a",
        "a = torch.tensor([float('nan'), float('inf'), -1.0])\na + 1",
        "a = torch.zeros(0, 3)\na + 1",
        "a = torch.tensor(2)\na + 1",
        "a = torch.zeros(2, 1, 2, 1, 2)\na + 1",
    ],
)
def test_every_kind_of_number_is_drawn(canvas, source):
    probed = probe(Probe(1, source))
    canvas.show_probed(probed)
    canvas.look_at(Cell("a", 0) if probed.inputs[0].snapshot.numel else None)
    assert not canvas.grab().isNull()
    assert np.asarray(probed.results[0].snapshot.array()).size == probed.results[0].snapshot.numel


def test_the_cell_looked_at_is_on_one_card_only():
    assert index_on_card(Cell("a", 3), "a") == 3
    assert index_on_card(Cell("a", 3), "b") is None
    assert index_on_card(None, "a") is None
