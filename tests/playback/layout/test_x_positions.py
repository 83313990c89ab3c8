from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradscribe.playback.layout.blocks import BEND_GAP, SAME_GAP
from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.layers import assign_layers
from gradscribe.playback.layout.level import LEAF, OP, LevelEdge, LevelNode
from gradscribe.playback.layout.order import RowOrderer
from gradscribe.playback.layout.x_positions import assign_x

GAP = 40.0


def laid(
    widths: list[float], inputs: dict[int, tuple[int, ...]]
) -> tuple[LayeredGrid, list[float]]:
    nodes = [
        LevelNode(width / 2, width / 2, 58.0, OP if number in inputs else LEAF)
        for number, width in enumerate(widths)
    ]
    edges = [
        LevelEdge(source, node, 0.0, 30.0 * (place - (len(sources) - 1) / 2), source)
        for node, sources in inputs.items()
        for place, source in enumerate(sources)
    ]
    grid = LayeredGrid(nodes, assign_layers(nodes, edges))
    grid.add_edges(edges, set(), trunks=True)
    RowOrderer(grid, lambda: None).run()
    return grid, assign_x(grid, GAP, lambda: None)


graphs = st.integers(1, 25).flatmap(
    lambda count: st.tuples(
        st.tuples(*(st.sampled_from((60.0, 128.0, 164.0, 300.0)) for _ in range(count))),
        st.tuples(
            *(
                st.lists(st.integers(max(0, node - 7), max(0, node - 1)), max_size=3)
                for node in range(count)
            )
        ),
    )
)


@settings(max_examples=80)
@given(graphs)
def test_neighbours_keep_their_order_and_their_distance(graph):
    widths, operands = graph
    inputs = {node: tuple(sources) for node, sources in enumerate(operands) if node and sources}
    grid, x = laid(list(widths), inputs)
    for row in grid.rows:
        for a, b in pairwise(row):
            free = x[b] - grid.left[b] - x[a] - grid.right[a]
            both_cards = grid.kind[a] in (OP, LEAF) and grid.kind[b] in (OP, LEAF)
            assert free >= (GAP if both_cards else min(BEND_GAP, SAME_GAP)) - 1e-6
    assert min(x[node] - grid.left[node] for node in range(len(x))) == pytest.approx(0.0)


def test_a_long_edge_is_straight_between_its_bends():
    chain = {1: (0,), 2: (1,), 3: (2,), 4: (3,), 5: (4, 1)}
    _, x = laid([164.0] * 6, chain)
    assert len({round(x[bend], 6) for bend in range(6, len(x))}) == 1
    assert len({round(x[node], 6) for node in range(6)}) == 1


def test_a_leaf_never_pushes_the_spine():
    _, plain_x = laid([164.0] * 4, {1: (0,), 2: (1,), 3: (2,)})
    _, hung_x = laid([164.0] * 4 + [300.0] * 3, {1: (0, 4), 2: (5, 1), 3: (2, 6)})
    assert len({round(hung_x[node], 6) for node in (1, 2, 3)}) == 1
    assert len({round(plain_x[node], 6) for node in (1, 2, 3)}) == 1


def test_equal_branches_stand_symmetrically_over_what_joins_them():
    _, x = laid([128.0] * 4 + [164.0] * 3, {4: (0, 1), 5: (2, 3), 6: (4, 5)})
    assert x[6] - x[4] == pytest.approx(x[5] - x[6])
    assert x[6] - x[0] == pytest.approx(x[3] - x[6])


def test_the_middle_one_of_three_equal_branches_goes_on_straight():
    _, x = laid([164.0] * 5, {1: (0,), 2: (0,), 3: (0,), 4: (1, 2, 3)})
    assert x[0] == x[2] == x[4]


def test_a_staircase_of_chains_is_cut_before_it_gets_wide():
    # Each step's chain starts beside the end of the one before: rigid, they would march sideways.
    inputs: dict[int, tuple[int, ...]] = {1: (0,)}
    last = 1
    for step in range(12):
        first = 2 + 4 * step
        inputs |= {first: (last,), first + 1: (last,), first + 2: (first, first + 1)}
        inputs[first + 3] = (first + 2, first)
        last = first + 3
    grid, x = laid([164.0] * (2 + 4 * 12), inputs)
    widest = max(len(row) for row in grid.rows) * 204.0
    assert max(x) < 1.3 * widest + 400.0
