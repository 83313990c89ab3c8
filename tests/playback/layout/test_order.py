import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.layers import assign_layers
from gradscribe.playback.layout.level import LEAF, OP, Cancelled, LevelEdge, LevelNode
from gradscribe.playback.layout.order import RowOrderer


def ordered(count: int, inputs: dict[int, tuple[int, ...]]) -> LayeredGrid:
    """The ordered grid of a graph given as operands per node."""
    nodes = [LevelNode(82.0, 82.0, 58.0, OP if node in inputs else LEAF) for node in range(count)]
    edges = [
        LevelEdge(source, node, 0.0, float(place), source)
        for node, sources in inputs.items()
        for place, source in enumerate(sources)
    ]
    grid = LayeredGrid(nodes, assign_layers(nodes, edges))
    grid.add_edges(edges, set(), trunks=True)
    RowOrderer(grid, lambda: None).run()
    return grid


trees = st.integers(2, 40).flatmap(
    lambda count: st.tuples(*(st.integers(node + 1, count) for node in range(count)))
)


@given(trees)
def test_a_tree_has_no_crossings_and_its_operands_in_order(consumers):
    inputs: dict[int, tuple[int, ...]] = {}
    for node, consumer in enumerate(consumers):
        inputs[consumer] = (*inputs.get(consumer, ()), node)
    grid = ordered(len(consumers) + 1, inputs)
    assert grid.crossings() == 0
    for sources in inputs.values():
        for first in sources:
            beside = [n for n in sources if grid.layer[n] == grid.layer[first]]
            assert sorted(beside, key=grid.seat.__getitem__) == beside


dags = st.integers(2, 25).flatmap(
    lambda count: st.tuples(
        *(
            st.lists(st.integers(max(0, node - 6), max(0, node - 1)), max_size=3)
            for node in range(count)
        )
    )
)


@settings(max_examples=60)
@given(dags)
def test_every_node_and_bend_has_one_seat_in_its_own_row(graph):
    inputs = {node: tuple(sources) for node, sources in enumerate(graph) if node and sources}
    grid = ordered(len(graph), inputs)
    seated = [node for row in grid.rows for node in row]
    assert sorted(seated) == list(range(len(grid.layer)))
    for number, row in enumerate(grid.rows):
        assert [grid.layer[node] for node in row] == [number] * len(row)
        assert [grid.seat[node] for node in row] == list(range(len(row)))


def test_crossings_that_can_be_avoided_are_avoided():
    # Two ladders whose rungs are named crosswise.
    inputs = {2: (0,), 3: (1,), 4: (3,), 5: (2,), 6: (5, 2), 7: (4, 3)}
    assert ordered(8, inputs).crossings() <= 1


def test_a_leaf_goes_between_the_operands_it_stands_between():
    # Node 6 takes a shared value, a leaf and the same shared value's sister.
    grid = ordered(7, {2: (0, 1), 3: (0, 1), 6: (2, 4, 3), 5: (2, 3)})
    row = [node for node in grid.rows[grid.layer[4]] if node in (2, 3, 4)]
    assert row == [2, 4, 3]


def test_the_search_stops_when_the_caller_gives_up():
    def stop() -> None:
        raise Cancelled

    nodes = [LevelNode(82.0, 82.0, 58.0, OP)] * 4
    edges = [LevelEdge(a, b, 0.0, 0.0, a) for a in (0, 1) for b in (2, 3)]
    grid = LayeredGrid(nodes, assign_layers(nodes, edges))
    grid.add_edges(edges, set(), trunks=True)
    with pytest.raises(Cancelled):
        RowOrderer(grid, stop).run()
