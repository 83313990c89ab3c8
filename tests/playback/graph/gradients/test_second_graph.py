import pytest

from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.dot import to_dot
from gradscribe.playback.graph.gradients import second_graph
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.layout.place import place
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.scenes import scenes
from tests.playback.graph.second_derivative_programs import PROGRAMS

CUBE = PROGRAMS["custom function twice"]
TWICE = """\
x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
(g,) = torch.autograd.grad(y, x, create_graph=True)
h = g * 2
h.backward()
"""


def drawn(tape):
    scene = scenes(tape)[-1]
    picture = build_picture(tape, scene)
    return picture, look_at(tape, picture, scene, scene.stop)


def leads(picture, source, target):
    """Return whether wires lead from a card titled ``source`` to a card named ``target``."""
    cards = {card.key: card for card in picture.cards}
    reached = {key for key, card in cards.items() if card.title == source}
    for _ in cards:
        reached |= {wire.target for wire in picture.wires if wire.source in reached}
    return any(cards[key].name == target for key in reached)


def test_the_graph_of_a_gradient_is_joined_to_its_leaf(recorded):
    picture, look = drawn(recorded(TWICE))
    assert leads(picture, "x", "h")
    assert [c.title for c in picture.cards if c.kind == "data"] == []
    (g,) = [card for card in picture.cards if card.name == "g"]
    assert look.cards[g.key].reached
    tape = recorded(TWICE)
    assert tape.snapshots[look.cards[g.key].snapshot].item() == 3 * 2.0**2
    assert tape.snapshots[look.cards[g.key].gradient].item() == 2.0


def test_dot_joins_the_result_of_a_second_graph_to_the_leaf(recorded):
    text = to_dot(drawn(recorded(TWICE))[0])
    names = {line.split()[0]: line for line in text.splitlines() if "[label=" in line}
    arrows = [line.split()[::2] for line in text.splitlines() if "->" in line]
    start = next(key for key, line in names.items() if 'label="x"' in line)
    end = next(key for key, line in names.items() if r"\nh" in line)
    reached = {start}
    for _ in names:
        reached |= {a[1].rstrip(";") for a in arrows if a[0] in reached}
    assert end in reached


def test_ops_inside_a_custom_backward_are_drawn_and_reached(recorded):
    picture, look = drawn(recorded(CUBE))
    assert {"mul", "pow"} <= {card.title for card in picture.cards}
    assert leads(picture, "x", "g1")
    assert leads(picture, "x", "g2")
    assert all(look.cards[card.key].reached for card in picture.cards)


def test_ops_inside_a_first_order_backward_are_not_drawn(recorded):
    once = CUBE.replace(", create_graph=True", "").replace("(g1 + g2).backward()", "")
    once = once.replace("(g2,) = torch.autograd.grad(g1, x)\n", "")
    picture, _ = drawn(recorded(once))
    assert [card.title for card in picture.cards if card.kind in ("op", "loss")] == ["Cube"]


def test_a_vmapped_result_is_joined_to_its_weights(recorded):
    picture, look = drawn(
        recorded(
            "w = torch.ones(3, 2, requires_grad=True)\nx = torch.ones(2)\n"
            "out = torch.func.vmap(lambda row: (row * x).sum())(w)\nloss = out.sum()\n"
            "loss.backward()"
        )
    )
    assert leads(picture, "w", "loss")
    (w,) = [card for card in picture.cards if card.title == "w"]
    assert look.cards[w.key].gradient is not None


@pytest.mark.parametrize(
    ("node", "title"),
    [("MulBackward1", "mul"), ("UnsafeViewBackward0", "view"), ("ReluBackward0", "relu")],
)
def test_a_node_is_titled_by_its_op(recorded, node, title):
    index = index_of(recorded(TWICE))
    some = next(iter(index.nodes.values()))
    named = type(some)(some.id, node, None, ())
    assert second_graph.title(named) == title


def test_a_large_second_graph_folds_and_opens(recorded):
    tape = recorded(
        "net = nn.Sequential(*[nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(12)])\n"
        "x = torch.ones(1, 2, requires_grad=True)\n"
        "(g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)\n"
        "loss = g.pow(2).sum()\nloss.backward()"
    )
    picture, look = drawn(tape)
    (card,) = [card for card in picture.cards if card.title == "Pass 1: ∂L/∂x"]
    assert card.name == "g"
    assert card.note.endswith("backward nodes")
    assert all(look.cards[card.key].reached for card in picture.cards)
    scene = scenes(tape)[-1]
    opened = build_picture(tape, scene, frozenset({card.key}))
    inside = [part for part in opened.cards if part.frame == card.key]
    assert len(inside) == int(card.note.split()[0])
    after = look_at(tape, opened, scene, scene.stop)
    assert all(after.cards[card.key].reached for card in opened.cards)
    place(opened)
    for drawing in (picture, opened):
        sources = {wire.target for wire in drawing.wires}
        assert {c.key for c in drawing.cards if c.name == "g" or c.key == card.key} <= sources


def test_nodes_of_each_pass_stand_in_a_frame_of_their_own(recorded):
    tape = recorded(
        "x = torch.tensor(3.0, requires_grad=True)\ny = x ** 3\n"
        "(dy,) = torch.autograd.grad(y, x, create_graph=True)\n"
        "(d2y,) = torch.autograd.grad(dy, x, create_graph=True)\nd2y.backward()"
    )
    picture, _ = drawn(tape)
    titles = {frame.key: frame.title for frame in picture.frames}
    assert list(titles.values()) == ["Pass 1: ∂y/∂x", "Pass 2: ∂dy/∂x"]
    around = {card.name: titles.get(card.frame) for card in picture.cards if card.name}
    assert around["dy"] == "Pass 1: ∂y/∂x"
    assert around["d2y"] == "Pass 2: ∂dy/∂x"
    assert around["y"] is None


def test_a_pass_folds_alone_and_keeps_its_wires(recorded):
    tape = recorded(TWICE)
    scene = scenes(tape)[-1]
    folded = build_picture(tape, scene, frozenset())
    (card,) = [card for card in folded.cards if card.kind == "module"]
    assert (card.title, card.name, card.note) == ("Pass 1: ∂y/∂x", "g", "3 backward nodes")
    assert leads(folded, "x", "h")
    after = look_at(tape, folded, scene, scene.stop)
    assert tape.snapshots[after.cards[card.key].snapshot].item() == 12.0


def test_a_gradient_without_a_graph_is_a_result_joined_to_root_and_input(recorded):
    picture, look = drawn(recorded(TWICE.replace(", create_graph=True", "").split("h =")[0]))
    (card,) = [card for card in picture.cards if card.name == "g"]
    assert (card.kind, card.note, card.cut) == ("op", "∂y/∂x", True)
    titles = {c.key: c.name for c in picture.cards}
    assert {titles[w.source] for w in picture.wires if w.target == card.key} == {"x", "y"}
    assert {w.cut for w in picture.wires if w.target == card.key} == {"grad"}
    assert look.cards[card.key].reached


def test_a_gradient_that_only_an_update_takes_is_drawn(recorded):
    picture, _ = drawn(
        recorded(
            "w = torch.tensor(2.0, requires_grad=True)\nloss = w ** 2\n"
            "(g,) = torch.autograd.grad(loss, w)\nwith torch.no_grad():\n    w -= 0.1 * g"
        )
    )
    assert "∂loss/∂w" in {card.note for card in picture.cards}


def test_an_earlier_pass_is_past_once_the_next_begins(recorded):
    tape = recorded(
        "x = torch.tensor(3.0, requires_grad=True)\ny = x ** 3\n"
        "(dy,) = torch.autograd.grad(y, x, create_graph=True)\n"
        "(d2y,) = torch.autograd.grad(dy, x)\n"
    )
    picture, end = drawn(tape)
    scene, (first, second) = scenes(tape)[-1], sorted(index_of(tape).passes.values())
    cards = {card.name: card.key for card in picture.cards}
    before = look_at(tape, picture, scene, first[1] + 1)
    assert not before.cards[cards["y"]].past
    assert tape.snapshots[before.cards[cards["x"]].gradient].item() == 27.0
    assert before.cards[cards["x"]].returned
    begun = look_at(tape, picture, scene, second[0] + 1)
    assert begun.cards[cards["y"]].past
    assert not begun.cards[cards["dy"]].past
    assert tape.snapshots[end.cards[cards["x"]].gradient].item() == 18.0
    wires = [w.key for w in picture.wires if w.source == cards["x"] and w.target == cards["y"]]
    assert not end.wires[wires[0]].shares


def test_a_stored_gradient_is_shown_again_after_one_that_was_returned(recorded):
    tape = recorded(
        "x = torch.tensor(3.0, requires_grad=True)\n(x ** 2).backward()\ny = x ** 3\n"
        "(dy,) = torch.autograd.grad(y, x)\nx.grad = None\nz = x * 5\nz.backward()"
    )
    picture, end = drawn(tape)
    scene = scenes(tape)[-1]
    key = next(card.key for card in picture.cards if card.kind == "parameter")
    ends = sorted(stop for _, stop in index_of(tape).passes.values())
    shown = [look_at(tape, picture, scene, stop + 1).cards[key] for stop in ends]
    assert [tape.snapshots[s.gradient].item() for s in shown] == [6.0, 27.0, 5.0]
    assert [s.returned for s in shown] == [False, True, False]
    assert tape.snapshots[end.cards[key].gradient].item() == 5.0
