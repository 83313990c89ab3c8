"""Cards coloured by one thing; what they should say comes from torch and from arithmetic."""

import math

import pytest
from msgspec import structs

from gradscribe.engine.run.run import record
from gradscribe.playback.graph import build, look
from gradscribe.playback.graph.coloring import DECADES, EXPLODING, MODES, VANISHING, Coloring
from gradscribe.playback.text import formatting

DEEP = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
x = torch.ones(3, 4)
loss = net(x).sum()
loss.backward()
"""


def pictured(source, opened=None):
    tape = record(source)
    scene = build.scenes(tape)[0]
    return tape, scene, build.build_picture(tape, scene, opened)


def tints(source, mode, position=None, opened=None):
    tape, scene, picture = pictured(source, opened)
    seen = look.look_at(tape, picture, scene, scene.stop if position is None else position)
    coloring = Coloring(tape, picture.cards, mode)
    found = {c.name or c.title: coloring.tint(c, seen.cards.get(c.key)) for c in picture.cards}
    return found, coloring.key()


def test_a_value_has_its_sign_and_its_size():
    found, key = tints("a = param(-4.0)\nb = param(1.0)\nc = a * b\nz = c * 0", "value")
    assert found["a"].share == -1.0
    assert found["b"].share == pytest.approx(math.sqrt(1 / 4))
    assert found["c"].words == "−4.0000"
    assert found["z"].share == 0.0
    assert key.ticks == ("−4", "−1", "0", "1", "4")


def test_a_tensor_shows_its_mean():
    found, _ = tints("x = torch.tensor([1.0, 2.0, 6.0])\ny = x * 2", "value")
    assert found["x"].words == "mean 3.0000"
    assert found["x"].share == pytest.approx(math.sqrt(3 / 6))


def test_what_is_no_number_is_an_alarm_and_spoils_no_scale():
    found, key = tints("a = param(2.0)\nb = a / 0\nc = b - b", "value")
    assert found["b"].alarm
    assert found["b"].words == "∞"
    assert found["c"].alarm
    assert found["c"].words == "NaN"
    assert key.ticks[-1] == "2"


def test_a_card_that_is_not_reached_has_no_tint():
    for mode in ("value", "gradient"):
        found, _ = tints("a = param(2.0)\nb = a * 3\nb.backward()", mode, position=0)
        assert found["b"] is None


@pytest.mark.parametrize(
    ("factor", "sign"), [("1e-9", "↓"), ("1e5", "↑"), ("2.0", ""), ("float('inf')", "↑")]
)
def test_a_gradient_that_vanishes_or_explodes_has_an_arrow(factor, sign):
    found, _ = tints(f"a = param(1.0)\nb = a * {factor}\nb.backward()", "gradient")
    tint = found["a"]
    assert tint.alarm is bool(sign)
    assert tint.words.startswith(sign)
    assert ("↑" in tint.words, "↓" in tint.words) == (sign == "↑", sign == "↓")


def test_the_gradient_scale_is_logarithmic_and_its_ends_are_where_arrows_begin():
    assert (10.0 ** DECADES[0], 10.0 ** DECADES[1]) == (VANISHING, EXPLODING)
    shares = [
        tints(f"a = param(1.0)\nb = a * {x}\nb.backward()", "gradient")[0]["a"].share
        for x in (1e-6, 1e-4, 1e-2, 1.0, 100.0)
    ]
    assert shares == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=1e-6)


def test_a_gradient_of_zero_is_at_the_very_end_and_marked():
    tint = tints("a = param(1.0)\nb = a * 0\nb.backward()", "gradient")[0]["a"]
    assert (tint.share, tint.alarm, tint.words) == (0.0, True, "↓ 0.0000")


def test_kept_bytes_are_those_that_torch_saves():
    source = "a = torch.ones(5, requires_grad=True)\nb = a.exp()\nc = b + 1\nc.sum().backward()"
    found, key = tints(source, "kept")
    assert found["b"].words == "20 B"  # exp keeps its result: 5 floats of 4 bytes
    assert found["b"].share == 1.0
    assert found["c"] is None
    assert key.ticks[-1] == "20 B"


def test_dtypes_and_devices_are_groups():
    source = "a = torch.ones(2)\nb = a.double()\nc = a > 0"
    found, key = tints(source, "dtype")
    assert [found[name].words for name in "abc"] == ["float32", "float64", "bool"]
    assert key.groups == ("float32", "float64", "bool")
    placed = tints(source, "device")[0]
    assert {placed[name].words for name in "abc"} == {"cpu"}


def test_modules_are_told_apart_at_the_level_where_they_differ():
    tape, _, folded = pictured(DEEP, frozenset())
    keys = frozenset(card.key for card in folded.cards if card.kind == "module")
    opened = build.build_picture(tape, build.scenes(tape)[0], keys)
    coloring = Coloring(tape, opened.cards, "module")
    names = coloring.key().groups
    assert {"net.0", "net.1", "net.2"} <= set(names)
    for card in opened.cards:
        if card.ops and card.call is None:
            tint = coloring.tint(card, None)
            scope = tape.ops[card.ops[0]].scope
            assert tint.words == (scope or "outside of modules")


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_stands_an_empty_picture_and_a_real_one(mode):
    if mode:
        assert tints("", mode)[0] == {}
    found, key = tints(DEEP, mode) if mode else ({}, None)
    for tint in filter(None, found.values()):
        assert tint.words
        assert -1.0 <= tint.share <= 1.0
        assert key.ticks or tint.words in key.groups


SLOW = """\
from time import perf_counter_ns
x = torch.ones(300, 300)
begun = perf_counter_ns()
y = x @ x
z = y + 1
took = perf_counter_ns() - begun
print(took)
"""


def test_each_op_takes_a_part_of_the_time_that_its_lines_take():
    tape, _, _picture = pictured(SLOW)
    assert len(tape.times) == len(tape.ops) == 2
    assert all(took > 0 for took in tape.times)
    assert sum(tape.times) < int(tape.stdout)
    found, key = tints(SLOW, "time")
    assert found["x"] is None  # nothing was called: it was there
    assert max(found["y"].share, found["z"].share) == 1.0
    assert key.ticks[0] == "0 ns"
    assert "measured once" in key.note


def test_a_folded_module_takes_the_time_of_all_ops_in_it():
    tape, _scene, picture = pictured(DEEP, frozenset())
    coloring = Coloring(tape, picture.cards, "time")
    folded = next(card for card in picture.cards if card.kind == "module")
    whole = sum(tape.times[op] for op in folded.ops)
    assert len(folded.ops) == 3
    assert coloring.tint(folded, None).words == formatting.duration(whole)


def test_a_tape_without_times_colours_nothing_by_them():
    tape, _scene, picture = pictured("a = torch.ones(2)\nb = a + 1")
    old = structs.replace(tape, times=())
    coloring = Coloring(old, picture.cards, "time")
    assert {coloring.tint(card, None) for card in picture.cards} == {None}
    assert coloring.key().ticks == ("0 ns", "0 ns", "0 ns")


def test_on_a_gpu_the_key_says_that_launches_are_timed():
    tape, _, picture = pictured("a = torch.ones(2)\nb = a + 1")
    there = Coloring(structs.replace(tape, device="cuda:0"), picture.cards, "time")
    assert "launched" in there.key().note
