"""The failing call of a program stands in its picture, joined to its arguments."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.graph import sizes
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.tape.scenes import scenes

SHAPES = """
x = torch.ones(2, 3)
w = param(torch.ones(4, 5))
h = x * 2
y = h @ w
"""
NET = """
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(5, 1))
out = net(torch.ones(2, 3))
"""
LOOP = """
w = param(1.0)
for size in (2, 2, 3):
    loss = (w * torch.ones(size) - torch.ones(2)).sum()
    loss.backward()
"""
INPLACE = """
a = param([1.0, 2.0])
b = a.exp()
b.add_(1)
b.sum().backward()
"""


def end_of(text, open_calls=None):
    tape = record(text)
    scene = scenes(tape)[-1]
    return tape, scene, build_picture(tape, scene, open_calls)


def test_the_call_that_raised_is_the_last_card_and_says_why():
    tape, _, picture = end_of(SHAPES)
    card = picture.cards[-1]
    assert (card.title, card.kind, card.op, card.value) == ("matmul", "op", None, None)
    assert card.failed == tape.error.message == card.note
    names = {one.key: one.name or one.title for one in picture.cards}
    into = [wire for wire in picture.wires if wire.target == card.key]
    assert [(names[wire.source], wire.shape) for wire in into] == [("h", "2 × 3"), ("w", "4 × 5")]
    assert [wire.dashed for wire in into] == [True, False]
    assert not any(wire.cut for wire in into)


def test_it_is_reached_when_the_error_is_raised_and_not_before():
    tape, scene, picture = end_of(SHAPES)
    key = picture.cards[-1].key
    last = len(tape.events)
    assert tape.events[-1].kind == "error"
    before, after = (look_at(tape, picture, scene, at) for at in (last - 1, last))
    assert key not in before.cards
    assert (after.cards[key].reached, after.cards[key].failed) == (True, True)
    into = [wire.key for wire in picture.wires if wire.target == key]
    assert all(after.wires[wire].carried for wire in into)
    assert all(after.cards[wire.source].reached for wire in picture.wires)
    assert sum(card.failed for card in after.cards.values()) == 1


def test_inside_a_module_it_stands_in_the_frame_with_its_parameters():
    _, _, picture = end_of(NET)
    card = picture.cards[-1]
    (frame,) = (one for one in picture.frames if one.title == "net")
    assert (card.title, card.name, card.frame) == ("linear", "net.2", frame.key)
    cards = {one.key: one for one in picture.cards}
    sources = [cards[wire.source] for wire in picture.wires if wire.target == card.key]
    assert [one.title for one in sources] == ["relu", "2.weight", "2.bias"]
    assert [one.frame for one in sources[1:]] == [frame.key] * 2


def test_beside_folded_modules_it_is_joined_to_them():
    _, _, picture = end_of(NET, frozenset())
    card = picture.cards[-1]
    cards = {one.key: one for one in picture.cards}
    assert card.frame == ""
    first = next(wire for wire in picture.wires if wire.target == card.key)
    assert cards[first.source].kind == "module"


def test_a_round_of_a_loop_that_fails_at_its_start_is_a_scene_of_its_own():
    text = (
        "net = nn.Linear(4, 1)\nopt = optim.SGD(net.parameters(), lr=0.1)\n"
        "for batch in [torch.ones(2, 4), torch.ones(2, 4), torch.ones(2, 5)]:\n"
        "    opt.zero_grad()\n    net(batch).sum().backward()\n    opt.step()\n"
    )
    tape, scene, picture = end_of(text)
    kinds = [event.kind for event in tape.events[scene.start :]]
    assert kinds == ["zero_grad", "enter", "leave", "error"]
    assert len(scenes(tape)) == 3
    names = {card.key: card.title for card in picture.cards}
    assert [names[w.source] for w in picture.wires] == ["batch", "net.weight", "net.bias"]
    assert picture.cards[-1].failed


def test_only_the_last_scene_ends_in_it():
    tape = record(LOOP)
    found = [build_picture(tape, scene) for scene in scenes(tape)]
    assert len(found) > 1
    ends = [sum(bool(card.failed) for card in picture.cards) for picture in found]
    assert ends == [0] * (len(found) - 1) + [1]


@pytest.mark.parametrize("text", [SHAPES, "torch.ones(2) @ torch.ones(3)", "y = torch.ones(2)[7]"])
def test_operands_are_there_even_where_no_op_ran(text):
    _, _, picture = end_of(text)
    keys = [card.key for card in picture.cards]
    assert len(keys) == len(set(keys))
    assert any(wire.target == keys[-1] for wire in picture.wires)


def test_the_card_of_the_backward_node_that_raised_is_marked():
    tape, scene, picture = end_of(INPLACE)
    marked = [card.title for card in picture.cards if card.failed]
    assert marked == ["exp"]
    after = look_at(tape, picture, scene, len(tape.events))
    assert [key for key, card in after.cards.items() if card.failed] == ["op:exp:b:0"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("x = param([1.0, 2.0])\ny = x * 3\ny.backward()", "mul"),
        ("x = torch.ones(2)\nx.backward()", "x"),
    ],
)
def test_the_card_that_backward_cannot_begin_at_is_marked(text, title):
    tape, scene, picture = end_of(text)
    assert [card.title for card in picture.cards if card.failed] == [title]
    after = look_at(tape, picture, scene, len(tape.events))
    assert sum(card.failed for card in after.cards.values()) == 1


def test_a_long_message_makes_a_card_wider_then_taller_to_a_limit():
    made = [sizes.failed("matmul", "", "word " * count) for count in (1, 8, 20, 400)]
    assert made == sorted(made)
    assert max(width for width, _ in made) == sizes.MAX_WIDTH
    assert made[-1][1] == 42 + 15 * sizes.MAX_ERROR_LINES
