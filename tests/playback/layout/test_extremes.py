"""Pictures nobody planned for: one value used 500 times, long chains, deep nests, odd sizes."""

import random
from itertools import pairwise

import pytest

from gradscribe.playback.graph.picture import Card, Flow, Picture, Placement, Rect
from gradscribe.playback.layout.place import place
from tests.bench.layout_measure import lines_of, through
from tests.playback.drafts import Draft, assert_operands_in_order, assert_sound, overlap


def nothing() -> Picture:
    return Picture((), ())


def one_leaf() -> Picture:
    d = Draft()
    d.leaf("x")
    return d.picture()


def used_500_times() -> Picture:
    d = Draft()
    w = d.leaf("w")
    d.op("cat", *[d.op(f"n{number}", w) for number in range(500)])
    return d.picture()


def one_weight_for_all() -> Picture:
    d = Draft()
    x, w = d.leaf("x", "data"), d.leaf("w")
    for number in range(300):
        x = d.op(f"n{number}", x, w)
    return d.picture()


def a_long_chain() -> Picture:
    d = Draft()
    x = d.leaf("x")
    for number in range(5_000):
        x = d.op(f"n{number}", x)
    return d.picture()


def many_parts() -> Picture:
    d = Draft()
    for number in range(150):
        d.op(f"n{number}", d.leaf(f"x{number}"))
    return d.picture()


def many_operands() -> Picture:
    d = Draft()
    d.op("cat", *[d.leaf(f"x{number}") for number in range(300)])
    return d.picture()


def odd_sizes() -> Picture:
    rng, d = random.Random(1), Draft()
    for number in range(60):
        sources = [f"n{k}" for k in rng.sample(range(number), min(number, rng.randint(0, 3)))]
        d.op(f"n{number}", *sources)
        width, height = rng.choice([40, 164, 900, 3_000]), rng.choice([20, 58, 300, 1_200])
        key, title = f"n{number}", "x" * rng.randint(1, 400)
        d.cards[-1] = Card(key, "op", title, width=float(width), height=float(height))
    return d.picture()


def a_deep_nest() -> Picture:
    d = Draft()
    x = d.leaf("x")
    for number in range(60):
        d.open(f"f{number}")
    x = d.op("inner", x)
    for _ in range(60):
        d.close()
    d.op("outer", x)
    return d.picture()


def many_modules_side_by_side() -> Picture:
    d = Draft()
    x, ends = d.leaf("x"), []
    for number in range(60):
        d.open(f"f{number}")
        ends.append(d.op(f"n{number}", x, d.leaf(f"w{number}")))
        d.close()
    d.op("sum", *ends)
    return d.picture()


EXTREMES = (
    nothing,
    one_leaf,
    used_500_times,
    one_weight_for_all,
    a_long_chain,
    many_parts,
    many_operands,
    odd_sizes,
    a_deep_nest,
    many_modules_side_by_side,
)


def assert_within(placement: Placement) -> None:
    """Nothing, wires neither, stands outside of the picture."""
    whole = Rect(-1e-6, -1e-6, placement.width + 2e-6, placement.height + 2e-6)
    for rect in (*placement.cards.values(), *placement.frames.values()):
        assert rect.x >= whole.x
        assert rect.y >= whole.y
        assert rect.x + rect.width <= whole.x + whole.width
        assert rect.y + rect.height <= whole.y + whole.height
    for route in placement.routes.values():
        assert all(whole.x <= x <= whole.x + whole.width for x, _ in route)
        assert all(whole.y <= y <= whole.y + whole.height for _, y in route)


@pytest.mark.parametrize("flow", ["down", "right"])
@pytest.mark.parametrize("made", EXTREMES, ids=lambda made: made.__name__)
def test_extreme_pictures_are_placed(made, flow: Flow):
    picture = made()
    placement = place(picture, flow)
    assert set(placement.cards) == {card.key for card in picture.cards}
    assert_within(placement)
    if len(picture.wires) < 1_500:
        assert not through(lines_of(placement), placement.cards, picture)
    along = sorted(placement.cards.values(), key=lambda rect: (rect.y, rect.x))
    assert not any(overlap(a, b) for a, b in pairwise(along))


@pytest.mark.parametrize("made", [odd_sizes, a_deep_nest], ids=lambda made: made.__name__)
def test_extreme_sizes_and_depths_are_sound(made):
    picture = made()
    placement = place(picture)
    assert_sound(picture, placement)
    assert_operands_in_order(picture, placement)


def test_a_chain_is_one_straight_line():
    placement = place(a_long_chain())
    assert len({round(r.x + r.width / 2, 3) for r in placement.cards.values()}) == 1


def test_a_trunk_runs_straight_past_all_that_it_feeds():
    placement = place(one_weight_for_all())
    last = placement.routes["w-n299-1"]
    assert len({round(x, 3) for x, _ in last[4:-4]}) <= 2
