"""Cards at a far zoom: what is written on them can be read."""

from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from gradscribe.playback.graph.coloring import Tint
from gradscribe.playback.graph.reading import CardReading
from gradscribe.widgets.base.theme import Theme, contrast
from gradscribe.widgets.graph.paint.card import bubbles, tints
from gradscribe.widgets.graph.paint.card.cards import CardStyle
from gradscribe.widgets.graph.paint.far import far_cards
from tests.widgets.pixels import painted
from tests.widgets.scenes import Maker


@pytest.fixture
def light(qapp):
    return Theme.load("light")


@pytest.mark.parametrize("columns", [1, 6, 24])
@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("moved by 0.0014", "\N{GREEK CAPITAL LETTER DELTA} 0.0014"),
        ("−0.1191 → −0.1192", "→ −0.1192"),
        ("unchanged", "unchanged"),
    ],
)
def test_an_update_leaves_the_picture_of_its_parameter_uncovered(
    light, monkeypatch, columns, text, short
):
    m = Maker()
    m.card("w", "parameter", "weight", (6, columns), 1.0)
    card, box = m.picture.cards[0], QRectF(0, 0, 144, 48)
    grid = tuple(tuple(float(n) for n in range(columns)) for _ in range(6))
    reading = CardReading("reached", shape=f"6 × {columns}", grid=np.array(grid), update=text)
    pictures, pills, written = [], [], []
    draw = far_cards.draw_thumbnail
    monkeypatch.setattr(
        far_cards, "draw_thumbnail", lambda p, at, *more: (pictures.append(at), draw(p, at, *more))
    )
    place = bubbles.update_box

    def placed(box, words, scale=1.0):
        written.append(words)
        pills.append(place(box, words, scale))
        return pills[-1]

    monkeypatch.setattr(bubbles, "update_box", placed)
    painted(
        lambda p: far_cards.paint(p, card, box, reading, CardStyle(light), 0.7, named=True),
        (160, 90),
        zoom=0.7,
    )
    (picture,), pill = pictures, pills[-1]
    covered = picture.intersected(pill)
    assert covered.width() * covered.height() < 0.2 * picture.width() * picture.height()
    assert written[-1] == short


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 1.0])
def test_a_name_on_a_full_colour_is_written_in_what_can_be_read(qapp, monkeypatch, theme, share):
    m, look, inks = Maker(), Theme.load(theme), []
    m.card("w", "op", "pow", (6, 6), 1.0)
    reading = CardReading("reached", tinted=True, tint=Tint("x", "gradient", share))
    monkeypatch.setattr(
        far_cards.shapes, "write", lambda _p, _row, _text, ink, *_more: inks.append(ink)
    )
    painted(
        lambda p: far_cards.paint(
            p, m.picture.cards[0], QRectF(0, 0, 144, 48), reading, CardStyle(look), 0.5, named=False
        ),
        (160, 90),
        zoom=0.5,
    )
    assert contrast(inks[0], tints.color(reading.tint, look.dark)) >= 4.5


@pytest.mark.parametrize("zoom", [0.45, 0.5, 0.6, 0.7])
@pytest.mark.parametrize("text", ["moved by 0.0024", "−0.1191 → −0.1192"])
def test_an_update_does_not_cover_the_name_of_its_parameter(light, monkeypatch, zoom, text):
    m = Maker()
    m.card("w", "parameter", "weight", (72, 24), 1.0)
    card, box = m.picture.cards[0], QRectF(0, 0, 144, 48)
    reading = CardReading("reached", update=text)
    written = []
    monkeypatch.setattr(
        far_cards.shapes,
        "write",
        lambda _p, row, words, _ink, px, *_more: written.append((words, row, px)),
    )
    draw = partial(far_cards.paint, card=card, box=box, reading=reading, style=CardStyle(light))
    painted(lambda p: draw(p, zoom=zoom, named=True), (160, 90), zoom=zoom)
    row, px = next((row, px) for words, row, px in written if words.startswith("weight"))
    chip = bubbles.update_box(box, text, bubbles.FAR_SCALE)
    # The letters without the space above and below that a line of type has.
    letters = QRectF(row.left(), row.center().y() - 0.37 * px, row.width(), 0.74 * px)
    assert letters.top() >= chip.bottom() - 1
    assert letters.bottom() <= box.bottom()
