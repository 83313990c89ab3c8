import math
import time

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent, QImage
from PySide6.QtWidgets import QApplication

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph import description
from gradscribe.playback.graph.coloring import ColorLegend, Tint
from gradscribe.playback.graph.picture import CardLook, Look
from gradscribe.playback.layout import place
from gradscribe.widgets.base import motion
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.camera import MAX_FIT_ZOOM, Camera
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.picture_menu import save_picture
from tests.playback.drafts import Draft
from tests.widgets.graph_window import at, click, press, show
from tests.widgets.scenes import Maker, grid, network, neuron


def test_a_first_picture_is_seen_whole_and_not_too_large(view):
    show(view, neuron())
    seen = QRectF(view.rect())
    assert seen.contains(view.camera().box_to_view(view.stage().bounds))
    m = Maker()
    m.card("a", "op", "add", (0, 0), 1.0)
    show(view, (m, m.reached()))
    assert view.camera().zoom == MAX_FIT_ZOOM


def test_a_large_picture_begins_readable_at_its_loss(view):
    m = grid(200, 10)
    m.card("loss", "loss", "mean", (82, 29 + 20 * 106), 1.0)
    show(view, (m, m.reached()))
    assert view.camera().zoom > 0.7
    assert QRectF(view.rect()).contains(view.camera().box_to_view(view.stage().boxes["loss"]))
    view.fit()
    assert QRectF(view.rect()).contains(view.camera().box_to_view(view.stage().bounds))


def test_a_like_picture_keeps_the_view_and_the_selection(view):
    show(view, neuron())
    view.set_camera(Camera(0.9, -12.0, 34.0))
    view.select("n")
    m, look = neuron()
    m.card("new", "op", "exp", (600, 600), 2.0)
    show(view, (m, look))
    assert view.camera() == Camera(0.9, -12.0, 34.0)
    assert view.selected() == "n"


def test_a_picture_that_flows_another_way_is_seen_whole_again(view):
    d = Draft()
    for k in range(5):
        d.op(f"c{k}", *([f"c{k - 1}"] if k else []))
    down, right = (place.place(d.picture(), flow) for flow in ("down", "right"))
    view.set_scene(Tape(), d.picture(), down)
    view.set_camera(Camera(3.0, -1200.0, 34.0))
    view.select("c2")
    view.set_scene(Tape(), d.picture(), right)
    view.finish_motion()
    assert view.selected() == "c2"
    assert QRectF(view.rect()).contains(view.camera().box_to_view(view.stage().bounds))


def test_another_picture_is_fitted_and_forgets_the_selection(view):
    show(view, neuron())
    view.set_camera(Camera(3.0, -1200.0, 34.0))
    view.select("n")
    show(view, network())
    assert view.selected() == ""
    assert QRectF(view.rect()).contains(view.camera().box_to_view(view.stage().bounds))


def test_the_whole_stays_in_sight_when_the_window_shrinks(view):
    show(view, neuron())
    view.resize(400, 300)
    assert QRectF(view.rect()).contains(view.camera().box_to_view(view.stage().bounds))


def test_a_view_that_began_in_part_is_readable_in_every_size(view):
    m = grid(60, 3)
    show(view, (m, m.reached()))
    size, before = view.size(), view.camera()
    assert not view.shows_whole
    view.resize(3000, 3000)
    assert view.shows_whole
    view.resize(size)
    assert view.camera() == before


def test_the_whole_that_was_asked_for_stays_when_the_program_changes_or_the_window(view):
    m = grid(200, 10)
    show(view, (m, m.reached()))
    view.fit()
    view.resize(700, 500)
    assert view.shows_whole
    m.card("new", "op", "exp", (700, 2200), 2.0)
    show(view, (m, m.reached()))
    assert view.shows_whole
    view.finish_motion()
    assert QRectF(view.rect()).contains(view.camera().box_to_view(view.stage().bounds))


def test_a_module_that_opens_by_itself_leaves_the_view_fitted(view):
    closed, opened = Maker(), Maker()
    for m in (closed, opened):
        m.card("x", "data", "x", (100, 0), 1.0)
    closed.card("m", "module", "m: Net", (100, 120), None, (180, 72))
    opened.frame("m", "m", "Net", (60, 200, 400, 900))
    show(view, (closed, closed.reached()))
    stage = Stage(opened.tape, opened.picture, opened.placement)
    view.set_stage(stage, by_hand=False)
    view.set_look(opened.reached())
    view.finish_motion()
    assert QRectF(view.rect()).contains(view.camera().box_to_view(view.stage().bounds))
    view.resize(view.width() // 2, view.height())
    assert QRectF(view.rect()).contains(view.camera().box_to_view(view.stage().bounds))


def test_selecting_something_unknown_selects_nothing(view):
    show(view, neuron())
    view.select("n")
    view.select("no such card")
    assert view.selected() == ""
    view.select(None)
    assert view.selected() == ""


def test_the_selected_card_is_told_in_words(view):
    show(view, neuron())
    assert view.accessibleName() == "Computation graph"
    assert "13 cards" in view.accessibleDescription()
    view.select("n")
    told = view.accessibleDescription()
    for words in ("operation add", "named n", "value 0.8814", "gradient 0.2071", "from s and b"):
        assert words in told
    view.select("b>n:1")
    assert "from b to n" in view.accessibleDescription()
    view.set_look(Look({}, {}))
    view.select("n")
    assert "not reached yet" in view.accessibleDescription()


def test_words_tell_what_colours_and_dashes_do(view):
    m = Maker()
    m.card("v", "parameter", "v", (0, 0), [1.0, math.nan], mark="view of a")
    m.card("d", "op", "detach", (0, 100), [1.0, 2.0], cut=True)
    key = m.wire("v", "d", shape="2", dashed=True)
    show(view, (m, m.reached()))
    assert "holds 1 NaN" in view.words("v")
    assert "view of a" in view.words("v")
    assert "no gradient passes" in view.words("d")
    assert "no gradient comes back" in view.words(key)
    assert description.describe_card(m.cards[1], _waiting(), []).startswith("operation detach")


def _waiting():
    from gradscribe.playback.graph.reading import CardReading

    return CardReading("waiting")


def test_without_motion_a_position_is_there_at_once(view):
    m, look = neuron()
    view.set_scene(m.tape, m.picture, m.placement)
    view.set_look(look, 5000)
    assert not view._animation.ticks.isActive()
    assert view.look() == look


def test_nothing_moves_where_the_user_asked_for_reduced_motion(view):
    m, look = neuron()
    show(view, (m, look))
    view.set_look(Look({key: CardLook() for key in look.cards}, {}))
    view.set_reduced_motion(False)
    motion.set_reduced(True)
    try:
        view.set_look(look, 60)
        assert not view._animation.ticks.isActive()
        view.zoom_by(3)
        view.fit()
        assert view._animation.flight is None
    finally:
        motion.set_reduced(False)


def test_a_motion_ends_by_itself_and_leaves_what_a_jump_shows(view, qtbot):
    m, look = neuron()
    show(view, (m, look))
    jumped = view.grab().toImage()
    view.set_look(Look({key: CardLook() for key in look.cards}, {}))
    view.set_reduced_motion(False)
    view.set_look(look, 60)
    assert view._animation.ticks.isActive()
    qtbot.waitUntil(lambda: not view._animation.ticks.isActive())
    assert view.grab().toImage() == jumped


def test_a_step_in_the_middle_of_a_motion_is_no_harm(view):
    m, look = neuron()
    show(view, (m, look))
    jumped = view.grab().toImage()
    view.set_reduced_motion(False)
    view.set_look(Look({}, {}), 5000)
    view.grab()
    view.set_look(look, 5000)
    view.grab()
    view.set_look(Look({}, {}), 5000)
    view.finish_motion()
    view.set_look(look)
    assert view.grab().toImage() == jumped


def test_a_new_picture_in_the_middle_of_a_motion_is_no_harm(view, qtbot):
    m, look = neuron()
    show(view, (m, look))
    view.set_reduced_motion(False)
    view.set_look(Look({}, {}), 5000)
    m, look = neuron()
    m.rects["t"] = m.rects["b"]
    show(view, (m, look))
    view.grab()
    qtbot.waitUntil(lambda: not view._animation.ticks.isActive())
    view.grab()


def test_fitting_glides_and_arrives(view, qtbot):
    show(view, neuron())
    there = view.camera()
    view.set_camera(Camera(2.0, 0, 0))
    view.set_reduced_motion(False)
    view.fit()
    assert view.camera() != there
    qtbot.waitUntil(lambda: not view._animation.ticks.isActive())
    assert view.camera() == there


def test_a_stale_picture_is_grey_and_says_so(view):
    show(view, neuron())
    fresh = view.grab().toImage()
    view.set_stale(True)
    stale = view.grab().toImage()
    assert view.canvas.stale
    where = at(view, "w1", dx=-40)
    assert fresh.pixelColor(where).saturation() > 10
    assert stale.pixelColor(where).saturation() == 0
    view.set_stale(False)
    assert view.grab().toImage() == fresh


def test_layers_hide_what_they_name(view):
    show(view, neuron())
    shown = view.grab().toImage()
    for layers in ((False, True, True), (True, False, True)):
        view.set_layers(*layers)
        assert view.grab().toImage() != shown
    view.set_layers(True, True, True)
    assert view.grab().toImage() == shown


def test_another_look_is_painted_in_a_turn_before_the_window_is(view):
    show(view, neuron())
    view.grab()
    renders = view.canvas.layer.renders
    view.set_theme(Theme.load("dark").scaled(1.2))
    view.resize(view.width() - 30, view.height() - 20)
    assert view.canvas.layer.renders == renders
    view.prepare()
    assert view.canvas.layer.renders == renders + 1
    beforehand = view.grab().toImage()
    assert view.canvas.layer.renders == renders + 1
    view.set_theme(Theme.load("dark").scaled(1.2))
    view.prepare()
    assert view.grab().toImage() == beforehand


def test_of_a_graph_that_nobody_sees_no_other_look_is_painted(view):
    show(view, neuron())
    view.hide()
    renders = view.canvas.layer.renders
    view.set_theme(Theme.load("dark"))
    view.prepare()
    assert view.canvas.layer.renders == renders


def test_being_told_of_the_same_layers_paints_nothing_anew(view):
    show(view, neuron())
    view.set_layers(True, False, True)
    shown = view.grab().toImage()
    renders, kept = view.canvas.layer.renders, len(view.canvas.drawing.sprites)
    assert kept
    view.set_layers(True, False, True)
    assert len(view.canvas.drawing.sprites) == kept
    assert view.grab().toImage() == shown
    assert view.canvas.layer.renders == renders


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_ground_follows_the_theme(view, name):
    theme = Theme.load(name)
    view.set_theme(theme)
    show(view, network())
    assert view.grab().toImage().pixelColor(60, 5) == theme.canvas


def test_no_picture_at_all_is_an_empty_canvas(view):
    assert not view.grab().isNull()
    view.fit()
    press(view, Qt.Key.Key_Up)
    click(view, QPoint(100, 100))
    assert view.selected() == ""


def test_a_tiny_window_is_painted_all_the_same(view):
    show(view, neuron())
    view.resize(1, 1)
    view.grab()


def test_an_opened_module_keeps_its_corner_where_it_was(view):
    closed, opened = Maker(), Maker()
    for m in (closed, opened):
        m.card("x", "data", "x", (100, 0), 1.0)
    closed.card("m", "module", "m: Net", (100, 120), None, (180, 72))
    opened.frame("m", "m", "Net", (60, 200, 400, 500))
    show(view, (closed, closed.reached()))
    before = view.camera().to_view(view.stage().boxes["m"].topLeft())
    show(view, (opened, opened.reached()))
    after = view.camera().to_view(view.stage().frame_boxes["m"].topLeft())
    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()))
    show(view, (closed, closed.reached()))
    again = view.camera().to_view(view.stage().boxes["m"].topLeft())
    assert (again.x(), again.y()) == pytest.approx((before.x(), before.y()))


def test_where_a_part_is_seen_the_view_follows_until_one_moves_it(view):
    m = grid(400, 10)
    show(view, (m, m.reached()))
    active = CardLook(reached=True, active="forward")
    seen = QRectF(view.rect())
    for key in ("c0", "c399"):
        view.set_look(m.reached(**{key: active}))
        assert seen.contains(view.camera().box_to_view(view.stage().boxes[key]))
    view.set_camera(Camera(1.0, 0, 0))
    view.set_look(m.reached(c200=active))
    assert view.camera() == Camera(1.0, 0, 0)


def test_thousands_of_cards_take_a_new_look_sooner_than_they_are_placed(view):
    m = grid(4000, 4)

    def spent(on):
        started = time.thread_time()
        on()
        return time.thread_time() - started

    def look_again():
        view.set_look(Look({}, {}))
        view.set_look(m.reached())

    placed = spent(lambda: show(view, (m, m.reached())))
    view.grab()
    assert min(spent(look_again) for _ in range(3)) < placed


def test_bigger_text_brings_a_fitted_picture_nearer_and_leaves_a_chosen_view(view):
    show(view, neuron())
    view.resize(2400, 2200)
    before = view.camera().zoom
    view.set_theme(Theme.load("light").scaled(1.5))
    assert view.camera().zoom == pytest.approx(1.5 * before)
    mine = Camera(0.8, 10, 20)
    view.set_camera(mine)
    view.set_theme(Theme.load("light"))
    assert view.camera() == mine


class Marked:
    """Marks one card."""

    def tint(self, card, look):
        return Tint("here", "groups", alarm=True) if card.key == "n" and look else None

    def key(self):
        return ColorLegend("Marks", "groups", groups=("here",))


def test_marks_stand_in_place_of_a_mode_and_go_again(view):
    show(view, neuron())
    usual = view.grab().toImage()
    view.set_marks(Marked())
    assert view.color_key().title == "Marks"
    assert view.grab().toImage() != usual
    view.set_marks(None)
    assert view.color_key() is None
    assert view.grab().toImage() == usual


def test_a_badge_stays_above_the_ring_of_the_selection(view):
    show(view, neuron())
    view.set_marks(Marked())
    view.set_camera(Camera(1.0, 0, 0))
    badge = view.canvas.drawing.badge("n")
    middle = badge.adjusted(8, 4, -8, -4).toRect()
    before = view.grab(middle).toImage()
    view.select("n")
    assert view.grab(middle).toImage() == before
    assert view.canvas.drawing.badge("o") is None


@pytest.mark.parametrize("zoom", [0.1, 0.3, 0.55, 1.0])
def test_a_colour_mode_is_seen_at_every_distance_and_goes_again(view, zoom):
    show(view, neuron())
    view.set_camera(Camera(zoom, 0, 0))
    usual = view.grab().toImage()
    assert view.color_key() is None
    view.set_coloring("value")
    assert view.color_key().title == "Value"
    valued = view.grab().toImage()
    view.set_coloring("gradient")
    assert usual != valued != view.grab().toImage() != usual
    view.set_coloring("")
    assert view.grab().toImage() == usual


def test_another_picture_keeps_the_colour_mode(view):
    show(view, neuron())
    view.set_coloring("dtype")
    show(view, neuron())
    assert view.color_key().groups == ("float32",)


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_where_nobody_composes_a_menu_a_right_click_picks_nothing(view):
    show(view, neuron())
    key = next(iter(view.stage().cards))
    at = view.camera().box_to_view(view.stage().boxes[key]).center().toPoint()
    seen = []
    view.picked.connect(seen.append)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, view.mapToGlobal(at))
    QApplication.sendEvent(view, event)
    menu = QApplication.activePopupWidget()
    titles = ["Fit the graph", "Copy the picture", "Save the picture as PNG…"]
    assert [action.text() for action in menu.actions()] == titles
    menu.close()
    assert seen == []
    view.menu_requested.connect(lambda kind, _at: seen.append(kind))
    QApplication.sendEvent(view, event)
    assert seen == [key, "card"]


def test_a_menu_of_its_own_picks_nothing_where_a_pick_would_act(view):
    show(view, neuron())
    view.picks_for_menu = False
    key = next(iter(view.stage().cards))
    at = view.camera().box_to_view(view.stage().boxes[key]).center().toPoint()
    seen = []
    view.picked.connect(seen.append)
    view.menu_requested.connect(lambda kind, _at: seen.append(kind))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, view.mapToGlobal(at))
    QApplication.sendEvent(view, event)
    assert seen == ["card"]
    assert (view.selected(), view.menu_key) == (key, key)


def test_the_picture_in_view_is_written_whole_or_not_at_all(view, tmp_path):
    show(view, neuron())
    assert save_picture(view, str(tmp_path / "graph.png")) == ""
    assert QImage(str(tmp_path / "graph.png")).size() == view.size()
    assert "nowhere" in save_picture(view, str(tmp_path / "nowhere" / "graph.png"))
