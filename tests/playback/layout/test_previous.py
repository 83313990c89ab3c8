"""Rows of before, kept: by hand, and where edges contradict them."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from gradscribe.playback.graph.picture import Seat
from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import ENTRY, EXIT, OP, LevelEdge, LevelNode
from gradscribe.playback.layout.previous import count_swaps, estimate_x, stable_layers


def nodes(*kinds: int) -> list[LevelNode]:
    return [LevelNode(80.0, 80.0, 58.0, kind) for kind in kinds]


def edges(*pairs: tuple[int, int]) -> list[LevelEdge]:
    return [LevelEdge(source, target, 0.0, 0.0, source) for source, target in pairs]


def seat(row: int, x: float = 0.0) -> Seat:
    return Seat(0, 0, row, x, 100.0 * row)


def test_neighbours_that_passed_each_other_are_counted():
    seats = [seat(0, 10.0), seat(0, 20.0), seat(0, 30.0), None, seat(1, 0.0)]
    assert count_swaps(seats, [1.0, 2.0, 3.0, 9.0, 0.0]) == 0
    assert count_swaps(seats, [1.0, 5.0, 3.0, 9.0, 0.0]) == 1
    assert count_swaps(seats, [3.0, 2.0, 1.0, 9.0, 0.0]) == 2


def test_what_comes_between_gets_a_row_and_the_others_keep_theirs():
    # 0 -> 3 -> 1 and, beside it, 2 -> 4: the chain grows, 2 and 4 stay where they were.
    layers = stable_layers(
        nodes(OP, OP, OP, OP, OP),
        edges((0, 3), (3, 1), (2, 4)),
        [seat(0), seat(1), seat(0), None, seat(1)],
    )
    assert layers == [0, 2, 0, 1, 2]


def test_a_new_leaf_stands_right_above_what_takes_it():
    layers = stable_layers(
        nodes(OP, OP, OP, OP), edges((0, 1), (1, 2), (3, 2)), [seat(0), seat(1), seat(2), None]
    )
    assert layers == [0, 1, 2, 1]


def test_what_an_edge_pulls_down_leaves_its_row():
    # 2 stood beside 0, and now takes what 1 makes one row further down.
    layers = stable_layers(nodes(OP, OP, OP), edges((0, 1), (1, 2)), [seat(0), seat(1), seat(0)])
    assert layers == [0, 1, 2]


def test_pins_stand_alone_in_the_first_and_the_last_row():
    layers = stable_layers(
        nodes(OP, OP, ENTRY, EXIT), edges((2, 0), (0, 1), (1, 3)), [seat(1), None, None, None]
    )
    assert layers == [1, 2, 0, 3]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10_000))
def test_edges_point_down_and_row_mates_stay_together_unless_an_edge_parts_them(seed):
    rng = random.Random(seed)
    count = rng.randint(1, 14)
    pairs = [(a, b) for b in range(count) for a in rng.sample(range(b), min(b, rng.randint(0, 2)))]
    seats = [seat(rng.randint(0, 5)) if rng.random() < 0.7 else None for _ in range(count)]
    layers = stable_layers(nodes(*[OP] * count), edges(*pairs), seats)
    assert all(layers[a] < layers[b] for a, b in pairs)
    assert set(layers) == set(range(max(layers) + 1))
    above = {b: {a for a, end in pairs if end == b} for b in range(count)}

    def lowest(node: int) -> int:
        """The lowest old row that something above a node stood in."""
        rows = [lowest(a) for a in above[node]]
        rows += [s.row for s in (seats[a] for a in above[node]) if s is not None]
        return max(rows, default=-1)

    firm = [
        n
        for n, s in enumerate(seats)
        if s is not None
        and all(other is None or other.row > lowest(m) for m, other in enumerate(seats))
    ]
    for a in firm:
        for b in firm:
            first, second = seats[a], seats[b]
            assert first is not None
            assert second is not None
            assert (first.row == second.row) == (layers[a] == layers[b])
            assert (first.row < second.row) == (layers[a] < layers[b])


def test_what_is_new_is_guessed_to_stand_between_what_it_is_joined_to():
    grid = LayeredGrid(nodes(OP, OP, OP), [0, 2, 1])
    made = edges((0, 2), (2, 1))
    grid.add_edges(made, set(), trunks=False)
    places = estimate_x(grid, made, [seat(0, 100.0), seat(1, 300.0), None])
    assert places[:3] == [100.0, 300.0, 200.0]


def test_a_long_edge_is_guessed_to_run_straight_down():
    grid = LayeredGrid(nodes(OP, OP), [0, 3])
    made = edges((0, 1))
    grid.add_edges(made, set(), trunks=False)
    assert estimate_x(grid, made, [seat(0, 100.0), seat(3, 300.0)]) == [100.0, 300.0, 100.0, 100.0]
