import numpy as np
import pytest
from PySide6.QtCore import QRectF

from gradscribe.playback.graph.reading import CardReading
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint.card import bubbles
from tests.widgets.pixels import near, painted

BOX = QRectF(40, 30, 164, 58)


@pytest.fixture(params=["light", "dark"])
def theme(request, qapp):
    return Theme.load(request.param)


def pixels(theme, paint):
    return painted(paint, background=theme.canvas.name())


def bubble(theme, **reading):
    told = CardReading("reached", **reading)
    return pixels(theme, lambda p: bubbles.paint(p, BOX, told, theme))


def test_a_bubble_hangs_at_the_lower_right_and_leaves_the_last_line_free(qapp):
    box = bubbles.bubble_box(BOX, "0.2071")
    assert box.right() > BOX.right()
    assert BOX.bottom() - 8 <= box.top() < BOX.bottom()


def test_a_sum_that_is_being_made_looks_unlike_one_that_is(theme):
    made = bubble(theme, gradient="48 + 16")
    pending = bubble(theme, gradient="48 + 16", pending=True)
    assert near(pending, theme.backward_soft, 2) < near(made, theme.backward_soft, 2)


def test_zero_differs_from_none_and_from_a_gradient(theme):
    zero = bubble(theme, gradient="0", reset="zeros")
    none = bubble(theme, gradient="0", reset="none")
    given = bubble(theme, gradient="0")
    assert (zero != none).any()
    assert (zero != given).any()
    assert near(none, theme.backward, 8) == 0 < near(zero, theme.backward, 8)


def test_an_update_stands_above_the_card_in_the_colour_of_parameters(theme):
    told = CardReading("reached", update="2.0 → 0.8")
    shown = pixels(theme, lambda p: bubbles.paint_update(p, BOX, told, theme))
    assert near(shown, theme.parameter, 8) > 200
    box = bubbles.update_box(BOX, told.update)
    assert box.top() < BOX.top() < box.bottom()


def test_shared_memory_has_a_sign_that_needs_no_colour(theme):
    def tagged(words):
        return pixels(theme, lambda p: bubbles.paint_tag(p, BOX, words, theme))

    assert (tagged("⧉ b") != tagged("b")).any()
    assert bubbles.tag_box(BOX, "⧉ b").width() > bubbles.tag_box(BOX, "b").width()


@pytest.mark.parametrize("scale", [1.0, bubbles.FAR_SCALE])
def test_all_that_hangs_on_a_card_stays_within_its_extent(qapp, scale):
    theme = Theme.load("light")
    told = CardReading(
        "reached", gradient="48 + 16 = 64", update="2.0 → 0.8", tag="⧉ b", active="update"
    )

    def paint(p):
        bubbles.paint(p, BOX, told, theme, scale)
        bubbles.paint_update(p, BOX, told, theme, scale)
        bubbles.paint_tag(p, BOX, told.tag, theme)

    shown = pixels(theme, paint)
    ground = pixels(theme, lambda p: None)
    rows, columns = np.nonzero((shown != ground).any(axis=-1))
    room = bubbles.extent(BOX, told, scale)
    assert room.left() <= columns.min()
    assert columns.max() <= room.right()
    assert room.top() <= rows.min()
    assert rows.max() <= room.bottom()


@pytest.mark.parametrize("tag", ["", "⧉ b", "⧉ base · v1 · now v4"])
@pytest.mark.parametrize("scale", [1.0, bubbles.FAR_SCALE])
def test_a_bubble_never_covers_a_tag(qapp, tag, scale):
    box = bubbles.bubble_box(BOX, "∇ 8.9567 · 2 shares", scale, tag)
    if tag:
        both = box.intersected(bubbles.tag_box(BOX, tag))
        assert both.width() <= 2 or both.height() <= 2
    told = CardReading("reached", gradient="∇ 8.9567 · 2 shares", tag=tag)
    assert bubbles.extent(BOX, told).contains(box)


def test_from_afar_an_update_rises_less_into_the_name_of_a_module(qapp):
    near, far = (bubbles.update_box(BOX, "2.0 → 0.8", scale) for scale in (1.0, 1.25))
    assert BOX.top() - 14 < near.top() < far.top() < BOX.top()
    assert near.height() < far.height()


LONG = "−2.2 − 9.2938 = −11.4938"


@pytest.mark.parametrize("scale", [1.0, bubbles.FAR_SCALE])
@pytest.mark.parametrize("room", [(14.0, 12.0), (14.0, 200.0), (90.0, 12.0), (0.0, 40.0)])
@pytest.mark.parametrize("words", [LONG, "−2.2 − 9.2938 + …", "∇ 1.26e+10 · 2 shares", "0.5"])
def test_a_bubble_keeps_within_its_room_and_says_as_much_as_fits(qapp, words, room, scale):
    pill = QRectF(100, 30, 128, 38)
    told = bubbles.fit_bubble(pill, CardReading("reached", gradient=words), room, scale)
    box = bubbles.bubble_box(pill, bubbles.bubble_text(told), scale, shift=told.shift)
    assert box.right() <= pill.right() + room[1] + 0.01
    if bubbles.bubble_text(told) == words:
        assert box.left() >= pill.left() - room[0] - 0.01
    else:
        most = room[0] + pill.width() + room[1]
        assert bubbles.bubble_box(pill, words, scale).width() > most
        assert box.left() >= pill.left() - room[0] - 0.01
    assert told.gradient == words


def test_a_sum_without_room_says_what_it_comes_to(qapp):
    pill = QRectF(100, 30, 128, 38)
    told = bubbles.fit_bubble(pill, CardReading("reached", gradient=LONG), (0.0, 12.0), 1.0)
    assert bubbles.bubble_text(told) == "Σ −11.4938"
