import math

import pytest
from PySide6.QtCore import QPointF, QRectF

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.picture import Picture, Placement, Rect, Wire
from gradscribe.widgets.graph.paint.stage import CROWD_SIZE, Stage
from gradscribe.widgets.graph.paint.wire.wires import (
    Polyline,
    arrow_head,
    route_path,
    sample_routes,
)
from tests.widgets.scenes import Maker, grid, network, neuron


def staged(m):
    return Stage(m.tape, m.picture, m.placement)


def test_a_card_is_found_where_it_stands_and_only_there(qapp):
    stage = staged(neuron()[0])
    assert stage.card_at(QPointF(318, 329)) == "n"
    assert stage.card_at(QPointF(318, 275)) == ""


def test_a_wire_is_found_on_its_bend_within_the_slack(qapp):
    stage = staged(neuron()[0])
    x, y, _ = stage.track("b>n:1").at(0.5)
    assert stage.wire_at(QPointF(x, y + 4), 6) == "b>n:1"
    assert stage.wire_at(QPointF(x, y + 40), 6) == ""


def test_of_two_wires_the_nearer_is_found(qapp):
    m = Maker()
    for n in range(3):
        m.card(f"c{n}", "op", "add", (82, 29 + 120 * n), 1.0)
    m.wire("c0", "c1", 0, 2)
    m.wire("c0", "c1", 1, 2)
    stage = staged(m)
    for key in ("c0>c1:0", "c0>c1:1"):
        x, y, _ = stage.track(key).at(0.8)
        assert stage.wire_at(QPointF(x, y), 30) == key


def test_the_inner_name_plate_wins_over_the_outer(qapp):
    stage = staged(network()[0])
    assert stage.head_at(QPointF(60, 90)) == "net"
    assert stage.head_at(QPointF(60, 120)) == "0"
    assert stage.head_at(QPointF(170, 350)) == ""
    assert stage.depths == {"net": 0, "0": 1}


def test_wires_know_their_cards_in_the_order_of_operands(qapp):
    stage = staged(neuron()[0])
    assert stage.into["n"] == ["s>n:0", "b>n:1"]
    assert stage.out_of["n"] == ["n>o:0"]
    assert stage.into["x1"] == []


def test_an_area_finds_its_cards_and_wires(qapp):
    stage = staged(grid(100, 10))
    assert len(stage.cards_in(QRectF(0, 0, 200, 60), 0)) == 2
    assert len(stage.cards_in(stage.bounds, 0)) == 100
    assert stage.cards_in(QRectF(-500, -500, 10, 10), 0) == []
    assert set(stage.wires_in(stage.bounds)) == set(stage.wires)


def test_what_has_no_place_or_no_end_is_left_out(qapp):
    m = Maker()
    m.card("a", "op", "add", (0, 0), 1.0)
    m.card("b", "op", "add", (0, 100), 1.0)
    m.card("homeless", "op", "add", (0, 200), 1.0)
    m.wire("a", "b")
    del m.rects["homeless"]
    m.wires.append(Wire("loose", "a", "homeless", 0))
    m.wires.append(Wire("routeless", "a", "b", 0))
    stage = staged(m)
    assert set(stage.cards) == {"a", "b"}
    assert set(stage.wires) == {"a>b:0"}


def test_an_empty_picture_has_empty_bounds(qapp):
    stage = Stage(Tape(), Picture((), ()), Placement({}, {}, {}, 0, 0))
    assert stage.bounds.isEmpty()
    assert stage.card_at(QPointF(0, 0)) == stage.wire_at(QPointF(0, 0), 9) == ""
    assert stage.wires_in(QRectF(0, 0, 9, 9)) == []


def test_frames_whose_parents_go_in_a_circle_do_not_hang(qapp):
    m = Maker()
    m.frame("a", "a", "A", (0, 0, 9, 9), parent="b")
    m.frame("b", "b", "B", (0, 0, 9, 9), parent="a")
    assert set(staged(m).depths) == {"a", "b"}


def test_pictures_resemble_each_other_when_half_their_cards_are_the_same(qapp):
    small, large = staged(grid(20, 10)), staged(grid(40, 10))
    assert small.resembles(large)
    assert large.resembles(small)
    assert not staged(neuron()[0]).resembles(small)


def test_a_sampled_route_starts_and_ends_where_the_route_does():
    route = ((0, 0), (0, 50), (100, 50), (100, 100), (100, 120), (100, 150), (100, 200))
    line = sample_routes([route])[0]
    assert tuple(line[0]) == (0, 0)
    assert tuple(line[-1]) == pytest.approx((100, 200))
    bounds = route_path(route).boundingRect().adjusted(-1, -1, 1, 1)
    assert all(bounds.contains(QPointF(*point)) for point in line)


def test_routes_are_sampled_apart_from_each_other():
    one = tuple((0, y) for y in range(4))
    two = tuple((9, y) for y in range(7))
    first, second = sample_routes([one, two])
    assert {round(x, 6) for x, _ in first} == {0}
    assert {round(x, 6) for x, _ in second} == {9}
    assert len(second) == 2 * len(first) - 1


def test_a_track_runs_by_length():
    track = Polyline([(0, 0), (10, 0), (10, 30)])
    assert track.at(0.5) == pytest.approx((10, 10, math.pi / 2))
    assert track.at(0.125) == pytest.approx((5, 0, 0))
    assert track.at(-1)[:2] == pytest.approx((0, 0))
    assert track.at(2)[:2] == pytest.approx((10, 30))


@pytest.mark.parametrize("line", [[(5, 5)], [(5, 5), (5, 5)], []])
def test_a_track_without_length_is_no_error(line):
    Polyline(line).at(0.5)


def test_an_arrow_head_points_where_the_route_ends():
    tip, left, right = arrow_head(((0, 0), (0, 10), (50, 90), (50, 100)))
    assert (tip.x(), tip.y()) == (50, 100)
    assert left.y() == right.y() == pytest.approx(93)
    sideways = arrow_head(((0, 0), (10, 0), (20, 0), (30, 0)))
    assert sideways[1].x() == pytest.approx(23)


def test_the_bounds_hold_everything(qapp):
    stage = staged(network()[0])
    for box in (*stage.boxes.values(), *stage.frame_boxes.values()):
        assert stage.bounds.contains(box)
    assert stage.boxes["x"] == QRectF(95, 0, 150, 48)
    assert stage.placement.cards["x"] == Rect(95, 0, 150, 48)


@pytest.mark.parametrize("fans_in", [True, False])
def test_where_too_many_wires_meet_they_are_a_crowd(qapp, fans_in):
    m = Maker()
    m.card("hub", "op", "cat", (0, 400), 1.0)
    m.card("alone", "op", "add", (0, 600), 1.0)
    m.wire(*(("hub", "alone") if fans_in else ("alone", "hub")), 0, 1)
    for n in range(CROWD_SIZE):
        m.card(f"c{n}", "op", "add", (100 * n, 0), 1.0)
        m.wire(*((f"c{n}", "hub") if fans_in else ("hub", f"c{n}")), n, CROWD_SIZE)
    assert staged(m).crowded == set()
    m.card("last", "op", "add", (100 * CROWD_SIZE, 0), 1.0)
    m.wire(*(("last", "hub") if fans_in else ("hub", "last")), CROWD_SIZE, CROWD_SIZE + 1)
    stage = staged(m)
    assert stage.crowded == {key for key in stage.wires if "alone" not in key}
