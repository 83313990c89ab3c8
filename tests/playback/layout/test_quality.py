"""Quality of a drawing, by geometry alone: crossings, wires through cards, order, rest."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradscribe.playback.graph import build
from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.layout.place import place
from tests.bench import layout_graphs
from tests.bench.layout_measure import crossings, lines_of, ordered, swapped, through
from tests.playback.drafts import Draft
from tests.playback.edits import edited, inserted, renamed

quick = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def assert_drawn_well(picture: Picture, most: float) -> None:
    placement = place(picture)
    lines = lines_of(placement)
    assert not through(lines, placement.cards, picture)
    assert ordered(lines, picture) == 1.0
    assert crossings(lines, picture) <= most


@st.composite
def trees(draw: st.DrawFn) -> Picture:
    """Expressions in which every value is used once: they can be drawn without a crossing."""
    d, free = Draft(), []
    for number in range(draw(st.integers(1, 60))):
        count = min(len(free), draw(st.integers(0, 3)))
        inputs = [free.pop() for _ in range(count)][::-1]
        free.append(d.op(f"n{number}", *inputs) if inputs else d.leaf(f"n{number}"))
    if len(free) > 1:
        d.op("all", *free)
    return d.picture()


@quick
@given(trees())
def test_an_expression_in_which_every_value_is_used_once_has_no_crossings(picture):
    assert_drawn_well(picture, 0)


@st.composite
def skips(draw: st.DrawFn) -> Picture:
    """Blocks with a skip around them, on either side, and weights: planar, operands in order."""
    d = Draft()
    x = d.leaf("x", "data")
    for block in range(draw(st.integers(1, 6))):
        h = x
        for step in range(draw(st.integers(1, 4))):
            weights = [d.leaf(f"{block}.{step}.{w}") for w in range(draw(st.integers(0, 2)))]
            h = d.op(f"{block}.{step}", h, *weights)
        x = d.op(f"{block}.add", *((x, h) if draw(st.booleans()) else (h, x)))
    d.op("loss", x, kind="loss")
    return d.picture()


@quick
@given(skips())
def test_skips_around_blocks_with_weights_cross_nothing(picture):
    assert_drawn_well(picture, 0)


DOT = {
    "scalar MLP, 100": 32,
    "scalar MLP, 1,000": 6357,
    "ResNet-50-like": 0,
    "GPT-2-small-like": 1,
    "LSTM, 12 steps": 111,
}
"""Crossings of dot (pygraphviz 2.0.4) on the same pictures, its operands in any order."""


@pytest.mark.parametrize("name", DOT)
def test_real_graphs_cross_at_most_1_3_times_as_often_as_with_dot(name, recorded):
    picture = layout_graphs.flat(layout_graphs.opened(recorded(layout_graphs.PROGRAMS[name])))
    assert_drawn_well(picture, 1.3 * DOT[name])


@pytest.mark.parametrize(("nodes", "dot"), [(1_000, 118)])
def test_networks_cross_at_most_1_3_times_as_often_as_with_dot(nodes, dot):
    assert_drawn_well(layout_graphs.network(nodes), 1.3 * dot)


@pytest.mark.parametrize("seed", range(20))
def test_one_op_more_seldom_swaps_neighbours_even_where_nothing_is_known_of_before(seed):
    picture = layout_graphs.network(random.Random(seed).randint(40, 400), seed)
    before = place(picture)
    after = place(inserted(picture, random.Random(seed).randrange(len(picture.wires))))
    assert swapped(picture, before.cards, after.cards) == 0


def assert_kept(picture: Picture, edits: int, rng: random.Random) -> None:
    """Edit a picture again and again: nothing in it ever passes a neighbour."""
    before = place(picture)
    for number in range(edits):
        after = renamed(edited(picture, rng), f"fresh{number}")
        kept, fresh = place(after, previous=(picture, before)), place(after)
        assert swapped(picture, before.cards, kept.cards) == 0
        lines = lines_of(kept)
        assert not through(lines, kept.cards, after)
        assert ordered(lines, after) == 1.0
        assert crossings(lines, after) <= 4 * crossings(lines_of(fresh), after) + 24
        picture, before = after, kept


@pytest.mark.parametrize("seed", range(12))
def test_an_edit_never_swaps_neighbours(seed):
    rng = random.Random(seed)
    assert_kept(layout_graphs.network(rng.randint(20, 160), seed), 8, rng)


@pytest.mark.parametrize("seed", range(4))
def test_an_edit_of_a_dense_graph_never_swaps_neighbours(seed, recorded):
    program = layout_graphs.PROGRAMS["scalar MLP, 100"]
    picture = layout_graphs.flat(layout_graphs.opened(recorded(program)))
    assert_kept(picture, 10, random.Random(seed))


def test_one_op_more_crosses_little_more_than_a_fresh_layout(recorded):
    program = layout_graphs.PROGRAMS["scalar MLP, 100"]
    picture = layout_graphs.flat(layout_graphs.opened(recorded(program)))
    before = place(picture)
    for at in range(0, len(picture.wires), 7):
        after = inserted(picture, at)
        kept, fresh = place(after, previous=(picture, before)), place(after)
        assert swapped(picture, before.cards, kept.cards) == 0
        most = 1.3 * crossings(lines_of(fresh), after) + 5
        assert crossings(lines_of(kept), after) <= most


FOLDED = {"GPT": layout_graphs.GPT.format(loop=True, layers=3), "ResNet": layout_graphs.RESNET}


@pytest.mark.parametrize("name", FOLDED)
def test_opening_and_closing_modules_never_swaps_neighbours(name, recorded):
    tape = recorded(FOLDED[name])
    scene, rng = build.scenes(tape)[0], random.Random(name)
    picture = build.build_picture(tape, scene)
    before = place(picture)
    for _ in range(12):
        closed = [card.key for card in picture.cards if card.kind == "module"]
        opened = {frame.key for frame in picture.frames}
        if len(picture.cards) < 120 and closed:
            opened.add(rng.choice(closed))
        else:
            opened.discard(rng.choice(sorted(opened)))
        after = build.build_picture(tape, scene, frozenset(opened))
        kept = place(after, previous=(picture, before))
        assert swapped(picture, before.cards, kept.cards) == 0
        picture, before = after, kept


def test_wires_of_one_value_that_lie_on_each_other_are_crossed_once():
    d = Draft()
    for number in range(3):
        d.op(f"n{number}", "x")
    d.op("other", "y")
    line = np.array([[0.0, 0.0], [0.0, 100.0]])
    forks = [np.vstack([line, [[50.0 * (k + 1), 150.0 + 10.0 * k]]]) for k in range(3)]
    lines = {f"x-n{k}-0": fork for k, fork in enumerate(forks)}
    lines["y-other-0"] = np.array([[-20.0, 40.0], [20.0, 60.0]])
    assert crossings(lines, d.picture()) == 1
    lines["y-other-0"] = np.array([[30.0, 100.0], [30.0, 200.0]])
    assert crossings(lines, d.picture()) == 3
