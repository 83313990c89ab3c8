"""Pictures as DOT text."""

import re

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.graph import build
from gradscribe.playback.graph.dot import to_dot
from gradscribe.playback.graph.picture import Card, Frame, Picture, Wire

NET = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
loss = net(torch.ones(3, 2)).sum()
loss.backward()
"""


def pictured(source, opened=None):
    tape = record(source)
    return build.build_picture(tape, build.scenes(tape)[0], opened)


def test_every_card_is_a_node_and_every_wire_an_edge():
    picture = pictured("a = param(2.0)\nb = param(3.0)\nc = a * b\nd = c + a\nd.backward()")
    text = to_dot(picture, "Two paths")
    assert text.startswith('digraph "Two paths" {')
    assert len(re.findall(r"^ +n\d+ \[", text, re.MULTILINE)) == len(picture.cards) == 4
    edges = re.findall(r"(n\d+) -> (n\d+)", text)
    numbers = {card.key: f"n{i}" for i, card in enumerate(picture.cards)}
    assert edges == [(numbers[w.source], numbers[w.target]) for w in picture.wires]


def test_open_modules_are_clusters_in_each_other_and_braces_match():
    text = to_dot(pictured(NET))
    assert text.count("subgraph") == len(pictured(NET).frames) > 1
    assert text.count("{") == text.count("}")
    assert 'label="net: Sequential"' in text


def test_folded_modules_are_nodes():
    text = to_dot(pictured(NET, frozenset()))
    assert "subgraph" not in text
    assert "box3d" in text


def test_the_same_picture_gives_the_same_text():
    assert to_dot(pictured(NET)) == to_dot(pictured(NET))


@pytest.mark.parametrize("words", ['say "hi"', "a\\b", "two\nlines", "x -> y; }", "∂L/∂w", ""])
def test_no_text_breaks_out_of_its_quotes(words):
    cards = (Card("k", "op", words, name=words), Card("m", "data", words, frame="f"))
    frames = (Frame("f", 0, words, words),)
    text = to_dot(Picture(cards, (Wire("w", "m", "k", 0, shape=words),), frames), words)
    bare = re.sub(r'"(?:[^"\\\n]|\\.)*"', "S", text)
    assert '"' not in bare
    assert bare.count("{") == bare.count("}") == 2
    assert bare.count("->") == 1


def test_an_empty_picture_is_an_empty_graph():
    assert to_dot(Picture((), ())) == 'digraph "graph" {\n  ordering=in;\n}\n'


def test_what_is_cut_off_is_dashed():
    cards = (Card("a", "constant", "a"), Card("b", "op", "mul"))
    text = to_dot(Picture(cards, (Wire("w", "a", "b", 0, dashed=True),)))
    assert '[style="dashed"]' in text


def test_the_call_that_raised_says_why_and_has_a_double_outline():
    picture = pictured("a = param([1.0, 2.0])\nb = a * 2\nc = b @ torch.ones(3)")
    node = f"n{len(picture.cards) - 1}"
    (line,) = (one for one in to_dot(picture).splitlines() if one.strip().startswith(f"{node} ["))
    assert picture.cards[-1].failed
    assert line.count(picture.cards[-1].failed.split(",")[0]) == 1
    assert "matmul" in line
    assert "peripheries=2" in line
