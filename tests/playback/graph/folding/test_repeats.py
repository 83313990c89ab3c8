from functools import cache

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.dot import to_dot
from gradscribe.playback.graph.folding import repeats
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.layout.place import place
from gradscribe.playback.tape.scenes import scenes
from tests.playback.graph.multi_pass_programs import PROGRAMS

PAGE = (1600, 1000)
LEGIBLE_PX = 14
LONG = {
    "views": "x = torch.ones(4, 4, requires_grad=True)\ny = x\nfor i in range(700):\n"
    "    y = y.view(4, 4)\ny.sum().backward()",
    "views in turn": "x = torch.ones(4, 4, requires_grad=True)\ny = x\nfor i in range(700):\n"
    "    y = y.t() if i % 2 else y.view(4, 4)\ny.sum().backward()",
    "steps": "x = param(1.0)\ny = x\nfor i in range(3000):\n    y = y * 1.0001 + 0.00001\n"
    "y.backward()",
    "attention twice": "layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)\n"
    "enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)\nx = torch.randn(2, 5, 8)\n"
    "enc.eval()\nwith torch.no_grad():\n    fast = enc(x)\nenc(x).pow(2).mean().backward()",
    "cells in time": """\
class Cell(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mix = nn.Linear(size + 3, 12)
    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.mix(torch.cat([x, h], 1)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
cells = nn.ModuleList([Cell(1), Cell(3)])
x = torch.randn(2, 12, 1)
states = [(torch.zeros(2, 3), torch.zeros(2, 3)) for _ in cells]
for t in range(12):
    h = x[:, t]
    for k, cell in enumerate(cells):
        states[k] = cell(h, states[k])
        h = states[k][0]
h.pow(2).mean().backward()
""",
    "leaves in a row": "ws = [torch.ones(2, requires_grad=True) for _ in range(60)]\n"
    "torch.stack(ws).pow(2).sum().backward()",
    "a long sum": "ws = [torch.ones(2, requires_grad=True) for _ in range(60)]\n"
    "total = 0\nfor w in ws:\n    total = total + w.pow(2).sum()\ntotal.backward()",
}


@cache
def drawn(source, keys=None):
    tape = record(source)
    assert tape.status == "ok", tape.error
    scene = scenes(tape)[-1]
    picture = build_picture(tape, scene, keys)
    return tape, scene, picture


def smallest_card(picture):
    """Return the height in pixels of the lowest card where the picture is fitted to a page."""
    placed = place(picture)
    scale = min(1.0, PAGE[0] / placed.width, PAGE[1] / placed.height)
    return scale * min(card.height for card in placed.cards.values())


@pytest.mark.parametrize("source", [*LONG.values(), *PROGRAMS.values()])
def test_a_picture_fitted_to_a_page_is_legible(source):
    assert smallest_card(drawn(source)[2]) >= LEGIBLE_PX


def test_the_folding_is_said_in_words():
    _, _, picture = drawn(LONG["views"])
    (card,) = [card for card in picture.cards if card.repeats > 1]
    assert (card.title, card.mark, card.repeats) == ("view", "×700", 700)
    assert card.note.startswith("700 × view")
    assert "view ×700" in to_dot(picture)


def test_a_sequence_of_ops_folds_as_a_whole():
    _, _, picture = drawn(LONG["steps"])
    (card,) = [card for card in picture.cards if card.kind == "module"]
    assert (card.repeats, len(card.ops)) == (3000, 6000)
    assert card.note == "3000 × (mul, add) · 6,000 ops"


def test_the_leaf_beyond_a_fold_has_torchs_gradient():
    tape, scene, picture = drawn(LONG["steps"])
    look = look_at(tape, picture, scene, scene.stop)
    (leaf,) = [card for card in picture.cards if card.kind == "parameter"]
    (final,) = [leaf for leaf in tape.leaves if leaf.name == "x"]
    assert look.cards[leaf.key].gradient is not None
    assert tape.snapshots[look.cards[leaf.key].gradient] == tape.snapshots[final.grad]
    assert all(look.cards[card.key].reached for card in picture.cards)


@pytest.mark.parametrize("source", LONG.values())
def test_every_op_is_reached_by_opening_fold_after_fold(source):
    tape, scene, picture = drawn(source)
    keys: frozenset[str] = frozenset()
    while more := {c.key for c in picture.cards if c.kind == "module"} - keys:
        keys |= more
        picture = build_picture(tape, scene, keys)
    ops = {op for card in picture.cards for op in card.ops}
    assert ops == set(range(len(tape.ops)))
    look = look_at(tape, picture, scene, scene.stop)
    assert all(look.cards[card.key].reached for card in picture.cards)
    place(picture)


def test_an_opened_fold_shows_no_more_parts_than_are_legible():
    source = LONG["views"]
    _, _, folded = drawn(source)
    (card,) = [card for card in folded.cards if card.repeats > 1]
    _, _, picture = drawn(source, frozenset({card.key}))
    inside = [part for part in picture.cards if part.frame == card.key]
    assert len(inside) <= repeats.SPLIT
    assert sum(part.repeats for part in inside) == 700
    assert picture.frames[0].title == "700 × view"
    assert smallest_card(picture) >= LEGIBLE_PX


def test_a_row_of_leaves_folds_and_opens():
    source = LONG["leaves in a row"]
    tape, scene, picture = drawn(source)
    (row,) = [card for card in picture.cards if card.kind == "module"]
    assert row.note == "60 parameters in a row"
    assert len([wire for wire in picture.wires if wire.source == row.key]) == 1
    _, _, opened = drawn(source, frozenset({row.key}))
    leaves = [card for card in opened.cards if card.kind == "parameter"]
    assert [card.name for card in leaves] == [f"ws[{n}]" for n in range(60)]
    assert {card.frame for card in leaves} == {row.key}
    look = look_at(tape, opened, scene, scene.stop)
    grads = [tape.snapshots[look.cards[card.key].gradient].array().tolist() for card in leaves]
    assert grads == [[2.0, 2.0]] * 60


def test_a_short_chain_is_not_folded():
    _, _, picture = drawn("x = param(1.0)\ny = x\nfor i in range(8):\n    y = y * 2\ny.backward()")
    assert not [card for card in picture.cards if card.kind == "module"]


def test_ops_on_lines_of_their_own_are_not_folded():
    lines = "".join(f"x{n + 1} = x{n} * 1.5\n" for n in range(60))
    _, _, picture = drawn("x0 = param(1.0)\n" + lines + "x60.backward()")
    assert not [card for card in picture.cards if card.kind == "module"]


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ("a" * 10, [(0, 1, 10)]),
        ("xababababab", [(1, 2, 5)]),
        ("abcabcabcz", [(0, 3, 3)]),
        ("aaaa", []),
        ("abcdefghijkl", []),
        ("a" * 8 + "b" * 9, [(0, 1, 8), (8, 1, 9)]),
        ("", []),
    ],
)
def test_stretches_are_found_from_left_to_right(signs, expected):
    assert repeats.stretches(signs) == expected
