from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import BEND, OP, LevelEdge, LevelNode

CARD = LevelNode(82.0, 82.0, 58.0, OP)


def grid_of(
    layer: list[int], edges: list[LevelEdge], trunks: bool = True, back: frozenset = frozenset()
):
    grid = LayeredGrid([CARD] * len(layer), layer)
    grid.add_edges(edges, set(back), trunks)
    return grid


def test_a_long_edge_bends_once_in_every_row_it_passes():
    grid = grid_of([0, 1, 2, 3], [LevelEdge(0, 3, 5.0, -7.0, 0)])
    (path,) = grid.paths
    assert [grid.layer[grid.head[link]] for link in path] == [1, 2, 3]
    assert [grid.kind[grid.head[link]] for link in path] == [BEND, BEND, OP]
    assert [grid.out[link] for link in path] == [5.0, 0.0, 0.0]
    assert [grid.into[link] for link in path] == [0.0, 0.0, -7.0]


@pytest.mark.parametrize(("trunks", "bends"), [(True, 2), (False, 3)])
def test_a_value_used_three_times_runs_along_one_trunk(trunks, bends):
    edges = [
        LevelEdge(0, 1, 0.0, 0.0, 0),
        LevelEdge(0, 2, 0.0, 0.0, 0),
        LevelEdge(0, 3, 0.0, 0.0, 0),
    ]
    grid = grid_of([0, 1, 2, 3], edges, trunks)
    assert len(grid.layer) - 4 == bends
    assert (grid.paths[1][0] == grid.paths[2][0]) is trunks


def test_two_uses_keep_a_way_each():
    grid = grid_of([0, 1, 2, 3], [LevelEdge(0, 2, 0.0, 0.0, 0), LevelEdge(0, 3, 0.0, 0.0, 0)])
    assert not set(grid.paths[0]) & set(grid.paths[1])


def test_values_of_one_card_do_not_share_a_trunk():
    edges = [LevelEdge(0, 1, 8.0 * k, 0.0, k) for k in range(3)]
    assert len(grid_of([0, 2], edges).layer) == 2 + 3


def test_a_back_edge_climbs_past_every_row_from_its_source_to_its_target():
    grid = grid_of(
        [0, 1, 2],
        [LevelEdge(0, 1, 0, 0, 0), LevelEdge(1, 2, 0, 0, 1), LevelEdge(2, 0, 0, 0, 2)],
        back={2},
    )
    assert [grid.layer[bend] for bend in grid.climbs[2]] == [2, 1, 0]
    assert grid.paths[2] == []


def test_operands_are_listed_from_left_to_right():
    grid = grid_of([0, 0, 0, 1], [LevelEdge(k, 3, 0.0, -40.0 * k, k) for k in range(3)])
    assert [grid.tail[link] for link in grid.above[3]] == [2, 1, 0]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-2, 2)), max_size=25))
def test_crossings_are_the_pairs_of_links_in_opposite_order(links):
    grid = grid_of(
        [0] * 6 + [1] * 6, [LevelEdge(a, 6 + b, 0.0, float(port), a) for a, b, port in links]
    )
    grid.rows = [list(range(6)), list(range(6, 12))]
    grid.update_seats()
    expected = sum(
        (a[0] < b[0] and a[1:] > b[1:]) or (a[0] > b[0] and a[1:] < b[1:])
        for a, b in combinations(links, 2)
    )
    assert grid.crossings() == expected
