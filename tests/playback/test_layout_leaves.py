from playback.layout import place
from playback.layout_grid import Grid
from playback.layout_leaves import lower
from playback.layout_level import BEND, LEAF, OP, Edge, Node
from playback.layout_order import order
from tests.playback.drafts import Draft, assert_sound, centre, neuron
from tools.layout_measure import crossings, lines_of

CARD, PILL = Node(82.0, 82.0, 58.0, OP), Node(64.0, 64.0, 38.0, LEAF)


def skip_grid():
    """x -> f(x, w) -> add(f, x): the skip leaves x to the right, where w stands."""
    nodes = [CARD, PILL, CARD, CARD]
    edges = [
        Edge(0, 2, 0.0, -27.0, 0),
        Edge(1, 2, 0.0, 27.0, 1),
        Edge(2, 3, 0.0, -27.0, 2),
        Edge(0, 3, 0.0, 27.0, 0),
    ]
    grid = Grid(nodes, [0, 0, 1, 2])
    grid.lay(edges, set(), trunks=False)
    order(grid, lambda: None)
    return grid, edges


def test_a_leaf_is_lowered_where_its_wire_was_crossed():
    grid, edges = skip_grid()
    assert grid.crossings() == 1
    lower(grid, edges)
    assert grid.crossings() == 0
    assert (grid.layer[0], grid.layer[1], grid.layer[2], grid.layer[3]) == (0, 1, 2, 3)


def test_every_edge_still_leads_from_its_source_to_its_target_row_by_row():
    grid, edges = skip_grid()
    lower(grid, edges)
    for edge, path in zip(edges, grid.paths, strict=True):
        here = edge.source
        for link in path:
            assert grid.tail[link] == here
            assert grid.layer[grid.head[link]] == grid.layer[here] + 1
            assert link in grid.below[here]
            assert link in grid.above[grid.head[link]]
            here = grid.head[link]
        assert here == edge.target
        assert grid.into[path[-1]] == edge.into
    assert all(grid.kind[bend] == BEND for bend in grid.soft)


def test_the_spine_of_a_skip_stays_straight_beside_a_lowered_leaf():
    d = Draft()
    x = d.op("x", d.leaf("input"))
    h = d.op("h", d.op("f", x, d.leaf("w")))
    d.op("add", h, x)
    placement = place(d.picture())
    assert_sound(d.picture(), placement)
    assert crossings(lines_of(placement), d.picture()) == 0
    assert centre(placement, "x") == centre(placement, "f") == centre(placement, "h")
    w, f = placement.cards["w"], placement.cards["f"]
    assert placement.cards["x"].y + 58 < w.y
    assert w.y + w.height < f.y


def test_a_leaf_whose_wire_nothing_crosses_stays_beside_what_feeds_its_consumer():
    placement = place(neuron())
    b, s = placement.cards["b"], placement.cards["s"]
    assert b.y + b.height / 2 == s.y + s.height / 2
