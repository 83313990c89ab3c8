from hypothesis import given
from hypothesis import strategies as st

from gradscribe.playback.layout.layers import assign_layers, find_back_edges, topological_order
from gradscribe.playback.layout.level import ENTRY, EXIT, LEAF, OP, LevelEdge, LevelNode


def op(kind: int = OP) -> LevelNode:
    return LevelNode(82.0, 82.0, 58.0, kind)


def edges(*pairs: tuple[int, int]) -> list[LevelEdge]:
    return [LevelEdge(source, target, 0.0, 0.0, source) for source, target in pairs]


graphs = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)


@given(graphs)
def test_without_the_back_edges_every_edge_points_downwards(pairs):
    every = edges(*pairs)
    back = find_back_edges(12, every)
    forward = [edge for number, edge in enumerate(every) if number not in back]
    layer = assign_layers([op()] * 12, forward)
    assert all(layer[edge.source] < layer[edge.target] for edge in forward)
    assert all(layer[every[k].target] <= layer[every[k].source] for k in back)


@given(graphs)
def test_a_graph_without_cycles_has_no_back_edges(pairs):
    assert find_back_edges(12, edges(*((a, b) for a, b in pairs if a < b))) == set()


def test_a_loop_on_a_node_is_a_back_edge():
    assert find_back_edges(1, edges((0, 0))) == {0}


def test_sources_come_before_their_targets():
    order = topological_order(4, edges((3, 1), (1, 0), (3, 2), (2, 0)))
    assert sorted(order) == [0, 1, 2, 3]
    assert order.index(3) < order.index(1) < order.index(0)


def test_a_weight_stands_right_above_its_consumer():
    nodes = [op(LEAF), op(), op(), op(), op(LEAF)]
    assert assign_layers(nodes, edges((0, 1), (1, 2), (2, 3), (4, 3))) == [0, 1, 2, 3, 2]


def test_what_hangs_on_a_node_rides_along_with_it():
    # 5 and 6 feed 4, which is needed by 3 only.
    nodes = [op(LEAF), op(), op(), op(), op(), op(LEAF), op(LEAF)]
    layer = assign_layers(nodes, edges((0, 1), (1, 2), (2, 3), (4, 3), (5, 4), (6, 4)))
    assert layer[4:] == [2, 1, 1]


def test_a_leaf_used_twice_stands_above_its_first_consumer():
    nodes = [op(LEAF), op(), op(), op(), op(LEAF)]
    assert assign_layers(nodes, edges((0, 1), (1, 2), (2, 3), (4, 2), (4, 3)))[4] == 1


def test_pins_stand_alone_in_the_first_and_the_last_layer():
    nodes = [op(LEAF), op(), op(), op(ENTRY), op(EXIT), op(EXIT)]
    layer = assign_layers(nodes, edges((0, 1), (1, 2), (3, 1), (1, 4), (2, 5)))
    assert layer[3] == 0
    assert layer[4] == layer[5] == 1 + max(layer[:3])
    assert min(layer[:3]) == 1


def test_a_value_used_often_is_not_dragged_along_for_its_trunk():
    # Node 1 takes two values and hands one on to three consumers further down.
    nodes = [op(LEAF), op(), op(), op(), op(), op(), op(LEAF)]
    pairs = edges((0, 2), (2, 3), (3, 4), (4, 5), (0, 1), (2, 1), (1, 5), (1, 5), (1, 5))
    assert assign_layers(nodes, pairs)[1] == 2


def test_slices_of_one_leaf_stand_at_the_steps_that_use_them():
    # 0 is the leaf, 1-3 its slices, 4-6 a chain of steps that takes one slice each.
    pairs = ((0, 1), (0, 2), (0, 3), (1, 4), (4, 5), (2, 5), (5, 6), (3, 6))
    found = assign_layers([op(LEAF), *[op()] * 6], edges(*pairs))
    assert [found[n] for n in (1, 2, 3)] == [found[n] - 1 for n in (4, 5, 6)]
