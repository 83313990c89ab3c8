"""Order with old nodes held: they never pass each other, new ones go where they cross least."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import OP, LevelEdge, LevelNode
from gradscribe.playback.layout.stable_order import StableRowOrderer


def grid_of(layers: list[int], pairs: list[tuple[int, int]]) -> LayeredGrid:
    grid = LayeredGrid([LevelNode(80.0, 80.0, 58.0, OP) for _ in layers], layers)
    grid.add_edges([LevelEdge(a, b, 0.0, 0.0, a) for a, b in pairs], set(), trunks=False)
    return grid


def nothing() -> None:
    """Never give up."""


def test_what_is_held_keeps_its_order_although_wires_cross():
    grid = grid_of([0, 0, 1, 1], [(0, 3), (1, 2)])
    StableRowOrderer(grid, nothing, [0.0, 1.0, 0.0, 1.0], [True] * 4).run()
    assert grid.rows == [[0, 1], [2, 3]]
    assert grid.crossings() == 1


def test_what_is_new_goes_where_it_crosses_nothing():
    grid = grid_of([0, 0, 0, 1, 1, 1], [(0, 3), (1, 4), (2, 5)])
    StableRowOrderer(
        grid, nothing, [0.0, 1.0, 2.0, 0.0, 9.0, 2.0], [True, True, True, True, False, True]
    ).run()
    assert grid.rows == [[0, 1, 2], [3, 4, 5]]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10_000))
def test_held_nodes_of_a_row_never_pass_each_other(seed):
    rng = random.Random(seed)
    count = rng.randint(2, 24)
    layers = [rng.randint(0, 5) for _ in range(count)]
    layers = [sorted(set(layers)).index(layer) for layer in layers]
    pairs = [
        (a, b)
        for a in range(count)
        for b in range(count)
        if layers[a] < layers[b] and rng.random() < 0.2
    ]
    places = [rng.uniform(0, 100) for _ in range(count)]
    held = [rng.random() < 0.7 for _ in range(count)]
    grid = grid_of(layers, pairs)
    padded = places + [rng.uniform(0, 100) for _ in range(len(grid.layer) - count)]
    StableRowOrderer(grid, nothing, padded, held).run()
    assert sorted(node for row in grid.rows for node in row) == list(range(len(grid.layer)))
    for row in grid.rows:
        there = [places[node] for node in row if node < count and held[node]]
        assert there == sorted(there)
