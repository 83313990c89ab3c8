"""The camera follows what plays, and gives way to the user's hand."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtTest import QTest

from gradscribe.playback.graph.picture import CardLook, Look, WireLook
from gradscribe.widgets.graph.following import CameraFollower
from tests.widgets.graph_window import press, show, wheel
from tests.widgets.scenes import Maker, grid, neuron

COLUMNS = 10


def playing(key, *wires):
    """The look at which a card is active, and what runs along some wires into it."""
    cards = {key: CardLook(reached=True, active="forward")}
    return Look(cards, {wire: WireLook(active="forward") for wire in wires})


def sees(view, key):
    return QRectF(view.rect()).contains(view.camera().box_to_view(view.stage().boxes[key]))


def drag(view, by):
    start = QPoint(400, 300)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view, start + by / 2)
    QTest.mouseMove(view, start + by)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start + by)


@pytest.fixture
def large(view):
    """A view that follows, with 400 cards of which it shows some, at the first of them."""
    show(view, (grid(400, COLUMNS), playing("c399")))
    view.set_following("on")
    view.set_look(playing("c0"))
    assert sees(view, "c0")
    assert not sees(view, "c399")
    return view


def test_what_plays_is_in_view_at_every_event(large):
    for n in range(0, 400, 7):
        large.set_look(playing(f"c{n}"))
        assert sees(large, f"c{n}")


def test_zoomed_in_by_hand_it_still_follows_at_that_zoom(large):
    wheel(large, QPoint(300, 300), QPoint(0, 240), Qt.KeyboardModifier.ControlModifier)
    press(large, Qt.Key.Key_Plus)
    near = large.camera().zoom
    assert near > 1.0
    large.set_look(playing("c399"))
    assert sees(large, "c399")
    assert large.camera().zoom == near


def test_what_is_in_view_moves_nothing(large):
    large.set_look(playing("c11"))
    before = large.camera()
    large.set_look(playing("c12"))
    assert large.camera() == before


def test_a_graph_that_is_wholly_in_view_is_never_moved(view):
    m = Maker()
    m.card("a", "op", "exp", (80, 30), 1.0)
    m.card("b", "op", "exp", (80, 130), 1.0)
    show(view, (m, playing("a")))
    view.set_following("on")
    view.fit()
    # The card at the rim is nearer to it than a camera that follows would bring it.
    view.set_camera(view.camera().zoomed(0.9, QPointF(0, 0)))
    before = view.camera()
    for key in ("b", "a"):
        view.set_look(playing(key))
        assert view.camera() == before


@pytest.mark.parametrize("hand", ["drag", "wheel", "map"])
def test_a_move_by_hand_pauses_it_until_it_is_asked_again(large, hand):
    if hand == "drag":
        drag(large, QPoint(-300, -200))
    elif hand == "wheel":
        wheel(large, QPoint(300, 300), QPoint(0, -240))
    else:
        middle = large.canvas.minimap.box(large.stage().bounds, large.canvas.size).center()
        assert large.canvas.has_map()
        QTest.mouseClick(large, Qt.MouseButton.LeftButton, pos=middle.toPoint())
    before = large.camera()
    large.set_look(playing("c399"))
    assert large.camera() == before
    assert not large.follows
    large.follow_on()
    assert large.follows
    assert sees(large, "c399")
    large.set_look(playing("c0"))
    assert sees(large, "c0")


def test_it_is_offered_only_where_what_plays_is_out_of_view(large):
    changes = []
    large.following_changed.connect(lambda: changes.append(large.can_follow_on))
    drag(large, QPoint(-20, -10))
    assert not large.can_follow_on
    large.set_look(playing("c399"))
    assert large.can_follow_on
    assert changes[-1]
    large.follow_on()
    assert not large.can_follow_on
    assert not changes[-1]


def test_a_drag_wins_over_a_flight(large):
    large.set_reduced_motion(False)
    large.set_look(playing("c399"))
    assert large._animation.flight is not None
    drag(large, QPoint(40, 30))
    assert large._animation.flight is None
    before = large.camera()
    large.set_look(playing("c200"))
    assert large.camera() == before
    assert large._animation.flight is None


def test_the_camera_glides_there(large, qtbot):
    large.set_reduced_motion(False)
    before = large.camera()
    large.set_look(playing("c399"))
    assert large.camera() == before
    seen = []
    large.camera_changed.connect(lambda: seen.append(large.camera().y))
    qtbot.waitUntil(lambda: large._animation.flight is None)
    assert sees(large, "c399")
    assert seen == sorted(seen, reverse=True)


def test_switched_off_it_stays_where_it_is(large):
    large.set_following("off")
    before = large.camera()
    large.set_look(playing("c399"))
    assert large.camera() == before
    assert not large.can_follow_on
    large.follow_on()
    assert large.camera() == before
    large.set_following("on")
    assert sees(large, "c399")


def test_looking_at_a_card_on_purpose_pauses_it(large):
    large.center_on("c205")
    before = large.camera()
    large.set_look(playing("c399"))
    assert large.camera() == before


def test_a_new_picture_is_followed_again(large):
    drag(large, QPoint(-300, -200))
    show(large, neuron())
    show(large, (grid(400, COLUMNS), playing("c0")))
    assert large.follows
    large.set_look(playing("c399"))
    assert sees(large, "c399")


def test_the_same_picture_with_other_numbers_stays_paused(large):
    drag(large, QPoint(-300, -200))
    before = large.camera()
    show(large, (grid(410, COLUMNS), playing("c0")))
    large.set_look(playing("c409"))
    assert large.camera() == before


def test_where_values_come_from_is_in_view_if_it_fits(large):
    into = large.stage().into["c305"]
    sources = [large.stage().wires[wire].source for wire in into]
    assert sources
    large.set_look(playing("c305", *into))
    assert sees(large, "c305")
    assert all(sees(large, source) for source in sources)


def test_at_a_least_zoom_a_large_graph_is_shown_in_part_and_a_small_one_grows(view):
    m = Maker()
    m.card("a", "op", "exp", (80, 30), 1.0)
    show(view, (m, playing("a")))
    view.set_following("on")
    view.set_least_zoom(2.0)
    assert view.camera().zoom >= 2.0
    show(view, (grid(400, COLUMNS), playing("c399")))
    view.set_look(playing("c0"))
    assert view.camera().zoom == 2.0
    assert sees(view, "c0")
    view.resize(500, 400)
    assert view.camera().zoom == 2.0
    assert sees(view, "c0")


def test_the_whole_can_be_seen_on_request_and_is_left_at_the_next_play(large):
    large.set_least_zoom(2.0)
    large.fit()
    assert sees(large, "c0")
    assert sees(large, "c399")
    assert large.camera().zoom < 2.0
    large.set_look(playing("c7"))
    assert sees(large, "c399")
    large.follow_on()
    assert large.camera().zoom == 2.0
    assert sees(large, "c7")


def test_zooming_out_below_the_least_size_pauses_it(large):
    large.set_least_zoom(2.0)
    large.zoom_by(0.2)
    before = large.camera()
    large.set_look(playing("c399"))
    assert large.camera() == before


def test_without_a_least_zoom_the_first_view_is_as_before(large):
    large.fit()
    large.set_least_zoom(2.0)
    large.set_least_zoom(0.0)
    again = large.camera()
    show(large, (grid(401, COLUMNS), playing("c0")))
    large.set_following("first view")
    assert again.zoom == large.camera().zoom


def test_an_empty_graph_has_nothing_to_follow(view):
    show(view, (Maker(), Look({}, {})))
    view.set_following("on")
    view.set_least_zoom(2.0)
    view.follow_on()
    drag(view, QPoint(100, 0))
    assert not view.can_follow_on
    view.follow_on()


def test_the_first_view_follows_as_long_as_it_lasts():
    state = CameraFollower()
    assert state.is_on(first_view=True)
    assert not state.is_on(first_view=False)
    state.mode = "on"
    assert state.is_on(first_view=False)
    state.is_paused = True
    assert not state.is_on(first_view=True)
