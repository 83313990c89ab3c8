"""The error look: a sign that needs no colour, and the message in lines that fit."""

import pytest

from gradscribe.playback.graph.picture import Card, CardLook, Look
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph import keyboard_navigation, tooltips
from gradscribe.widgets.graph.accessible import text as accessible_text
from gradscribe.widgets.graph.paint import overlay, shapes
from gradscribe.widgets.graph.paint.card import failed_card
from tests.widgets.pixels import drawing_of, near, painted
from tests.widgets.scenes import Maker

MESSAGE = "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"


@pytest.fixture(params=["light", "dark"])
def theme(request, qapp):
    return Theme.load(request.param)


def broken(theme, reached=True, **rest):
    m = Maker()
    m.card("x", "data", "x", (110, 20), [1.0, 2.0])
    m.card("f", "op", "matmul", (140, 130), size=(260, 87), **{"failed": MESSAGE} | rest)
    m.wire("x", "f", shape="2 × 3")
    looks = {"x": CardLook(True)} | ({"f": CardLook(True, failed=True)} if reached else {})
    return drawing_of((m, Look(looks, {})), theme)


def pixels(drawing, zoom=1.0):
    bounds = drawing.stage.bounds.adjusted(-20, -20, 40, 40)
    return painted(
        lambda p: (p.translate(20, 20), drawing.paint(p, bounds, zoom, sprites=False)),
        (320, 220), drawing.theme.canvas.name(),
    )  # fmt: skip


def test_what_failed_is_seen_and_what_is_not_reached_has_not_failed(theme):
    ended, before = pixels(broken(theme)), pixels(broken(theme, reached=False))
    assert near(ended, theme.error, 8) > 400
    assert near(before, theme.error, 8) == 0


def test_the_sign_is_a_form_of_its_own(theme):
    box = broken(theme).stage.boxes["f"]
    spot = failed_card.sign_box(box)
    shown = painted(
        lambda p: failed_card.paint_sign(p, box, theme), (320, 220), theme.canvas.name()
    )
    x, y = round(spot.center().x()), round(spot.center().y())
    assert near(shown[y - 4 : y, x : x + 1], theme.surface, 30) > 0
    assert near(shown[y - 1 : y + 1, x - 8 : x - 4], theme.error, 30) > 0


def test_the_ring_around_what_is_selected_leaves_the_sign_whole(theme):
    drawing = broken(theme)
    area = drawing.stage.bounds.adjusted(-20, -20, 40, 40)

    def seen(selected):
        def paint(painter):
            painter.translate(20, 20)
            drawing.paint(painter, area, 1.0, sprites=False)
            overlay.paint_marks(painter, drawing, "", selected, 1.0, area)

        return painted(paint, (320, 220), theme.canvas.name())

    plain, ringed = seen(""), seen("f")
    spot = failed_card.sign_box(drawing.stage.boxes["f"]).translated(20, 20).toAlignedRect()
    rows, columns = slice(spot.top(), spot.bottom() + 1), slice(spot.left(), spot.right() + 1)
    assert (plain[rows, columns] == ringed[rows, columns]).mean() > 0.97
    assert near(ringed, theme.selection, 30) > near(plain, theme.selection, 30) + 300


@pytest.mark.parametrize("room", [60.0, 120.0, 200.0, 900.0])
@pytest.mark.parametrize("most", [1, 2, 4])
def test_a_message_is_broken_between_words_and_nothing_is_lost(qapp, room, most):
    lines = failed_card.wrap_text(MESSAGE, room, most)
    assert " ".join(lines) == MESSAGE
    assert len(lines) <= most
    for line in lines[:-1]:
        assert shapes.text_width(line, 11, 500) <= room or " " not in line
    assert failed_card.wrap_text("", room, most) == []


def test_the_shapes_of_what_it_was_given_stand_on_its_wires(theme):
    assert [label.words for label in broken(theme).labels.values()] == ["2 × 3"]


def test_only_a_card_without_an_op_is_a_call_that_raised(qapp):
    assert Card("f", "op", "matmul", failed=MESSAGE).is_failed_call
    assert not Card("f", "op", "exp", failed=MESSAGE, op=0).is_failed_call
    assert not Card("f", "module", "net", failed=MESSAGE).is_failed_call
    assert not Card("x", "data", "x").is_failed_call


def test_it_is_told_in_words_and_a_walk_begins_there(theme):
    drawing = broken(theme)
    assert f"the program stopped here: {MESSAGE}" in accessible_text.describe(drawing, "f")
    assert "given x" in accessible_text.describe(drawing, "f")
    assert keyboard_navigation.start_card(drawing.stage) == "f"
    assert MESSAGE in tooltips.tip(broken(theme, note=MESSAGE), "f")
    assert tooltips.tip(broken(theme, note=MESSAGE), "f").count(MESSAGE) == 1


@pytest.mark.parametrize("zoom", [0.4, 0.5, 0.65])
def test_from_afar_it_says_why_as_far_as_there_is_room(theme, zoom):
    drawing = broken(theme)
    told, silent = drawing, broken(theme, failed=" ")
    for one in (told, silent):
        one.set_zoom(zoom)

    def shown(one):
        box = one.stage.bounds.adjusted(-20, -20, 40, 40)
        return painted(lambda p: one.paint(p, box, zoom), (320, 220), one.theme.canvas.name(), zoom)

    changed = (shown(told) != shown(silent)).any(axis=-1)
    assert changed.sum() > 60
    assert near(shown(told), theme.error, 70) > near(shown(silent), theme.error, 70)
