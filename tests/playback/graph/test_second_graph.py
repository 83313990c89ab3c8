import pytest

from gradscribe.playback.graph import second_graph
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.dot import to_dot
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.layout.place import place
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.scenes import scenes

CUBE = """\
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x ** 2
x = torch.tensor(2.0, requires_grad=True)
y = Cube.apply(x)
(g1,) = torch.autograd.grad(y, x, create_graph=True)
(g2,) = torch.autograd.grad(g1, x, create_graph=True)
(g1 + g2).backward()
"""
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
