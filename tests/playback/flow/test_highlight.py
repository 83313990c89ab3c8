"""Answers of the graph: the cards that stay, in the order in which they light up, and words."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.flow.highlight import Highlight, answer
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.tape import scenes
from gradscribe.playback.tape.index import index_of

PATHS = "x = param(2.0)\ny = param(3.0)\nz = x * y\nw = z + x\nloss = w**2\nloss.backward()"


def ask(source, question, name="", way=-1):
    """The names of the cards that stay in order, and the words."""
    tape = record(source)
    index, picture = index_of(tape), build_picture(tape, scenes.scenes(tape)[0])
    value = next((v.id for v in tape.values if v.name == name), None)
    key = picture.value_cards[value] if name else ""
    found = answer(index, picture, Highlight(question, key, way))
    named = {card.key: card.name or card.title for card in picture.cards}
    return [named[key] for key in found.cards], found.words


def test_the_ways_light_up_from_the_selection_to_the_loss():
    assert ask(PATHS, "ways", "x") == (
        ["x", "z", "w", "loss"],
        "2 ways from x to the loss; 48 + 16 = 64",
    )
    assert ask(PATHS, "ways", "x", 1) == (
        ["x", "w", "loss"],
        "Way 2 of 2: add 1 · pow 16  = 16",
    )


def test_what_leads_to_a_card_lights_up_backwards():
    assert ask(PATHS, "before", "w") == (["w", "z", "y", "x"], "3 cards lead to w")


def test_the_critical_path_has_its_times():
    names, words = ask(PATHS, "critical")
    assert names == ["z", "w", "loss"]
    assert words.startswith("3 ops, ")
    assert "; slowest " in words


LEAF = "x = param(2.0)\ny = param(3.0)\n"
CUTS = {
    "a = x.detach()\n(a * y).backward()": "x is cut at detach, line 3",
    "a = x.data\n(a * y).backward()": "x is cut at data, line 3",
    "with torch.no_grad():\n    a = x * 2\n(a * y).backward()": "x is cut at mul, line 4",
    "a = (x * 2).item()\n(y * a).backward()": "x does not lead to the loss: it ends at mul, line 3",
    "a = x > 1\n(y * a).backward()": "x is cut at gt, line 3",
    "(y * 2).backward()": "x does not lead to the loss",
    "(y * x).backward()": "x is cut nowhere",
    "z = x * y": "x is cut nowhere; no backward has run",
}


@pytest.mark.parametrize("rest", CUTS)
def test_it_says_where_a_leaf_is_cut(rest):
    words = ask(LEAF + rest, "cut", "x")[1]
    assert words.startswith(CUTS[rest])


def test_a_leaf_that_asks_for_no_gradient_is_not_cut():
    words = ask("x = torch.tensor(2.0)\ny = param(3.0)\n(x * y).backward()", "cut", "x")[1]
    assert words == "x does not require a gradient"


def test_no_way_says_where_it_is_cut():
    words = ask(LEAF + "a = x.detach()\n(a * y).backward()", "ways", "x")[1]
    assert words == "No way leads from the loss back to x: x is cut at detach, line 3"


def test_a_program_without_ops_has_no_critical_path():
    assert ask("x = param(2.0)", "critical") == ([], "No times were recorded")
