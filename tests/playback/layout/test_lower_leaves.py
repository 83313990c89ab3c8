from gradscribe.playback.layout.grid import LayeredGrid
from gradscribe.playback.layout.level import BEND, LEAF, OP, LevelEdge, LevelNode
from gradscribe.playback.layout.lower_leaves import lower_leaves
from gradscribe.playback.layout.order import RowOrderer
from gradscribe.playback.layout.place import place
from tests.bench.layout_measure import crossings, lines_of
from tests.playback.drafts import Draft, assert_sound, centre, neuron

CARD, PILL = LevelNode(82.0, 82.0, 58.0, OP), LevelNode(64.0, 64.0, 38.0, LEAF)


def skip_grid():
    """x -> f(x, w) -> add(f, x): the skip leaves x to the right, where w stands."""
    nodes = [CARD, PILL, CARD, CARD]
    edges = [
        LevelEdge(0, 2, 0.0, -27.0, 0),
        LevelEdge(1, 2, 0.0, 27.0, 1),
        LevelEdge(2, 3, 0.0, -27.0, 2),
        LevelEdge(0, 3, 0.0, 27.0, 0),
    ]
    grid = LayeredGrid(nodes, [0, 0, 1, 2])
    grid.add_edges(edges, set(), trunks=False)
    RowOrderer(grid, lambda: None).run()
    return grid, edges


def test_a_leaf_is_lowered_where_its_wire_was_crossed():
    grid, edges = skip_grid()
    assert grid.crossings() == 1
    lower_leaves(grid, edges)
    assert grid.crossings() == 0
    assert (grid.layer[0], grid.layer[1], grid.layer[2], grid.layer[3]) == (0, 1, 2, 3)


def test_every_edge_still_leads_from_its_source_to_its_target_row_by_row():
    grid, edges = skip_grid()
    lower_leaves(grid, edges)
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
