"""The path of modules around a card."""

from gradscribe.engine.run.run import record
from gradscribe.playback.graph import build, look
from gradscribe.playback.graph.folding.breadcrumbs import breadcrumbs, playing_card
from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.tape.scenes import scenes

NET = """\
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
loss = net(torch.ones(4, 2)).sum()
loss.backward()
"""


def pictured():
    tape = record(NET)
    scene = scenes(tape)[0]
    return tape, scene, build.build_picture(tape, scene)


def titles(picture, key):
    return [crumb.title for crumb in breadcrumbs(picture, key)]


def test_a_card_in_a_module_stands_at_the_end_of_its_path():
    _, _, picture = pictured()
    linear = next(card for card in picture.cards if card.title == "linear")
    assert titles(picture, linear.key) == ["net", "0", "linear"]
    assert breadcrumbs(picture, linear.key)[-1].key == linear.key
    assert breadcrumbs(picture, linear.key)[0].key in {frame.key for frame in picture.frames}


def test_a_card_at_the_top_has_a_path_of_one():
    _, _, picture = pictured()
    card = next(card for card in picture.cards if card.kind == "loss")
    assert titles(picture, card.key) == [card.title]


def test_frames_and_wires_have_a_path_too():
    _, _, picture = pictured()
    assert titles(picture, picture.frames[-1].key)[0] == "net"
    wire = next(w for w in picture.wires if "linear" in w.target)
    assert titles(picture, wire.key)[-1] == "linear"


def test_an_unknown_key_has_none():
    assert breadcrumbs(Picture(cards=(), wires=()), "x") == ()


def test_the_card_that_plays_is_known():
    tape, scene, picture = pictured()
    at = [e.kind for e in tape.events].index("op") + 1
    assert "linear" in playing_card(look.look_at(tape, picture, scene, at)) or at
    assert playing_card(look.look_at(tape, picture, scene, 0)) == ""
