from itertools import pairwise

import pytest

from gradscribe.playback.layout.level import ENTRY, EXIT
from gradscribe.playback.layout.nesting import HEAD, PAD, LevelTree
from gradscribe.playback.layout.place import place
from tests.playback.drafts import Draft, assert_sound, centre, residual, samples


def test_a_chain_of_open_modules_runs_straight_down():
    d = Draft()
    x = d.leaf("x", "data")
    d.open("net")
    h = d.op("tanh1", d.linear("0", x))
    h = d.op("tanh2", d.linear("1", h))
    h = d.linear("2", h)
    d.close()
    d.op("loss", h, d.leaf("y", "data"), kind="loss")
    placement = place(d.picture())
    assert_sound(d.picture(), placement)
    spine = ("0.out", "tanh1", "1.out", "tanh2", "2.out", "loss")
    assert len({round(centre(placement, key), 3) for key in spine}) == 1
    frames = [placement.frames[key] for key in "012"]
    assert len({(f.x, f.width, f.height) for f in frames}) == 1
    assert len({x for x, _ in placement.routes["x-0.out-0"]}) == 1


def test_a_skip_connection_keeps_the_main_path_straight():
    picture = residual()
    placement = place(picture)
    assert_sound(picture, placement)
    main = [f"{block}.{name}" for block in range(3) for name in ("first.out", "relu", "add")]
    assert len({round(centre(placement, key), 3) for key in main}) == 1


def test_modules_of_the_same_make_look_the_same():
    placement = place(residual())

    def inside(block: int) -> list[tuple[float, float]]:
        frame = placement.frames[f"block{block}"]
        keys = ("first.weight", "first.out", "relu", "second.out", "add")
        rects = [placement.cards[f"{block}.{key}"] for key in keys]
        return [(round(r.x - frame.x, 6), round(r.y - frame.y, 6)) for r in rects]

    assert inside(0) == inside(1)


def nested():
    """x enters two frames at once; its double leaves both and is used outside."""
    d = Draft()
    x = d.leaf("x")
    d.open("outer")
    d.open("inner")
    y = d.op("y", x, x)
    z = d.op("z", y, x)
    d.close()
    d.close()
    d.op("end", z, y)
    return d.picture()


def test_a_value_passes_a_border_once_however_often_it_is_used_inside():
    nest = LevelTree(nested(), "down")
    for frame in ("outer", "inner"):
        pins = nest.contents[frame].pins
        assert (pins.count(ENTRY), pins.count(EXIT)) == (1, 2)
    assert nest.contents["outer"].items == ["inner"]
    assert nest.contents[""].items == ["x", "outer", "end"]


def test_wires_of_one_value_share_their_way_up_to_the_border():
    nest = LevelTree(nested(), "down")
    first, second, third = (nest.wire_edges[key] for key in ("x-y-0", "x-y-1", "x-z-1"))
    assert first[:-1] == second[:-1] == third[:-1]
    assert len({way[-1] for way in (first, second, third)}) == 3
    assert [room for room, _ in first] == ["", "outer", "inner"]


def test_a_route_through_borders_is_one_unbroken_curve():
    picture = nested()
    placement = place(picture)
    assert_sound(picture, placement)
    for key, route in placement.routes.items():
        points = samples(route)
        jumps = [abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(points)]
        assert max(jumps) < 120, key
        assert [y for _, y in points] == sorted(y for _, y in points), key


def test_a_frame_is_wide_enough_for_its_words():
    d = Draft()
    d.open("encoder.layers.11.attention.self")
    d.leaf("p", width=60.0)
    d.close()
    placement = place(d.picture())
    frame = placement.frames["encoder.layers.11.attention.self"]
    assert frame.width >= 7 * len("encoder.layers.11.attention.self")
    assert frame.height == HEAD + 38.0 + PAD
    assert centre(placement, "p") == pytest.approx(frame.x + frame.width / 2)


def test_an_open_module_without_cards_is_an_empty_box():
    d = Draft()
    d.leaf("x")
    d.open("empty")
    d.close()
    placement = place(d.picture())
    assert_sound(d.picture(), placement)
    assert placement.frames["empty"].width > 0


def test_a_card_of_an_unknown_frame_stands_at_the_top():
    d = Draft()
    d.frame = "gone"
    d.leaf("x")
    assert place(d.picture()).cards["x"].width == 128.0
