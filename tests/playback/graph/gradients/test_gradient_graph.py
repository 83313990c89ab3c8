"""The gradient graph: what requires a gradient, and nothing else."""

from gradscribe.engine.run.run import record
from gradscribe.playback.graph import look
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.gradients.gradient_graph import gradient_graph
from gradscribe.playback.layout import place
from gradscribe.playback.tape import scenes
from gradscribe.playback.tape.index import index_of

SOURCE = """\
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
data = torch.ones(4, 2)
target = data.sum() * 2
with torch.no_grad():
    checked = net(data)
loss = (net(data).sum() - target) ** 2
loss.backward()
"""


def pictures(source):
    tape = record(source)
    scene = scenes.scenes(tape)[0]
    whole = build_picture(tape, scene)
    return tape, scene, whole, gradient_graph(index_of(tape), whole)


def test_only_what_requires_a_gradient_stays():
    tape, _, whole, part = pictures(SOURCE)
    needs = {
        whole.value_cards[v.id]
        for v in tape.values
        if v.requires_grad and v.id in whole.value_cards
    }
    assert {card.key for card in part.cards} == needs
    assert part.hidden == len(whole.cards) - len(part.cards) > 0
    keys = {card.key for card in part.cards}
    assert all(wire.source in keys and wire.target in keys for wire in part.wires)
    assert set(part.value_cards.values()) | set(part.node_cards.values()) <= keys
    used = {card.frame for card in part.cards if card.frame}
    assert used <= {frame.key for frame in part.frames}


def test_it_is_laid_out_and_played_like_any_picture():
    tape, scene, _, part = pictures(SOURCE)
    placed = place.place(part)
    assert placed.cards.keys() == {card.key for card in part.cards}
    for position in range(len(tape.events) + 1):
        shown = look.look_at(tape, part, scene, position)
        assert shown.cards.keys() <= placed.cards.keys()


def test_a_program_without_gradients_stays_whole():
    _, _, whole, part = pictures("a = torch.ones(2)\nb = a * 2")
    assert part is whole


def test_the_call_that_failed_stays():
    _, _, _, part = pictures("a = torch.ones(2, requires_grad=True) * 1\nb = a @ torch.ones(3)")
    assert any(card.failed for card in part.cards)
