"""One side of a comparison: which card shows what, and when it came about."""

import pytest

from gradscribe.app.compare.side import CompareSide
from gradscribe.playback.compare.comparison import Comparison
from gradscribe.widgets.base.theme import Theme

ONE = "a = param(2.0)\nb = a * 3\nb.backward()"
OTHER = ONE.replace("* 3", "* 3 + 1")


@pytest.fixture
def sides(qtbot, record):
    compared = Comparison(record(ONE), record(OTHER))
    made = [
        CompareSide(index.tape, compared, is_left, Theme.load("light"), None)
        for index, is_left in ((compared.left, True), (compared.right, False))
    ]
    for side in made:
        qtbot.addWidget(side.view)
        side.move(len(side.tape.events))
        qtbot.waitUntil(lambda side=side: bool(side.view.stage().cards))
    yield made
    for side in made:
        side.scene_builder.close_later()


def test_each_side_knows_the_card_of_its_own_value(sides):
    for side in sides:
        named = {value.name: value.id for value in side.tape.values if value.name}
        for name in ("a", "b"):
            card = side.view.stage().cards[side.card_of(named[name])]
            assert name in (card.title, card.name)
        assert side.card_of(10_000) == ""


def test_before_there_is_a_picture_nothing_has_a_card(qtbot, record):
    compared = Comparison(record(ONE), record(OTHER))
    side = CompareSide(compared.left.tape, compared, True, Theme.load("light"), None)
    qtbot.addWidget(side.view)
    assert side.card_of(1) == ""
    assert all(side.key_of(one) == "" for one in compared.differences)
    side.scene_builder.close_later()


def test_a_value_came_about_before_the_end_of_its_step(sides):
    side = sides[0]
    b = next(value.id for value in side.tape.values if value.name == "b")
    assert 0 < side.scene_end_of(b) <= len(side.tape.events)
    assert side.scene_end_of(10_000) == 0
