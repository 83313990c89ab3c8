import pytest
import torch
from PySide6.QtCore import QPointF
from torch import nn

from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.run.run import record
from gradscribe.playback.graph import build
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.graph.picture import CardLook, Look, WireLook
from gradscribe.playback.layout.place import place
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph import tooltips
from gradscribe.widgets.graph.accessible import text as accessible_text
from gradscribe.widgets.graph.paint.card.cards import Layers
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.view import GraphView
from tests.widgets.pixels import drawing_of
from tests.widgets.scenes import Maker, network, neuron


@pytest.fixture
def light(qapp):
    return Theme.load("light")


@pytest.mark.checklist(95)
def test_a_card_tells_name_value_shape_type_and_gradient(light):
    told = tooltips.tip(drawing_of(neuron(), light), "n").splitlines()
    assert told[0] == "n · add"
    assert "scalar · float32 · requires a gradient" in told
    assert "value 0.8814" in told
    assert "gradient 0.2071" in told


def test_the_norm_of_a_tensor_is_explained(light):
    m, look = network()
    gradient = m.snapshot([[3.0, 4.0]])
    cards = look.cards | {"tanh": CardLook(True, gradient=gradient)}
    told = tooltips.tip(drawing_of((m, Look(cards, {})), light), "tanh")
    assert "gradient ∇ 5.0000" in told
    assert "norm of a gradient" in told


def test_a_wire_tells_what_went_forward_and_what_came_back(light):
    m = Maker()
    m.card("x", "parameter", "x", (0, 0), 2.0)
    m.card("y", "op", "mul", (0, 120), 6.0, name="y")
    key = m.wire("x", "y", value=1)
    share = m.snapshot(3.0)
    look = m.reached()
    wires = {key: WireLook(True, share, "× 3", shares=(share,))}
    told = tooltips.tip(drawing_of((m, Look(look.cards, wires)), light), key).splitlines()
    assert told[0] == "x → y"
    assert told[1].startswith("forward: 2.0000")
    assert told[2] == "back: 3.0000 (received × 3)"


@pytest.mark.parametrize(
    ("wire", "words"),
    [
        ({"cut": "detach", "dashed": True}, "detach cuts the graph"),
        ({"cut": "no_grad", "dashed": True}, "under no_grad"),
        ({"cut": "argmax", "dashed": True}, "argmax has no derivative"),
        ({"dashed": True}, "requires none"),
        ({"part": "b"}, "output b of split"),
    ],
)
def test_a_wire_tells_why_it_is_cut_and_which_output_it_takes(light, wire, words):
    m = Maker()
    m.card("x", "op", "split", (0, 0), 2.0)
    m.card("y", "op", "mul", (0, 120), 6.0)
    key = m.wire("x", "y", **wire)
    assert words in tooltips.tip(drawing_of((m, m.reached()), light), key)


def test_marks_are_explained(light):
    m = Maker()
    m.card("a", "op", "mul", (0, 0), 2.0, mark="⧉ b · v1", cut=True)
    look = m.reached(a=CardLook(True, version=3))
    told = tooltips.tip(drawing_of((m, look), light), "a")
    assert "shares memory with every card marked b" in told
    assert "version 3" in told
    assert "no gradient passes" in told


def test_folded_repeats_say_whose_numbers_they_show(light):
    m = Maker()
    m.card("net.h", "module", "0–2: Block", (4, 4), 2.0, repeats=3, call=1)
    m.card("ops", "module", "view", (4, 4), 2.0, repeats=3)
    drawing = drawing_of((m, m.reached()), light)
    blocks, ops = (tooltips.tip(drawing, key) for key in ("net.h", "ops"))
    assert "3 similar modules in a row" in blocks
    assert "3 similar stretches of ops in a row" in ops
    assert "numbers and gradient are those of the last" in blocks


@pytest.mark.checklist(46)
def test_resets_are_told_apart(light):
    m = Maker()
    m.card("w", "parameter", "w", (0, 0), 2.0)
    for reset, words in (("none", "set to None"), ("zeros", "set to zeros")):
        drawing = drawing_of((m, m.reached(w=CardLook(True, reset=reset))), light)
        assert words in tooltips.tip(drawing, "w")


def test_a_frame_is_told_and_nothing_is_nothing(light):
    drawing = drawing_of(network(), light)
    assert tooltips.tip(drawing, "net").startswith("open module net")
    assert tooltips.tip(drawing, "no such key") == ""


def test_the_source_line_is_told_where_the_tape_knows_it(light):
    m = Maker()
    m.card("a", "op", "mul", (0, 0), 2.0, op=7)
    assert m.tape.ops == Tape().ops
    assert "line" not in tooltips.tip(drawing_of((m, m.reached()), light), "a")


def test_bubbles_and_labels_belong_to_their_card_and_wire(qtbot):
    view = GraphView()
    qtbot.addWidget(view)
    view.set_reduced_motion(True)
    view.resize(810, 730)
    view.show()
    m, look = neuron()
    view.set_scene(m.tape, m.picture, m.placement)
    view.set_look(look)
    view.grab()
    camera, stage = view.camera(), view.stage()
    corner = stage.boxes["n"].bottomRight() + QPointF(4, 4)
    assert view.canvas.tip_at(camera.to_view(corner)).startswith("n · add")
    assert view.canvas.tip_at(camera.to_view(stage.boxes["u"].center())).startswith("u · mul")
    assert view.canvas.tip_at(QPointF(2, 2)) == ""


def test_a_folded_module_names_its_weakest_and_its_strongest_parameter(light):
    tape = record(
        "torch.manual_seed(0)\nnet = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))\n"
        "net(torch.ones(2, 3)).sum().backward()"
    )
    scene = build.scenes(tape)[0]
    picture = build.build_picture(tape, scene, frozenset())
    drawing = GraphDrawing(Stage(tape, picture, place(picture)), light, Layers())
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    net(torch.ones(2, 3)).sum().backward()
    norms = {f"net.{name}": float(p.grad.norm()) for name, p in net.named_parameters()}
    least, most = (f(norms, key=norms.get) for f in (min, max))
    drawing.set_look(look_at(tape, picture, scene, scene.start + 3))
    assert "weakest" not in tooltips.tip(drawing, "call:net#0")
    drawing.set_look(look_at(tape, picture, scene, scene.stop))
    lines = tooltips.tip(drawing, "call:net#0").splitlines()
    assert f"weakest gradient: {norms[least]:.4f} of {least}" in lines
    assert f"strongest gradient: {norms[most]:.4f} of {most}" in lines
    drawing.set_coloring("gradient")
    words = accessible_text.describe(drawing, "call:net#0")
    assert f"gradients of parameters {norms[least]:.2g} … {norms[most]:.2g}" in words


def test_a_returned_gradient_and_one_of_an_earlier_pass_are_called_so(light):
    m, look = network()
    gradient = m.snapshot([[3.0, 4.0]])
    for name, words in (
        ("returned", "returned by grad, not added to .grad"),
        ("past", "of an earlier backward pass"),
    ):
        cards = look.cards | {"tanh": CardLook(True, gradient=gradient, **{name: True})}
        assert words in tooltips.tip(drawing_of((m, Look(cards, {})), light), "tanh").splitlines()


VISITED = CardLook(True, first_order=2, last_order=4, of=7, visits=3, ran=1)


def test_the_order_and_the_visits_of_several_nodes_are_said(light):
    m, look = neuron()
    drawing = drawing_of((m, Look(look.cards | {"n": VISITED}, {})), light)
    lines = tooltips.tip(drawing, "n").splitlines()
    assert "backward nodes 2 to 4 of 7 in its pass · 3 visits" in lines
    assert "backward node" not in tooltips.tip(drawing, "tanh")


def test_a_screen_reader_says_order_and_visits_while_the_layer_is_on(light):
    m, look = neuron()
    looks = Look(look.cards | {"n": VISITED}, {})
    words = accessible_text.describe(drawing_of((m, looks), light, Layers(order=True)), "n")
    assert "backward node 2 to 4, visits 3" in words
    assert "backward node" not in accessible_text.describe(drawing_of((m, looks), light), "n")
