"""Weakest and strongest parameter of folded modules, beside norms computed by plain torch."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn, optim
from torch.nn import functional

from gradscribe.engine.run.run import record
from gradscribe.playback.graph import build, look
from gradscribe.playback.graph.coloring import Coloring
from gradscribe.playback.graph.gradients.parameter_gradients import ParameterGradients
from gradscribe.playback.tape.index import index_of

BLOCKS = """
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.norm, self.fc, self.scale = nn.LayerNorm(6), nn.Linear(6, 6), scale
    def forward(self, x):
        return x + torch.tanh(self.fc(self.norm(x))) * self.scale
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.ModuleList([Block(1e-4 if i == 2 else 1.0) for i in range(5)])
        self.out = nn.Linear(6, 2)
    def forward(self, x):
        for block in self.h:
            x = block(x)
        return self.out(x)
net = Net()
x, y = torch.randn(9, 6), torch.randint(0, 2, (9,))
"""
ONCE = "F.cross_entropy(net(x), y).backward()\n"


def ran(source):
    """Return the variables of a program in plain torch."""
    names = {"torch": torch, "nn": nn, "F": functional, "optim": optim}
    exec(compile(source, "program", "exec"), names)
    return SimpleNamespace(**names)


def norms(module):
    """Return name -> norm of the gradient, for the parameters of a module that have one."""
    rows = module.named_parameters()
    return {name: float(p.grad.norm()) for name, p in rows if p.grad is not None}


def pictured(source, depth, scene=0):
    """Return index, scene and picture of a program with ``depth`` levels of modules open."""
    index = index_of(record(source))
    scene = build.scenes(index)[scene]
    opened: frozenset[str] = frozenset()
    for _ in range(depth):
        cards = build.build_picture(index, scene, opened).cards
        opened |= {card.key for card in cards if card.kind == "module"}
    return index, scene, build.build_picture(index, scene, opened)


def card_of(picture, part):
    return next(card for card in picture.cards if card.kind == "module" and part in card.key)


def ranged(index, picture, card, position):
    found = ParameterGradients(index, picture.cards).at(card, position)
    names = index.values[found.weakest].name, index.values[found.strongest].name
    return names, (found.least, found.most)


@pytest.mark.parametrize("depth", [0, 1, 2], ids=["net", "five blocks", "each block"])
def test_the_range_is_torchs_over_every_parameter_inside(depth):
    index, scene, picture = pictured(BLOCKS + ONCE, depth)
    torchs = {f"net.{name}": norm for name, norm in norms(ran(BLOCKS + ONCE).net).items()}
    cards = [card for card in picture.cards if card.leaves]
    assert len(cards) == (1, 2, 5)[depth]
    for card in cards:
        inside = {index.values[leaf].name: 0.0 for leaf in card.leaves}
        inside = {name: torchs[name] for name in inside}
        (weakest, strongest), (least, most) = ranged(index, picture, card, scene.stop)
        assert (weakest, strongest) == (min(inside, key=inside.get), max(inside, key=inside.get))
        assert (least, most) == pytest.approx((inside[weakest], inside[strongest]))


def test_a_starved_block_differs_from_its_siblings_in_colour_words_and_mark():
    index, scene, picture = pictured(BLOCKS + ONCE, 2)
    seen = look.look_at(index, picture, scene, scene.stop)
    coloring = Coloring(index.tape, picture.cards, "gradient")
    blocks = [card for card in picture.cards if ".h." in card.key]
    tints = [coloring.tint(card, seen.cards[card.key]) for card in blocks]
    assert [tint.alarm for tint in tints] == [False, False, True, False, False]
    assert [tint.words.startswith("↓") for tint in tints] == [False, False, True, False, False]
    others = [tint for n, tint in enumerate(tints) if n != 2]
    # A factor of 10,000 is four of the eight decades of the scale.
    assert all(other.share - tints[2].share == pytest.approx(0.5, abs=0.1) for other in others)
    assert all(other.least - tints[2].least == pytest.approx(0.5, abs=0.1) for other in others)
    torchs = [max(norms(block).values()) for block in ran(BLOCKS + ONCE).net.h]
    usual = sorted(torchs)[2]
    lines = ParameterGradients(index, picture.cards).lines(blocks[2], scene.stop)
    factor = float(lines[-1].split()[1].replace(",", ""))
    assert factor == pytest.approx(usual / torchs[2], rel=0.5)
    assert "net.h.2." in lines[0]
    assert "folded" in coloring.key().note


def test_a_card_of_repeats_says_which_of_them_is_starved():
    index, scene, picture = pictured(BLOCKS + ONCE, 1)
    card = card_of(picture, "repeat")
    seen = look.look_at(index, picture, scene, scene.stop).cards[card.key]
    assert Coloring(index.tape, picture.cards, "gradient").tint(card, seen).alarm
    line = ParameterGradients(index, picture.cards).lines(card, scene.stop)[-1]
    torchs = [max(norms(block).values()) for block in ran(BLOCKS + ONCE).net.h]
    assert line.startswith("in net.h.2 about ")
    factor = float(line.split()[3].replace(",", ""))
    assert factor == pytest.approx(sorted(torchs)[2] / torchs[2], rel=0.5)


@pytest.mark.parametrize(
    "changed",
    [
        ("1e-4 if i == 2 else 1.0", "1e-4"),
        ("1e-4 if i == 2 else 1.0", "0.5 ** i"),
        ("range(5)", "range(2)"),
        ("nn.Linear(6, 6)", "nn.Linear(6, 6, bias=False)"),
    ],
    ids=["all alike", "by depth", "only two", "healthy"],
)
def test_healthy_blocks_have_no_mark(changed):
    source = BLOCKS.replace(*changed)
    source = source.replace("1e-4 if i == 2 else 1.0", "1.0") + ONCE
    for depth in (1, 2):
        index, scene, picture = pictured(source, depth)
        found = ParameterGradients(index, picture.cards)
        assert not any(found.starvation(card) for card in picture.cards)
        lines = [line for card in picture.cards for line in found.lines(card, scene.stop)]
        assert lines
        assert not any("smaller" in line for line in lines)


STEPS = """
opt = optim.SGD(net.parameters(), lr=0.5)
for step in range(2):
    {before}
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    {after}
    opt.step()
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("opt.zero_grad()", "pass"),
        ("pass", "pass"),
        ("opt.zero_grad(set_to_none=False)", "nn.utils.clip_grad_norm_(net.parameters(), 0.01)"),
        ("opt.zero_grad()", "net.h[1].fc.weight.grad *= float('nan') if step else 1.0"),
    ],
    ids=["reset", "accumulated", "zeros and clipped", "nan"],
)
def test_the_range_follows_resets_sums_and_rewrites(before, after):
    source = BLOCKS + STEPS.format(before=before, after=after)
    index, scene, picture = pictured(source, 1, -1)
    torchs = norms(ran(source).net)
    card = card_of(picture, "repeat")
    seen = look.look_at(index, picture, scene, scene.stop).cards[card.key]
    inside = {name: norm for name, norm in torchs.items() if name.startswith("h.")}
    found = ParameterGradients(index, picture.cards).at(card, seen.inside)
    finite = [norm for norm in inside.values() if math.isfinite(norm)]
    assert found.least == pytest.approx(min(finite), rel=1e-5)
    expected = math.inf if len(finite) < len(inside) else max(finite)
    assert found.most == pytest.approx(expected, rel=1e-5)


def test_before_the_pass_nothing_is_coloured_and_what_is_left_from_a_step_before_is():
    source = BLOCKS + STEPS.format(before="pass", after="pass")
    index, scene, picture = pictured(source, 1)
    card = card_of(picture, "repeat")
    coloring = Coloring(index.tape, picture.cards, "gradient")
    first = look.look_at(index, picture, scene, scene.start + 1).cards.get(card.key)
    assert coloring.tint(card, first) is None
    index, scene, picture = pictured(source, 1, -1)
    card = card_of(picture, "repeat")
    seen = look.look_at(index, picture, scene, scene.start).cards[card.key]
    once = ran(BLOCKS + STEPS.format(before="pass", after="pass").replace("range(2)", "range(1)"))
    most = max(norm for name, norm in norms(once.net).items() if name.startswith("h."))
    assert ranged(index, picture, card, seen.inside)[1][1] == pytest.approx(most)


def test_a_block_without_trained_parameters_has_the_gradient_of_its_result():
    source = BLOCKS + "for p in net.h.parameters():\n    p.requires_grad_(False)\n"
    source += "x.requires_grad_()\n" + ONCE
    index, scene, picture = pictured(source, 1)
    card = card_of(picture, "repeat")
    seen = look.look_at(index, picture, scene, scene.stop).cards[card.key]
    tint = Coloring(index.tape, picture.cards, "gradient").tint(card, seen)
    assert tint.least is None
    assert tint.share > 0


def test_a_folded_row_of_parameters_has_a_range():
    source = (
        "ws = [torch.full((2,), float(n + 1), requires_grad=True) for n in range(30)]\n"
        "total = sum((w * 10.0 ** -n).sum() for n, w in enumerate(ws))\ntotal.backward()"
    )
    index, scene, picture = pictured(source, 0)
    rows = [card for card in picture.cards if card.leaves]
    torchs = [float(w.grad.norm()) for w in ran(source).ws]
    (row,) = rows
    inside = [torchs[int(index.values[leaf].name[3:-1])] for leaf in row.leaves]
    assert len(inside) == 29
    found = ranged(index, picture, row, scene.stop)[1]
    assert found == pytest.approx((min(inside), max(inside)))
