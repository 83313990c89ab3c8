import pytest

from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import ENTRY, LEAF, OP, LevelEdge, LevelNode, Spacing
from gradscribe.playback.layout.routes import (
    DEEPEST,
    FAR,
    Bands,
    extend_route,
    route_edge,
    row_gap_for,
)

STYLE = Spacing(24.0, 24.0, 24.0, 24.0, 48.0, 40.0)


def bands(
    nodes: list[LevelNode], layer: list[int], edges: list[LevelEdge], x: list[float], back=()
) -> Bands:
    grid = LayeredGrid(nodes, layer)
    grid.add_edges(edges, set(back), trunks=True)
    for number, row in enumerate(layer):
        grid.rows[row].append(number)
    for bend in range(len(layer), len(grid.layer)):
        grid.rows[grid.layer[bend]].append(bend)
    grid.update_seats()
    return Bands(grid, x + [300.0] * (len(grid.layer) - len(x)), STYLE)


def card(height: float = 58.0, kind: int = OP) -> LevelNode:
    return LevelNode(82.0, 82.0, height, kind)


def test_rows_follow_each_other_with_room_for_labels():
    made = bands([card(), card(38.0)], [0, 1], [LevelEdge(0, 1, 0, 0, 0)], [100.0, 100.0])
    assert (made.top_of(0), made.top_of(1)) == (24.0, 24.0 + 58.0 + 48.0)
    assert made.end == made.top_of(1) + 38.0 + 24.0


def test_small_cards_stand_in_the_middle_of_their_row():
    made = bands([card(58.0), card(38.0, LEAF)], [0, 0], [], [100.0, 300.0])
    assert made.top_of(1) - made.top_of(0) == 10.0


def test_a_leaf_beside_something_deep_stands_near_what_it_feeds():
    made = bands([card(600.0), card(38.0, LEAF)], [0, 0], [], [100.0, 300.0])
    assert made.bottoms[0] - made.top_of(1) - 38.0 < 30.0


def test_wires_that_travel_far_get_a_deeper_gap():
    assert row_gap_for(0.0, 48.0) == row_gap_for(FAR, 48.0) == 48.0
    assert (
        48.0
        < row_gap_for(2 * FAR, 48.0)
        < row_gap_for(4 * FAR, 48.0)
        <= row_gap_for(1e6, 48.0)
        == DEEPEST
    )


def test_a_straight_wire_is_a_single_piece():
    edge = LevelEdge(0, 1, 0.0, 0.0, 0)
    made = bands([card(), card()], [0, 1], [edge], [100.0, 100.0])
    points = route_edge(made, edge, 0)
    assert len(points) == 4
    assert {x for x, _ in points} == {100.0}


def test_a_wire_passes_a_row_straight_in_its_own_slot():
    edges = [
        LevelEdge(0, 1, 0.0, 0.0, 0),
        LevelEdge(1, 2, 0.0, 0.0, 1),
        LevelEdge(0, 2, 0.0, 40.0, 0),
    ]
    made = bands([card()] * 3, [0, 1, 2], edges, [100.0] * 3)
    points = route_edge(made, edges[2], 2)
    assert points[0] == (100.0, made.bottoms[0])
    assert points[3] == (300.0, made.tops[1])
    assert points[6] == (300.0, made.bottoms[1])
    assert points[9] == (140.0, made.tops[2])


def test_curves_leave_and_arrive_along_the_flow():
    edge = LevelEdge(0, 1, 0.0, 30.0, 0)
    made = bands([card(), card()], [0, 1], [edge], [100.0, 400.0])
    start, first, second, end = route_edge(made, edge, 0)
    assert first[0] == start[0]
    assert second[0] == end[0] == 430.0
    assert start[1] < first[1] <= second[1] < end[1]


def test_a_wire_from_the_border_passes_the_head_of_the_frame_straight():
    edge = LevelEdge(0, 1, 0.0, 0.0, 0)
    made = bands([LevelNode(0, 0, 0, ENTRY), card()], [0, 1], [edge], [50.0, 200.0])
    points = route_edge(made, edge, 0)
    assert points[0] == (50.0, 0.0)
    assert points[3][0] == 50.0
    assert 0.0 < points[3][1] < STYLE.before
    assert points[-1] == (200.0, made.tops[1])


def test_a_climbing_wire_leaves_below_its_source_and_comes_in_above_its_target():
    edges = [LevelEdge(0, 1, 0.0, 0.0, 0), LevelEdge(1, 0, 0.0, 40.0, 1)]
    made = bands([card(), card()], [0, 1], edges, [100.0, 100.0], back={1})
    points = route_edge(made, edges[1], 1)
    assert points[0] == (100.0, made.bottoms[1])
    assert points[-1] == (140.0, made.tops[0])
    assert max(y for _, y in points) > made.bottoms[1]
    assert 0.0 <= min(y for _, y in points) < made.tops[0]


def test_lengthening_a_straight_wire_adds_no_piece():
    line = extend_route([(5.0, 0.0)], 30.0)
    assert len(line) == 4
    longer = extend_route(line, 90.0)
    assert len(longer) == 4
    assert longer[-1] == (5.0, 90.0)
    assert longer[1][1] == pytest.approx(30.0)
