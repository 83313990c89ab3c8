"""Pixels that the painters leave, as far as they can be judged without pictures to compare."""

import math
from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt

from gradscribe.playback.graph import sizes
from gradscribe.playback.graph.picture import CardLook, Frame, Look, Wire, WireLook
from gradscribe.playback.graph.reading import CardReader
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import frames, heat, shapes
from gradscribe.widgets.graph.paint.card import cards
from gradscribe.widgets.graph.paint.card.cards import CardStyle, Layers
from gradscribe.widgets.graph.paint.card.thumbnail import draw_thumbnail, thumbnail_size
from gradscribe.widgets.graph.paint.drawing import detail_at
from gradscribe.widgets.graph.paint.far import far_cards
from gradscribe.widgets.graph.paint.wire import tokens, wires
from gradscribe.widgets.graph.paint.wire.wires import Polyline, tone, wire_pen
from tests.widgets.pixels import drawing_of, near, painted
from tests.widgets.scenes import Maker, network, neuron

BOX = QRectF(30, 30, 164, 58)


@pytest.fixture(params=["light", "dark"])
def theme(request, qapp):
    return Theme.load(request.param)


@pytest.fixture
def light(qapp):
    return Theme.load("light")


def card_pixels(theme, numbers, look, kind="op", style=None, **rest):
    m = Maker()
    m.card("c", kind, rest.pop("title", "add"), (0, 0), numbers, **rest)
    looks = look(m) if callable(look) else look
    card = m.picture.cards[0]
    reading = CardReader(m.tape, m.picture.cards).card(card, looks)
    style = style or CardStyle(theme)
    return painted(
        lambda p: cards.paint(p, card, BOX, reading, style), background=theme.canvas.name()
    )


REACHED = CardLook(reached=True)


def test_a_reached_card_is_stronger_than_one_that_is_not(theme):
    shown, waiting = card_pixels(theme, 3.0, REACHED), card_pixels(theme, 3.0, None)
    canvas = np.array([theme.canvas.red(), theme.canvas.green(), theme.canvas.blue()])
    assert np.abs(shown - canvas).sum() > 1.2 * np.abs(waiting - canvas).sum()


def test_not_reached_never_looks_like_zero(theme):
    assert (card_pixels(theme, 0.0, None) != card_pixels(theme, 0.0, REACHED)).any()


def test_nan_shows_without_any_colour(theme):
    def grey(numbers):
        return card_pixels(theme, numbers, REACHED)[35:85, 165:188].mean(axis=-1)

    assert grey(1.0).std() < 1
    assert grey(math.nan).std() > 8


def test_the_loss_is_outlined_until_it_is_reached_then_filled(theme):
    waiting = card_pixels(theme, 1.0, None, kind="loss")
    filled = card_pixels(theme, 1.0, REACHED, kind="loss")
    assert 100 < near(waiting, theme.ink) < 2500
    assert near(filled, theme.ink) > 5000


def test_the_stripe_tells_the_sign_at_the_left_border(light):
    minus = card_pixels(light, -6.0, REACHED)[60, 33]
    plus = card_pixels(light, 6.0, REACHED)[60, 33]
    assert minus[0] > minus[2] + 60
    assert plus[2] > plus[0] + 60


def test_a_gradient_sits_in_a_bubble_at_the_lower_right(theme):
    look = lambda m: CardLook(reached=True, gradient=m.snapshot(0.2071))  # noqa: E731
    pixels = card_pixels(theme, 1.0, look)
    assert near(pixels[70:110, 120:], theme.backward) > 60
    assert near(pixels[:60], theme.backward) == 0
    hidden = card_pixels(theme, 1.0, look, style=CardStyle(theme, Layers(gradients=False)))
    assert near(hidden, theme.backward) == 0


def test_a_card_in_action_glows_in_the_colour_of_its_direction(theme):
    forward = card_pixels(theme, 1.0, CardLook(reached=True, active="forward"))
    backward = card_pixels(theme, 1.0, CardLook(reached=True, active="backward"))
    still = card_pixels(theme, 1.0, REACHED)
    edge = (slice(45, 70), slice(23, 28))
    assert (forward[edge] != still[edge]).any()
    assert (backward[edge] != forward[edge]).any()


@pytest.mark.parametrize("kind", ["parameter", "data", "constant", "op", "loss", "module"])
@pytest.mark.parametrize("numbers", [1.0, np.ones((3, 4)), np.full((2, 2), math.nan), None])
@pytest.mark.parametrize("look", [None, REACHED])
def test_every_card_stays_within_its_extent(light, kind, numbers, look):
    m = Maker()
    name = "a_name_that_is_far_too_long_for_any_card"
    m.card("c", kind, name, (0, 0), numbers, name=name, note=name, mark="view", symbol="softmax")
    card = m.picture.cards[0]
    reading = CardReader(m.tape).card(card, look)
    pixels = painted(lambda p: cards.paint(p, card, BOX, reading, CardStyle(light)), (300, 200))
    reach = cards.extent(BOX, reading).toAlignedRect()
    outside = np.ones(pixels.shape[:2], bool)
    outside[max(0, reach.top()) : reach.bottom() + 1, max(0, reach.left()) : reach.right() + 1] = 0
    canvas = (light.canvas.red(), light.canvas.green(), light.canvas.blue())
    assert (pixels[outside] == canvas).all()


@pytest.mark.checklist(212)
def test_parameter_input_and_constant_have_signs_of_their_own(light):
    def sign(kind):
        center = QPointF(20, 20)
        ink = painted(lambda p: shapes.role_sign(p, kind, center, light), (40, 40), "#FFFFFF")
        return ink.mean(axis=-1) < 200

    diamond, disc, ring = sign("parameter"), sign("data"), sign("constant")
    assert diamond[20, 20]
    assert disc[20, 20]
    assert not ring[20, 20]
    assert diamond[14, 20] and not diamond[16, 24]  # noqa: PT018
    assert disc[17, 23]


def test_hiding_values_hides_the_number(light):
    shown = card_pixels(light, 3.0, REACHED)
    hidden = card_pixels(light, 3.0, REACHED, style=CardStyle(light, Layers(values=False)))
    row = (slice(57, 78), slice(80, 180))
    assert near(shown[row], light.ink, 60) > 50
    assert near(hidden[row], light.ink, 60) == 0


def test_a_thumbnail_is_wiped_in_from_above(light):
    m = np.full((4, 4), 5.0)
    box = QRectF(10, 10, 40, 40)
    half = painted(lambda p: draw_thumbnail(p, box, m, light, 0.5), (60, 60))
    whole = painted(lambda p: draw_thumbnail(p, box, m, light), (60, 60))
    assert (half[15:25, 15:45] == whole[15:25, 15:45]).all()
    assert (half[35:45, 15:45] != whole[35:45, 15:45]).any()


def test_the_size_of_a_thumbnail_depends_on_the_shape_alone(light):
    m = Maker()
    m.card("c", "op", "linear", (0, 0), np.ones((16, 8)), (184, 58))
    card, reader = m.picture.cards[0], CardReader(m.tape)
    box = QRectF(0, 0, 184, 58)
    waiting, shown = (thumbnail_size(reader.card(card, look), box) for look in (None, REACHED))
    assert waiting == shown
    assert shown.height() <= 44
    assert shown.width() <= 0.45 * 184


@pytest.mark.parametrize("title", ["x", "memory", "a_rather_long_name"])
@pytest.mark.parametrize("shape", [(1, 3, 8), (1, 3, 16), (2, 2, 2, 8), (7,), (1, 1, 16, 16)])
@pytest.mark.parametrize("kind", ["data", "op"])
def test_a_shape_is_never_cut_for_the_thumbnail_beside_it(light, kind, shape, title, monkeypatch):
    cut = []
    fitted = shapes.elided

    def fit(text, room, *font):
        found = fitted(text, room, *font)
        cut.append(text != found and "×" in text)
        return found

    monkeypatch.setattr(shapes, "elided", fit)
    words = " × ".join(map(str, shape))
    size = sizes.pill(title, False, words) if kind == "data" else sizes.op(title, "", "", False)
    m = Maker()
    m.card("c", kind, title, (0, 0), np.ones(shape), size=size)
    card = m.picture.cards[0]
    reading = CardReader(m.tape, m.picture.cards).card(card, REACHED)
    assert reading.shape == words
    box = QRectF(10, 10, *size)
    painted(lambda p: cards.paint(p, card, box, reading, CardStyle(light)))
    assert cut
    assert not any(cut)


def test_detail_grows_with_the_zoom():
    assert [detail_at(z) for z in (0.1, 0.3, 0.5, 1.0)] == ["speck", "block", "name", "full"]


@pytest.mark.parametrize("zoom", [0.05, 0.2, 0.4, 0.6, 1.0, 3.0])
@pytest.mark.parametrize("make", [neuron, network])
def test_every_detail_paints_something(theme, zoom, make):
    drawing = drawing_of(make(), theme)
    drawing.set_zoom(zoom)
    area = drawing.stage.bounds
    canvas = theme.canvas.name()
    pixels = painted(lambda p: drawing.paint(p, area, zoom), (500, 500), canvas, zoom)
    assert (pixels != pixels[-1, -1]).any()


def test_from_afar_the_name_is_still_large_enough_to_read(light):
    m = Maker()
    m.card("c", "op", "add", (82, 29), 1.0)
    card, box = m.picture.cards[0], QRectF(0, 0, 164, 58)
    reading = CardReader(m.tape).card(card, None)

    def rows_of_ink(zoom, named):
        draw = partial(far_cards.paint, card=card, box=box, reading=reading, style=CardStyle(light))
        pixels = painted(lambda p: draw(p, zoom=zoom, named=named), (90, 40), zoom=zoom)
        inner = pixels[4 : int(54 * zoom), 5 : int(150 * zoom)]
        return int((inner.mean(axis=-1) < 190).any(axis=1).sum())

    assert rows_of_ink(0.5, named=True) >= 7
    assert rows_of_ink(0.25, named=False) >= 5
    assert rows_of_ink(0.1, named=False) == 0


def test_tones_of_wires_follow_what_runs():
    assert tone(None, "forward", True) == "rest"
    assert tone(WireLook(carried=True), "forward", True) == "carried"
    assert tone(WireLook(carried=True), "backward", True) == "rest"
    assert tone(WireLook(True, 3), "backward", True) == "share"
    assert tone(WireLook(True, 3), "backward", False) == "rest"
    assert tone(WireLook(True, 3, active="backward"), "backward", True) == "backward"


def test_a_running_gradient_is_a_thicker_line_and_a_cut_wire_is_dashed(theme):
    assert wire_pen("backward", False, theme).widthF() > wire_pen("rest", False, theme).widthF()
    assert wire_pen("rest", True, theme).style() == Qt.PenStyle.CustomDashLine
    assert wire_pen("rest", True, theme, True).widthF() == 0


def test_a_wire_keeps_its_head_after_a_gradient_ran_back(light):
    route = ((20, 10), (20, 40), (20, 70), (20, 100))
    path, head = wires.route_path(route), wires.arrow_head(route)
    wire = Wire("w", "a", "b", 0)

    def width_at_head(how):
        draw = partial(wires.paint, wire=wire, path=path, head=head, how=how, theme=light)
        pixels = painted(lambda p: draw(p), (40, 120))
        return int((pixels[95] != pixels[0, 0]).any(axis=-1).sum())

    assert width_at_head("rest") == width_at_head("share") > 4


@pytest.mark.checklist(255)
def test_tokens_run_down_forward_and_up_backward(light):
    track = Polyline([(20, 10), (20, 110)])

    def height(share, backward):
        pixels = painted(lambda p: tokens.draw(p, track, share, backward, light), (40, 120))
        ink = (pixels != pixels[0, 0]).any(axis=-1).any(axis=1)
        return float(np.flatnonzero(ink).mean())

    assert height(0.2, False) < height(0.8, False)
    assert height(0.2, True) > height(0.8, True)


@pytest.mark.parametrize("ease", [tokens.ease, tokens.ease_out, tokens.ease_out_back])
def test_eases_begin_at_nothing_and_end_at_all(ease):
    assert ease(0) == pytest.approx(0)
    assert ease(1) == pytest.approx(1)
    assert ease(-1) == ease(0)
    assert ease(2) == ease(1)


def test_a_bubble_shoots_a_little_over_its_size():
    assert 1.0 < max(tokens.ease_out_back(t / 50) for t in range(51)) < 1.2


def test_no_label_lies_on_a_card(light):
    drawing = drawing_of(neuron(), light)
    assert len(drawing.labels) == 5
    for label in drawing.labels.values():
        assert not any(label.box.intersects(box) for box in drawing.stage.boxes.values())


def test_shapes_are_told_on_wires_out_of_folded_modules_only(light):
    drawing = drawing_of(network(), light)
    assert [label.words for label in drawing.labels.values()] == ["16 × 8"]
    drawing.set_layers(Layers(shapes=False))
    assert drawing.labels == {}


def test_far_away_no_place_is_sought_for_labels(light):
    drawing = drawing_of(neuron(), light)
    drawing.set_zoom(0.3)
    assert drawing.labels == {}
    drawing.set_zoom(1.0)
    assert len(drawing.labels) == 5


def test_the_words_of_a_name_plate_stand_on_the_frame_not_on_a_wire(light):
    m, _ = network()
    box = QRectF(0, 0, 340, 200)
    pixels = painted(
        lambda p: (
            p.fillRect(QRectF(20, 0, 6, 200), light.backward),
            frames.paint_head(p, m.frames[0], box, 0, light),
        ),
        (340, 60),
    )
    assert near(pixels[10:18, 20:26], light.backward) == 0
    assert near(pixels[40:60, 20:26], light.backward) > 50


@pytest.mark.checklist(103)
def test_a_cut_wire_has_scissors_and_a_dashed_one_alone_has_none(theme):
    def wired(**rest):
        m = Maker()
        m.card("x", "op", "mul", (120, 30), 2.0)
        m.card("y", "op", "detach", (120, 180), 2.0)
        m.wire("x", "y", dashed=True, **rest)
        drawing = drawing_of((m, m.reached()), theme)
        return painted(
            lambda p: drawing.paint(p, QRectF(0, 0, 240, 220), 1.0), (240, 220),
            theme.canvas.name(),
        )  # fmt: skip

    plain_, cut = wired(), wired(cut="detach")
    assert (plain_ != cut).any()
    assert near(cut[60:150], theme.surface, 4) > near(plain_[60:150], theme.surface, 4) + 30


def test_a_wire_out_of_several_outputs_tells_which_one_near_its_source(light):
    m = Maker()
    m.card("x", "op", "split", (120, 30), 2.0)
    m.card("y", "op", "mul", (120, 230), 2.0)
    key = m.wire("x", "y", part="b")
    label = drawing_of((m, m.reached()), light).labels[f"{key}#part"]
    assert label.words == "b"
    assert label.y < 130


def test_beside_a_frames_title_stand_whole_words_or_none(qapp):
    frame = Frame("f", 0, "layers", "Sequential", note="86,688 parameters")
    kind, note = (shapes.text_width(text, 11, 500) for text in (frame.kind, frame.note))
    assert frames.fitting_texts(frame, kind + note + 9) == (frame.kind, frame.note)
    assert frames.fitting_texts(frame, kind + note) == (frame.kind, "")
    assert frames.fitting_texts(frame, kind - 1) == ("", "")
    long = Frame("f", 0, "a", "Linear(1024 -> 1024)", note="9 parameters")
    assert frames.fitting_texts(long, shapes.text_width(long.note, 11, 500)) == ("", long.note)


def test_names_of_frames_are_left_out_where_nobody_could_read_them(light):
    m = Maker()
    m.frame("f", "f", "Net", (20, 20, 200, 90))
    drawing = drawing_of((m, m.reached()), light)

    def head(zoom):
        box = drawing.stage.frame_boxes["f"]
        return painted(lambda p: drawing.paint_head(p, "f", box, zoom), background="#FFFFFF")

    blank = painted(lambda p: None, background="#FFFFFF")
    assert (head(1.0) != blank).any()
    assert (head(0.05) == blank).all()


def test_a_folded_module_shows_its_shape_and_what_it_made(light):
    m = Maker()
    m.card(
        "m", "module", "0: Linear", (120, 60), [[1.0, -1.0], [2.0, 0.0]], (240, 72), note="2 → 2"
    )
    shown = painted(
        lambda p: drawing_of((m, m.reached()), light).paint(p, QRectF(0, 0, 240, 130), 1.0)
    )
    waiting = painted(
        lambda p: drawing_of((m, Look({}, {})), light).paint(p, QRectF(0, 0, 240, 130), 1.0)
    )
    right = slice(150, 240)
    assert near(shown[:, right], heat.color(2.0, 2.0, False), 30) > 40
    assert near(waiting[:, right], heat.color(2.0, 2.0, False), 30) == 0


def test_from_afar_a_folded_module_still_shows_its_shape_and_picture(light):
    m = Maker()
    m.card("m", "module", "fc", (120, 60), [[1.0, -1.0], [2.0, 0.0]], (220, 72), repeats=3)
    reached, waiting = (
        painted(
            lambda p, look=look: drawing_of((m, look), light).paint(
                p, QRectF(0, 0, 240, 130), 0.6
            ),
            (160, 90), zoom=0.6,
        )
        for look in (m.reached(), Look({}, {}))
    )  # fmt: skip
    strong = heat.color(2.0, 2.0, False)
    assert near(reached, strong, 30) > 10 > near(waiting, strong, 30)


def test_a_number_too_long_for_its_pill_is_cut_and_spares_the_sign(light):
    def sign(title, number):
        m = Maker()
        m.card("c", "constant", title, (100, 40), size=(90, 40), literal=number)
        drawing = drawing_of((m, m.reached()), light)
        return painted(lambda p: drawing.paint(p, QRectF(0, 0, 240, 130), 1.0))[20:60, 55:84]

    assert (sign("", "1") == sign("", "1000000000000000.0")).all()
