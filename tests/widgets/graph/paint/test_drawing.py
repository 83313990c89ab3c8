"""Differences between two looks, however their tables have grown."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from gradscribe.engine.run.run import record
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.graph.picture import CardLook, Look, WireLook
from gradscribe.playback.graph.reading import CardReading
from gradscribe.playback.layout.place import place
from gradscribe.playback.tape.scenes import scenes
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import frames
from gradscribe.widgets.graph.paint.card import bubbles, cards, failed_card
from gradscribe.widgets.graph.paint.card.cards import Layers
from gradscribe.widgets.graph.paint.drawing import GraphDrawing, changed_keys
from gradscribe.widgets.graph.paint.stage import CROWD_SIZE, RIM, Stage
from tests.widgets.pixels import drawing_of, near, painted
from tests.widgets.scenes import Maker, grid, neuron

tables = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 2).map(float), max_size=8)


@given(tables, tables)
def test_what_differs_is_found_whatever_the_order(old, new):
    wanted = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    found = changed_keys(old, new)
    assert set(found) == wanted
    assert len(found) == len(wanted)


@given(tables, tables)
def test_what_differs_is_found_where_a_table_has_grown_or_shrunk_at_its_end(old, more):
    grown = old | {key: value for key, value in more.items() if key not in old}
    assert set(changed_keys(old, grown)) == grown.keys() - old.keys()
    assert set(changed_keys(grown, old)) == grown.keys() - old.keys()


def test_the_end_of_the_forward_pass_changes_the_wires_that_carried(qapp):
    m, look = neuron()
    carried = {key: WireLook(carried=True) for key in drawing_of((m, look), light()).stage.wires}
    forward = Look(look.cards, carried, 1, "forward")
    drawing = drawing_of((m, forward), light())
    areas = drawing.set_look(Look(look.cards, carried, 1, "backward"))
    assert all(any(area.intersects(drawing.stage.wire_area(k)) for area in areas) for k in carried)
    assert drawing.set_look(Look(look.cards, carried, 1, "update")) == []


def light():
    return Theme.load("light")


@pytest.mark.parametrize(
    ("look", "token"),
    [
        (CardLook(reached=True, active="forward"), "forward"),
        (CardLook(reached=True, active="backward"), "backward"),
        (CardLook(reached=True), "edge"),
    ],
)
def test_from_very_far_a_card_has_the_colour_of_what_happens(qapp, look, token):
    m, theme = grid(4, 2), light()
    drawing = drawing_of((m, m.reached()), theme)

    def pixels():
        return painted(
            lambda p: drawing.paint(p, drawing.stage.bounds, 0.1), (400, 200), theme.canvas
        )

    box = drawing.stage.boxes["c3"].toRect()
    pixels()
    drawing.set_look(m.reached(c3=look))
    inside = pixels()[box.top() + 2 : box.bottom() - 2, box.left() + 2 : box.right() - 2]
    assert near(inside, theme.color(token), 4) == inside.shape[0] * inside.shape[1]


def test_from_very_far_what_is_not_reached_is_faint(qapp):
    m, theme = grid(1), light()
    drawing = drawing_of((m, Look({}, {})), theme)
    pixels = painted(lambda p: drawing.paint(p, drawing.stage.bounds, 0.1), (164, 58))
    assert near(pixels, cards.unreached_theme(theme).edge, 4) > 8000


@pytest.mark.parametrize("zoom", [1.0, 0.6])
def test_long_bubbles_of_neighbours_keep_clear_of_each_other_and_of_the_rim(qapp, zoom):
    m = Maker()
    for n in range(4):
        m.card(f"c{n}", "parameter", f"w{n}", (64 + 150 * n, 60), 1.0)
    parts = tuple(m.snapshot(x) for x in (-2.2, -9.2938))
    whole = m.snapshot(-11.4938)
    looks = {key: CardLook(True, gradient=whole, shares=parts) for key in m.rects}
    drawing = drawing_of((m, Look(looks, {})), Theme.load("light"))
    drawing.set_zoom(zoom)
    boxes = [drawing.bubble(key) for key in m.rects]
    for left, right in pairwise(boxes):
        assert left.right() < right.left()
    left, _, right, _ = RIM
    seen = drawing.stage.bounds.adjusted(-left, 0, right, 0)
    assert seen.left() <= boxes[0].left()
    assert boxes[-1].right() <= seen.right()


@pytest.mark.parametrize(("count", "told"), [(8, 8), (30, 2)])
def test_of_many_wires_into_one_card_only_what_runs_or_tells_more_is_labelled(qapp, count, told):
    m = Maker()
    for n in range(count):
        m.card(f"c{n}", "op", "sin", (82 + 190 * n, 29), 1.0)
    m.card("all", "op", "stack", (82 + 95 * count, 700), 2.0)
    keys = [m.wire(f"c{n}", "all", n, count) for n in range(count)]
    half = m.snapshot(0.5)
    looks = {key: WireLook(True, half, "× 2w", shares=(half,)) for key in keys}
    looks[keys[0]] = WireLook(True, half, active="backward", shares=(half,))
    cards_ = {key: CardLook(True, gradient=half, shares=(half,)) for key in m.rects}
    cards_["c1"] = CardLook(True, gradient=half, shares=(half, half))
    drawing = drawing_of((m, Look(cards_, looks)), Theme.load("light"))
    wished = drawing._wishes(list(range(count)))
    assert len(wished) == told
    assert {wish.key for wish in wished} >= set(keys[:2])
    assert all(drawing.label_text(key) for key in keys)


@pytest.mark.parametrize(("count", "told"), [(CROWD_SIZE, CROWD_SIZE), (CROWD_SIZE + 1, 0)])
def test_in_a_crowd_of_wires_none_is_labelled(qapp, count, told):
    m = Maker()
    m.card("hub", "op", "unbind", (400, 29), 1.0)
    for n in range(count):
        m.card(f"c{n}", "op", "sin", (190 * n, 700), 1.0)
    keys = [m.wire("hub", f"c{n}", 0, 1) for n in range(count)]
    half = m.snapshot(0.5)
    looks = {key: WireLook(True, half, active="backward", shares=(half,)) for key in keys}
    cards_ = {key: CardLook(True, gradient=half, shares=(half,)) for key in m.rects}
    drawing = drawing_of((m, Look(cards_, looks)), Theme.load("light"))
    assert len(drawing.labels) == told


@pytest.mark.parametrize("mode", ["gradient", "value"])
def test_a_colour_mode_writes_no_number_twice(qapp, mode):
    drawing = drawing_of(neuron(), light())
    drawing.set_coloring(mode)
    for key in drawing.stage.cards:
        reading = drawing.reading(key)
        words = reading.tint.words if reading.tint is not None else ""
        written = (reading.number, reading.gradient, reading.gradient.partition(" = ")[2])
        assert not words or words not in written
    drawing.set_layers(Layers(values=False, gradients=False))
    assert [key for key in drawing.stage.cards if drawing.badge(key) is not None]


NESTED = """
net = nn.Sequential(nn.Sequential(nn.Linear(2, 3), nn.Tanh()), nn.Linear(3, 1))
loss = net(torch.ones(4, 2)).mean()
loss.backward()
"""


@pytest.mark.parametrize("mode", ["value", "time"])
@pytest.mark.parametrize("zoom", [0.49, 0.55, 0.62, 0.69, 1.0])
def test_no_badge_covers_the_name_of_a_frame(qapp, zoom, mode):
    tape, theme = record(NESTED), light()
    scene = scenes(tape)[0]
    picture = build_picture(tape, scene)
    stage = Stage(tape, picture, place(picture))
    drawing = GraphDrawing(stage, theme, Layers(), look_at(tape, picture, scene, scene.stop))
    drawing.set_zoom(zoom)
    drawing.set_coloring(mode)
    assert len(stage.frames) >= 3
    for key, box in stage.frame_boxes.items():

        def heading(paint, box=box, key=key):
            def moved(painter):
                painter.translate(-box.topLeft())
                paint(painter)

            size = (round(box.width() * zoom), round(stage.head_room[key] * zoom))
            return painted(moved, size, theme.canvas.name(), zoom)

        alone = heading(lambda p, key=key, box=box: drawing.paint_head(p, key, box, zoom))
        whole = heading(lambda p: drawing.paint(p, stage.bounds, zoom))
        ground = (theme.canvas.red(), theme.canvas.green(), theme.canvas.blue())
        letters = np.abs(alone - ground).max(axis=-1) > 90
        assert letters.any()
        assert np.abs(whole - alone)[letters].max() < 60


SKIPS = """
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.b = nn.Conv2d(n, n, 3, padding=1), nn.BatchNorm2d(n)
    def forward(self, x):
        return F.relu(self.b(self.a(x)) + x)
net = nn.Sequential(Block(3), nn.Sequential(Block(3), Block(3)))
loss = net(torch.randn(2, 3, 4, 4)).pow(2).mean()
loss.backward()
"""


@pytest.mark.parametrize("zoom", [0.5, 0.65, 1.0])
def test_labels_and_bubbles_leave_headings_cards_and_arrow_heads_in_sight(qapp, zoom):
    tape = record(SKIPS)
    scene = scenes(tape)[0]
    opened = frozenset[str]()
    for _ in range(4):
        cards = build_picture(tape, scene, opened).cards
        opened |= {card.key for card in cards if card.kind == "module"}
    picture = build_picture(tape, scene, opened)
    stage = Stage(tape, picture, place(picture))
    drawing = GraphDrawing(stage, light(), Layers(), look_at(tape, picture, scene, scene.stop))
    drawing.set_zoom(zoom)
    bubbles = {key: box for key in stage.cards if (box := drawing.bubble(key)) is not None}
    labels = drawing.labels
    assert labels
    assert len(stage.frames) > 6
    heads = [frames.head_box(box) for box in stage.frame_boxes.values()]
    inner = [box.adjusted(2, 2, -2, -2) for box in (*bubbles.values(), *_boxes(labels))]
    assert not [1 for box in inner for head in heads if box.intersects(head)]
    for key, label in labels.items():
        covered = [b for b in (*bubbles.values(), *stage.boxes.values()) if b.intersects(label.box)]
        areas = [b.intersected(label.box) for b in covered]
        share = sum(a.width() * a.height() for a in areas)
        assert share <= 0.12 * label.box.width() * label.box.height()
        x, y = stage.lines[key.removesuffix("#part")][-1]
        assert not label.box.contains(x, y - 3)


def _boxes(labels):
    return [label.box for label in labels.values()]


@pytest.mark.parametrize("zoom", [1.0, 0.55])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_order_and_visits_are_painted_over_the_upper_right_corner_with_their_layer(
    qapp, theme, zoom
):
    theme = Theme.load(theme)
    m, look = neuron()
    looks = Look(
        look.cards | {"n": CardLook(True, first_order=3, last_order=3, of=4, visits=1)}, {}
    )
    pictures = []
    for layers in (Layers(), Layers(order=True)):
        drawing = drawing_of((m, looks), theme, layers)
        drawing.set_zoom(zoom)
        area = drawing.card_area("n")

        def paint(painter, drawing=drawing, area=area):
            painter.translate(-area.topLeft())
            drawing.paint(painter, area, zoom)

        pictures.append(painted(paint, area.size() * zoom, zoom=zoom))
    changed = np.argwhere((pictures[0] != pictures[1]).any(axis=-1))
    box = bubbles.order_box(drawing.stage.boxes["n"], drawing.reading("n"), drawing.label_scale)
    spot = box.translated(-area.topLeft())
    assert len(changed) > 0.5 * box.width() * box.height() * zoom**2
    assert (changed.min(axis=0) / zoom >= [spot.top() - 2, spot.left() - 2]).all()
    assert (changed.max(axis=0) / zoom <= [spot.bottom() + 2, spot.right() + 2]).all()


def test_the_order_of_a_card_stands_apart_from_its_update_and_its_error_sign(qapp):
    box = QRectF(0, 0, 164, 58)
    order = bubbles.order_box(box, CardReading("reached", order="#3 · 1×", update="2.0 → 0.8"))
    assert not order.intersects(bubbles.update_box(box, "2.0 → 0.8"))
    order = bubbles.order_box(box, CardReading("reached", order="#3 · 1×", failed="RuntimeError"))
    assert not order.intersects(failed_card.sign_box(box))
