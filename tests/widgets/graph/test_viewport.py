import pytest
from PySide6.QtCore import QRectF, QSizeF

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.picture import CardLook, Look
from gradscribe.playback.layout import place
from gradscribe.widgets.graph import viewport
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint.minimap import Minimap
from gradscribe.widgets.graph.paint.stage import Stage
from tests.playback.drafts import Draft
from tests.widgets.scenes import Maker, grid, network, neuron

VIEW = QSizeF(810, 730)


@pytest.fixture(autouse=True)
def _fonts(qapp):
    """Fonts need an application."""


def staged(m):
    return Stage(m.tape, m.picture, m.placement)


def test_what_can_be_read_whole_is_shown_whole():
    stage = staged(neuron()[0])
    camera, part = viewport.first_view(stage, VIEW)
    assert not part
    assert QRectF(0, 0, 810, 730).contains(camera.box_to_view(stage.bounds))


def test_what_would_be_too_small_is_shown_in_part_and_followed():
    m = grid(400, 10)
    m.card("loss", "loss", "mean", (82, 60 + 40 * 106), 1.0)
    stage = staged(m)
    camera, part = viewport.first_view(stage, VIEW)
    assert part
    assert camera.zoom == viewport.CLOSE_ZOOM
    assert QRectF(0, 0, 810, 730).contains(camera.box_to_view(stage.boxes["loss"]))


def test_a_long_picture_that_flows_to_the_right_is_first_seen_at_its_right_end():
    d = Draft()
    for k in range(30):
        d.op(f"c{k}", *([f"c{k - 1}"] if k else []))
    stage = Stage(Tape(), d.picture(), place.place(d.picture(), "right"))
    assert not stage.flows_down
    camera, part = viewport.first_view(stage, VIEW)
    assert part
    seen = camera.box_to_view(stage.boxes["c29"])
    assert QRectF(0, 0, 810, 730).contains(seen)
    assert seen.right() > 0.8 * 810


def test_the_view_goes_where_something_happens_and_stays_where_it_is_seen():
    stage, near = staged(grid(400, 10)), Camera(0.85, 0, 0)
    far = Look({"c399": CardLook(reached=True, active="forward")}, {})
    found = viewport.following_view(stage, far, near, VIEW)
    assert found is not None
    assert QRectF(0, 0, 810, 730).contains(found.box_to_view(stage.boxes["c399"]))
    assert viewport.following_view(stage, far, found, VIEW) is None
    assert viewport.following_view(stage, Look({}, {}), near, VIEW) is None


@pytest.mark.parametrize("key", ["c0", "c9", "c190", "c390", "c399"])
def test_the_view_that_follows_looks_little_past_the_picture(key):
    stage = staged(grid(400, 10))
    for corner in (Camera(0.85, 5000, 5000), Camera(0.85, -9000, -9000)):
        found = viewport.following_view(
            stage, Look({key: CardLook(active="forward")}, {}), corner, VIEW
        )
        seen = found.box_to_view(stage.bounds)
        assert QRectF(0, 0, 810, 730).contains(found.box_to_view(stage.boxes[key]))
        assert max(seen.left(), seen.top()) <= 65
        assert min(seen.right() - 810, seen.bottom() - 730) >= -65


def test_one_opened_module_is_known_with_how_far_its_corner_moved():
    closed, opened = Maker(), Maker()
    closed.card("m", "module", "m", (100, 100), None, (180, 72))
    opened.frame("m", "m", "Net", (50, 90, 400, 300))
    old, new = staged(closed), staged(opened)
    there = viewport.toggle_shift(old, new)
    assert (there.x(), there.y()) == (50 - 10, 90 - 64)
    back = viewport.toggle_shift(new, old)
    assert back == -there


def test_pictures_without_a_toggle_hold_nothing():
    stage = staged(network()[0])
    assert viewport.toggle_shift(stage, stage) is None


def test_no_picture_at_all_has_a_view_too():
    camera, part = viewport.first_view(staged(Maker()), VIEW)
    assert not part
    assert camera.zoom > 0


def test_room_for_the_path_is_kept_above_a_picture_with_modules():
    with_module = staged(network()[0])
    assert with_module.frames
    camera = viewport.whole_view(with_module, VIEW)
    assert camera.box_to_view(with_module.bounds).top() >= viewport.PATH_HEIGHT
    assert QRectF(0, 0, 810, 730).contains(camera.box_to_view(with_module.bounds))


def test_around_a_card_stand_those_it_is_joined_to():
    stage = staged(neuron()[0])
    box = viewport.surrounding_box(stage, "s")
    for key in ("s", "u", "v", "n"):
        assert box.contains(stage.boxes[key])
    assert not box.contains(stage.boxes["x1"])
    wire = next(key for key, wire in stage.wires.items() if wire.source == "o")
    both = viewport.surrounding_box(stage, wire)
    assert both.contains(stage.boxes["o"])
    assert both.contains(stage.boxes["d"])


def test_around_a_frame_is_all_of_it_and_around_nothing_nothing():
    stage = staged(network()[0])
    key = stage.frame_order[0]
    assert viewport.surrounding_box(stage, key) == stage.frame_boxes[key]
    assert viewport.surrounding_box(stage, "no such card").isEmpty()


def test_with_bigger_text_the_same_picture_is_seen_nearer():
    stage = staged(neuron()[0])
    wide = QSizeF(4000, 4000)
    assert viewport.whole_view(stage, wide, 2.0).zoom == 2 * viewport.whole_view(stage, wide).zoom
    fits = viewport.whole_view(stage, VIEW).zoom
    assert viewport.READABLE_ZOOM <= fits < 2.5 * viewport.READABLE_ZOOM
    camera, part = viewport.first_view(stage, VIEW, 2.5)
    assert part
    assert camera.zoom == 2.5 * viewport.CLOSE_ZOOM


def test_the_path_has_room_above_a_picture_too_small_to_read():
    m = network()[0]
    m.card("far", "op", "add", (100, 6000), 1.0)
    stage = staged(m)
    camera = viewport.whole_view(stage, VIEW)
    assert camera.zoom < viewport.READABLE_ZOOM
    assert camera.box_to_view(stage.bounds).top() >= viewport.PATH_HEIGHT


def test_a_low_wide_picture_stands_in_the_middle_and_fills_the_width():
    m = Maker()
    for k in range(8):
        m.card(f"c{k}", "op", "add", (100 + 220 * k, 60), 1.0)
    stage = staged(m)
    camera, part = viewport.first_view(stage, VIEW)
    assert part
    for key in ("c0", "c4", "c7"):
        seen = camera.box_to_view(stage.bounds)
        assert seen.center().y() == pytest.approx(365)
        assert min(seen.right() - 810, -seen.left()) >= -65
        happens = Look({key: CardLook(reached=True, active="forward")}, {})
        camera = viewport.following_view(stage, happens, camera, VIEW) or camera
        assert QRectF(0, 0, 810, 730).contains(camera.box_to_view(stage.boxes[key]))


@pytest.mark.parametrize("height", [330, 365, 427, 500])
def test_no_card_of_a_small_picture_stands_below_the_buttons(height):
    m = Maker()
    m.card("w", "parameter", "w", (82, 20), 1.0)
    for n in range(3):
        m.card(f"c{n}", "op", "mul", (82, 100 + 100 * n), 1.0)
    view = QSizeF(300, height)
    stage = staged(m)
    camera = viewport.whole_view(stage, view)
    left, top = view.width() - viewport.TOOLS_SIZE[0], height - viewport.TOOLS_SIZE[1]
    tools = QRectF(left, top, *viewport.TOOLS_SIZE)
    for box in stage.boxes.values():
        shown = camera.box_to_view(box.adjusted(0, 0, 12, 15))
        assert not shown.intersects(tools)
        assert shown.top() >= 0


@pytest.mark.parametrize("width", [430, 460, 520])
def test_the_map_in_the_corner_does_not_cover_what_one_looks_at_first(width):
    m = Maker()
    m.card("x", "data", "x", (140, 20), 1.0)
    for n in range(12):
        m.card(f"c{n}", "op", "mul", (140, 100 + 100 * n), 1.0)
    m.card("loss", "loss", "mean", (140, 1400), 1.0, size=(280, 87))
    view, stage = QSizeF(width, 420), staged(m)
    camera, part = viewport.first_view(stage, view)
    assert part
    assert Minimap.is_needed(stage.bounds, camera, view)
    shown = camera.box_to_view(stage.boxes["loss"])
    assert not shown.intersects(Minimap.box(stage.bounds, view))
    assert shown.right() <= width


def test_the_key_of_a_colour_mode_covers_no_card_of_a_picture_shown_whole():
    stage = staged(neuron()[0])
    for view in (QSizeF(810, 730), QSizeF(1300, 900), QSizeF(720, 840)):
        for key in (QSizeF(260, 100), QSizeF(200, 60)):
            camera = viewport.whole_view(stage, view, 1.0, key)
            corner = QRectF(view.width() - key.width(), 0, key.width(), key.height())
            for box in stage.boxes.values():
                shown = camera.box_to_view(box)
                assert not shown.intersects(corner)
                assert QRectF(0, 0, view.width(), view.height()).contains(shown)


def test_a_picture_beside_the_key_moves_aside_rather_than_shrink():
    m = Maker()
    for n in range(8):
        m.card(f"c{n}", "op", "mul", (100, 60 + 90 * n), 1.0)
    stage, view = staged(m), QSizeF(460, 700)
    plain = viewport.whole_view(stage, view)
    beside = viewport.whole_view(stage, view, 1.0, QSizeF(200, 80))
    assert beside.zoom == plain.zoom
    assert beside.x < plain.x
    assert beside.box_to_view(stage.boxes["c0"]).right() <= 260


def test_for_the_key_nothing_becomes_too_small_to_be_read():
    stage = staged(neuron()[0])
    view = QSizeF(stage.bounds.width() * 0.66, stage.bounds.height() * 0.66)
    plain = viewport.whole_view(stage, view)
    assert plain.zoom >= viewport.READABLE_ZOOM
    keyed = viewport.whole_view(stage, view, 1.0, QSizeF(250, 150))
    assert keyed.zoom >= viewport.READABLE_ZOOM


def test_a_key_over_the_empty_ground_changes_nothing():
    stage, view = staged(neuron()[0]), QSizeF(2200, 800)
    keyed = viewport.whole_view(stage, view, 1.0, QSizeF(200, 60))
    assert keyed == viewport.whole_view(stage, view)


def test_cards_out_of_sight_are_brought_into_view_and_those_in_sight_move_nothing():
    stage = staged(neuron()[0])
    keys = list(stage.boxes)
    near = Camera(1.5, -900.0, -900.0)
    found = viewport.view_of(stage, keys, near, VIEW)
    seen = QRectF(0, 0, VIEW.width(), VIEW.height())
    assert all(seen.contains(found.box_to_view(stage.boxes[key])) for key in keys)
    assert found.zoom <= near.zoom
    assert viewport.view_of(stage, keys, found, VIEW) is None
    assert viewport.view_of(stage, [], near, VIEW) is None
    assert viewport.view_of(stage, ["nothing"], near, VIEW) is None
    single = viewport.view_of(stage, keys[:1], near, VIEW)
    assert single.zoom == near.zoom
    assert seen.contains(single.box_to_view(stage.boxes[keys[0]]))
