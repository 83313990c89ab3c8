"""The still layer, and what moves and lies above it."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.picture import CardLook, Look
from gradscribe.playback.layout.place import place
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.camera import Camera, fitting
from gradscribe.widgets.graph.paint import background, overlay
from gradscribe.widgets.graph.paint.card.cards import Layers
from gradscribe.widgets.graph.paint.card.sprites import SpriteCache
from gradscribe.widgets.graph.paint.layer import MARGIN, SCROLL_STEP, StaticLayer
from gradscribe.widgets.graph.paint.minimap import Minimap
from gradscribe.widgets.graph.paint.morph import Morph
from gradscribe.widgets.graph.paint.motion import Motion, active_wires
from gradscribe.widgets.graph.paint.stage import Stage
from tests.playback.drafts import Draft
from tests.widgets.pixels import drawing_of, near, painted
from tests.widgets.scenes import Maker, grid, network, neuron


@pytest.fixture(params=["light", "dark"])
def theme(request, qapp):
    return Theme.load(request.param)


@pytest.fixture
def light(qapp):
    return Theme.load("light")


def test_a_look_reports_the_areas_that_change_and_no_others(light):
    m, look = neuron()
    drawing = drawing_of((m, look), light)
    assert drawing.set_look(look) == []
    changed = Look(look.cards | {"b": CardLook()}, look.wires, look.line, look.phase)
    areas = drawing.set_look(changed)
    assert areas
    assert all(area.intersects(drawing.card_area("b")) for area in areas)


def test_painting_the_changed_areas_equals_painting_everything(theme):
    m, look = neuron()
    before = Look({key: CardLook() for key in look.cards}, {}, phase="forward")
    view, camera = QSizeF(700, 720), Camera(1.0, 20.0, 20.0)

    def shown(layer):
        return painted(lambda p: layer.draw(p, camera), (700, 720))

    stepped, fresh = StaticLayer(), StaticLayer()
    drawing = drawing_of((m, before), theme)
    stepped.render(drawing, camera, view, 1.0, False)
    stepped.refresh(drawing, drawing.set_look(look))
    assert stepped.valid
    fresh.render(drawing, camera, view, 1.0, False)
    difference = np.abs(shown(stepped) - shown(fresh)).max(axis=-1)
    assert (difference > 8).mean() < 0.0005


@pytest.mark.parametrize("way", [(60.0, 0.0), (0.0, -75.5), (-90.3, 51.0), (49.0, 49.0)])
def test_panning_strip_by_strip_shows_what_painting_anew_shows(light, way):
    drawing = drawing_of(neuron(), light)
    view, camera = QSizeF(300, 240), Camera(1.0, -180.0, -200.0)
    followed, fresh = StaticLayer(), StaticLayer()
    followed.render(drawing, camera, view, 1.0, False)
    for _ in range(9):
        camera = camera.moved(*way)
        followed.follow(drawing, camera)
        assert followed.covers(camera, view, 1.0)
    assert followed.renders == 1
    fresh.render(drawing, camera, view, 1.0, False)
    shown, wanted = (
        painted(lambda p, layer=layer: layer.draw(p, camera), (300, 240))
        for layer in (followed, fresh)
    )
    # What stood already stands on whole pixels: it may be half a pixel off.
    assert (np.abs(shown - wanted).max(axis=-1) > 60).mean() < (0.02 if way[1] % 1 else 0.0005)


def test_a_small_pan_paints_nothing(light, monkeypatch):
    layer, drawing = StaticLayer(), drawing_of(neuron(), light)
    layer.render(drawing, Camera(), QSizeF(300, 200), 1.0, False)
    layer.finish(drawing)
    monkeypatch.setattr(drawing, "steps", lambda *_: pytest.fail("painted"))
    layer.follow(drawing, Camera().moved(SCROLL_STEP - 1, 1 - SCROLL_STEP))


def test_what_is_out_of_sight_is_painted_afterwards_margin_by_margin(light, monkeypatch):
    layer, drawing, areas = StaticLayer(), drawing_of(neuron(), light), []
    steps = drawing.steps
    monkeypatch.setattr(
        drawing, "steps", lambda p, area, z: (areas.append(area), steps(p, area, z))[1]
    )
    layer.render(drawing, Camera(1.0, -180.0, -200.0), QSizeF(300, 240), 1.0, False)
    assert areas == [QRectF(180, 200, 300, 240)]
    while layer.go_on(drawing):
        assert layer.unfinished
    assert not layer.unfinished
    whole = QRectF(180, 200, 300, 240).adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
    assert sum(area.width() * area.height() for area in areas) == whole.width() * whole.height()
    assert all(whole.contains(area) for area in areas)
    assert len(areas) == 5


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("zoom", [1.0, 0.5])
def test_part_by_part_the_layer_is_what_painting_it_in_one_go_makes(light, zoom, stale):
    parts, whole = StaticLayer(), StaticLayer()
    for layer, inner in ((parts, QSizeF(260, 200)), (whole, QSizeF(740, 680))):
        drawing = drawing_of(neuron(), light)
        drawing.set_zoom(zoom)
        away = 0.0 if layer is parts else MARGIN
        layer.render(drawing, Camera(zoom, away - 120, away - 100), inner, 1.0, stale)
        layer.finish(drawing)
    shown = painted(lambda p: parts.draw(p, Camera(zoom, MARGIN - 120, MARGIN - 100)), (740, 680))
    wanted = painted(lambda p: whole.draw(p, Camera(zoom, MARGIN - 120, MARGIN - 100)), (740, 680))
    assert (np.abs(shown - wanted).max(axis=-1) > 8).mean() < 0.0005


def test_card_by_card_the_layer_is_what_painting_it_at_once_makes(light):
    view, camera, layers = QSizeF(700, 600), Camera(1.0, -100, -120), (StaticLayer(), StaticLayer())
    layers[0].render(drawing_of(neuron(), light), camera, view, 1.0, False)
    steps = layers[1].render_steps(drawing_of(neuron(), light), camera, view, 1.0, False)
    made = 0
    for _ in steps:
        made += 1
        assert layers[1].begun
        assert not layers[1].covers(camera, view, 1.0), "half a picture is none"
    assert made > len(neuron()[0].picture.cards)
    assert layers[1].covers(camera, view, 1.0)
    assert not layers[1].begun
    shown, wanted = (
        painted(lambda p, layer=layer: layer.draw(p, camera), (700, 600)) for layer in layers
    )
    assert (shown == wanted).all()


def test_boxes_far_apart_are_painted_one_by_one(light, monkeypatch):
    layer, drawing, areas = StaticLayer(), drawing_of(neuron(), light), []
    layer.render(drawing, Camera(), QSizeF(700, 720), 1.0, False)
    monkeypatch.setattr(drawing, "steps", lambda _p, area, _z: (areas.append(area), ())[1])
    layer.refresh(drawing, [QRectF(0, 0, 20, 20), QRectF(600, 600, 20, 20), QRectF(10, 10, 20, 20)])
    assert sorted((area.width(), area.height()) for area in areas) == [(20, 20), (30, 30)]


def test_a_long_wires_areas_hold_it_and_little_else(qapp):
    d = Draft()
    h = x = d.op("x")
    for k in range(20):
        h = d.op(f"f{k}", h, d.leaf(f"w{k}"))
    d.op("add", x, h)
    stage = Stage(Tape(), d.picture(), place(d.picture()))
    key = "x-add-0"
    areas = stage.wire_areas(key)
    for point in stage.lines[key]:
        assert any(area.contains(QPointF(*point)) for area in areas)
    whole = stage.wire_area(key)
    sizes = [area.width() * area.height() for area in areas]
    assert sum(sizes) < 0.7 * whole.width() * whole.height()


def test_the_layer_serves_pans_within_its_margin_and_no_zoom(light):
    layer, drawing = StaticLayer(), drawing_of(neuron(), light)
    view, camera = QSizeF(300, 200), Camera()
    assert not layer.covers(camera, view, 1.0)
    layer.render(drawing, camera, view, 1.0, False)
    assert layer.covers(camera.moved(MARGIN - 1, 1 - MARGIN), view, 1.0)
    assert not layer.covers(camera.moved(MARGIN + 1, 0), view, 1.0)
    assert not layer.covers(camera.zoomed(1.1, QPointF()), view, 1.0)
    assert not layer.covers(camera, view, 2.0)


def test_a_stale_layer_has_no_colour(theme):
    layer, drawing = StaticLayer(), drawing_of(neuron(), theme)
    layer.render(drawing, Camera(), QSizeF(600, 600), 1.0, True)
    pixels = painted(lambda p: layer.draw(p, Camera()), (600, 600))
    assert (pixels.max(axis=-1) - pixels.min(axis=-1)).max() == 0


def test_a_card_that_is_fresh_keeps_its_colours(theme):
    layer, drawing = StaticLayer(), drawing_of(neuron(), theme)
    layer.render(drawing, Camera(), QSizeF(600, 600), 1.0, stale=False)
    plain = painted(lambda p: layer.draw(p, Camera()), (600, 600)).astype(int)
    key = "s"
    drawing.fresh = frozenset({key})
    layer.valid = False
    layer.render(drawing, Camera(), QSizeF(600, 600), 1.0, stale=True)
    pixels = painted(lambda p: layer.draw(p, Camera()), (600, 600)).astype(int)
    box = drawing.stage.boxes[key].toRect().intersected(QRect(0, 0, 600, 600))
    inside = (slice(box.top(), box.bottom()), slice(box.left(), box.right()))
    assert (pixels[inside] == plain[inside]).all()
    spread = pixels.max(axis=-1) - pixels.min(axis=-1)
    spread[box.top() - 14 : box.bottom() + 14, box.left() - 14 : box.right() + 14] = 0
    assert spread.max() == 0


def test_sprites_are_kept_by_key_and_the_oldest_go_first(qapp):
    sprites, painted_keys = SpriteCache(budget=3 * 12 * 12 * 4), []

    def draw(p):
        for key in "abcda":
            sprites.draw(p, key, QRectF(0, 0, 10, 10), 1.0, lambda _, k=key: painted_keys.append(k))

    painted(draw)
    assert painted_keys == list("abcda")
    painted(lambda p: sprites.draw(p, "d", QRectF(0, 0, 10, 10), 1.0, painted_keys.append))
    assert len(painted_keys) == 5
    assert sprites.bytes <= 3 * 12 * 12 * 4
    sprites.clear()
    assert (len(sprites), sprites.bytes) == (0, 0)


def test_a_motion_runs_then_settles(light):
    drawing = drawing_of(neuron(), light)
    motion = Motion(drawing, Look({}, {}), 400)
    assert [motion.share(ms) for ms in (0, 200, 400)] == [0, 0.5, 1.0]
    assert motion.share(10_000) == 2
    assert Motion(drawing, Look({}, {}), 0).share(0) == 2
    assert dict(active_wires(drawing)) == {"s>n:0": True, "b>n:1": True}


def test_hiding_gradients_stops_their_tokens(light):
    drawing = drawing_of(neuron(), light, Layers(gradients=False))
    assert active_wires(drawing) == []
    assert drawing.labels == {}


def test_a_morph_is_worth_it_only_between_like_pictures_that_moved(light):
    one, same = drawing_of(neuron(), light), drawing_of(neuron(), light)
    assert not Morph.is_worthwhile(one, same)
    m, look = neuron()
    m.rects["b"] = m.rects["t"]
    moved = drawing_of((m, look), light)
    assert Morph.is_worthwhile(one, moved)
    assert not Morph.is_worthwhile(one, drawing_of(network(), light))
    big = grid(400)
    assert not Morph.is_worthwhile(*[drawing_of((big, big.reached()), light)] * 2)
    for share in (0.0, 0.5, 1.0):
        painted(lambda p, at=share: Morph(one, moved).paint(p, one.stage.bounds, 1, at, True))


def test_the_minimap_appears_when_something_is_out_of_sight(light):
    drawing = drawing_of(neuron(), light)
    bounds, view = drawing.stage.bounds, QSizeF(800, 800)
    assert not Minimap.is_needed(bounds, fitting(bounds, view), view)
    assert Minimap.is_needed(bounds, Camera(3.0), view)
    box = Minimap.box(bounds, view)
    assert box.bottom() < 800
    assert Minimap.to_scene(bounds, view, box.center()) == bounds.center()
    pixels = painted(lambda p: Minimap().paint(p, drawing, Camera(3.0), view), (800, 800))
    assert near(pixels, light.selection) > 20


def test_the_dots_move_with_the_picture(light):
    def dots(camera):
        view = QRectF(0, 0, 96, 96)
        return painted(lambda p: background.paint_dots(p, view, camera, light), (96, 96))

    still = dots(Camera())
    assert (dots(Camera(1, 24, 48)) == still).all()
    assert (np.roll(dots(Camera(1, 5, 0)), -5, axis=1)[:, :90] == still[:, :90]).all()
    assert (still != still[12, 12]).any()


@pytest.mark.parametrize("zoom", [0.02, 0.13, 0.7, 1.9, 4.0])
def test_dots_keep_a_calm_distance_at_any_zoom(light, zoom):
    view = QRectF(0, 0, 200, 200)
    pixels = painted(lambda p: background.paint_dots(p, view, Camera(zoom), light), view.size())
    rows = (pixels != pixels[3, 3]).any(axis=-1).any(axis=1)
    starts = np.flatnonzero(np.diff(rows.astype(int)) == 1)
    assert 16 <= np.diff(starts).mean() <= 36


def test_marks_ring_the_selected_card_and_light_the_wires_of_the_hovered(theme):
    drawing = drawing_of(neuron(), theme)
    canvas = theme.canvas.name()
    pixels = painted(
        lambda p: overlay.paint_marks(p, drawing, "d", "n", 1.0, QRectF(0, 0, 700, 700)),
        (700, 700),
        canvas,
    )
    assert near(pixels[290:370, 230:410], theme.selection) > 300
    assert near(pixels[460:520, 300:340], theme.selection) > 20
    nothing = painted(
        lambda p: overlay.paint_marks(p, drawing, "", "", 1.0, QRectF(0, 0, 700, 700)),
        (700, 700),
        canvas,
    )
    assert near(nothing, theme.selection) == 0


def test_a_module_that_opens_grows_out_of_its_card(light):
    closed, opened = Maker(), Maker()
    for m in (closed, opened):
        m.card("x", "data", "x", (600, 30), 1.0)
    closed.card("m", "module", "m: Net", (100, 120), None, (180, 72))
    opened.frame("m", "m", "Net", (10, 84, 400, 500))
    opened.card("inner", "op", "add", (200, 400), 1.0, frame="m")
    old, new = (drawing_of((m, m.reached()), light) for m in (closed, opened))
    morph = Morph(old, new, QPointF())
    area = QRectF(0, 0, 700, 700)
    begin = painted(lambda p: morph.paint(p, area, 1.0, 0.0, False), (700, 700))
    end = painted(lambda p: morph.paint(p, area, 1.0, 1.0, False), (700, 700))
    frame = QPointF(300, 500).toPoint()
    assert (begin[frame.y(), frame.x()] != end[frame.y(), frame.x()]).any()
    still = drawing_of((opened, opened.reached()), light)
    assert near(end, light.line_strong) == pytest.approx(
        near(painted(lambda p: still.paint(p, area, 1.0), (700, 700)), light.line_strong), abs=200
    )


def test_while_a_zoom_is_passing_no_pixmap_is_kept(light):
    drawing = drawing_of((grid(60, 6), grid(60, 6).reached()), light)
    layer, view = StaticLayer(), QSizeF(400, 300)
    layer.render(drawing, Camera(0.5), view, 1.0, stale=False)
    assert len(drawing.sprites) == 0
    layer.render(drawing, Camera(0.5, 5, 5), view, 1.0, stale=False)
    assert len(drawing.sprites) > 0
    assert not drawing.sprites.is_zooming


def test_a_card_whose_key_counts_on_stays_where_it_is(light):
    """One product more in front: the product that was the first is the second by its key."""

    def products(*places):
        m = Maker()
        for number, at in enumerate(places):
            m.card(f"op:mul:{number}", "op", "mul", at, 1.0)
        m.card("op:exp:0", "op", "exp", (120, 260), 1.0)
        m.card(f"op:mul:{len(places)}", "op", "mul", (120, 460), 1.0)
        return m

    old, new = products((120, 60)), products((620, 60), (120, 60))
    morph = Morph(*(drawing_of((m, m.reached()), light) for m in (old, new)))
    area = QRectF(0, 0, 800, 600)
    halfway = painted(lambda p: morph.paint(p, area, 1.0, 0.5, False), (800, 600))
    card, bare = QPointF(60, 60).toPoint(), QPointF(120, 160).toPoint()
    assert (halfway[card.y(), card.x()] != halfway[bare.y(), bare.x()]).any()
