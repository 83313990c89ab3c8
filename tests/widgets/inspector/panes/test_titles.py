import pytest

from gradscribe.playback.graph import build
from gradscribe.widgets.inspector.panes import titles
from gradscribe.widgets.inspector.panes.page import InspectorPage, Selection, TensorVersions, select
from tests.programs import TOWER
from tests.widgets.inspector.panes.programs import (
    FAN,
    NEURON,
    ODD,
    TRAIN,
    happened,
    named,
    page,
    taped,
)


def test_without_a_tape_it_says_how_to_begin():
    assert titles.title(InspectorPage())[0] == "Inspector"
    assert "Run" in titles.title(InspectorPage())[1]


def test_values_are_called_by_their_names_and_roles():
    assert titles.title(page(NEURON, "n")) == ("n", "made by add")
    assert titles.title(page(NEURON, "b")) == ("b", "parameter, gets a gradient")
    assert titles.title(page(NEURON, "x")) == ("x", "input data")


def test_a_literal_is_called_by_its_number():
    looked = InspectorPage(taped(FAN), 3, Selection("value", literal="0.5"))
    assert titles.title(looked) == ("0.5", "A plain Python number")


def test_a_wire_is_called_by_its_ends():
    tape = taped(FAN)
    picture = build.build_picture(tape, build.scenes(tape)[0])
    z = named(tape, "z")
    wire = next(w for w in picture.wires if w.value == z.id)
    looked = InspectorPage(tape, 3, select(picture, wire.key), versions=TensorVersions.of(tape))
    assert titles.title(looked) == ("z → add", "No gradient has flowed back along it")


def test_a_wire_says_its_own_share_of_the_gradient():
    # loss = z * (z + 0.5) at the program's z has two shares; each wire has its own.
    tape = taped(FAN)
    picture = build.build_picture(tape, build.scenes(tape)[0])
    x = next(value for value in tape.values if value.name == "x")
    said = {
        titles.title(looked)[1]
        for wire in picture.wires
        if wire.value == x.id
        for looked in [
            InspectorPage(
                tape,
                len(tape.events),
                select(picture, wire.key),
                versions=TensorVersions.of(tape),
            )
        ]
    }
    assert said == {
        "Its share of the gradient, 48, flowed back along it",
        "Its share of the gradient, 16, flowed back along it",
    }


def test_a_module_is_called_by_its_path():
    tape = taped(TRAIN)
    looked = InspectorPage(tape, 5, Selection("module", call=1), versions=TensorVersions.of(tape))
    assert titles.title(looked) == ("net.0", "Linear · 12 parameters")


def test_folded_blocks_speak_of_the_last_whose_numbers_their_card_shows():
    tape = taped(TOWER)
    scene = build.scenes(tape)[0]
    picture = build.build_picture(tape, scene)
    (card,) = [card for card in picture.cards if card.repeats == 12]
    opened = build.build_picture(tape, scene, frozenset({"call:net#0", card.key}))
    chosen = select(picture, card.key)
    looked = InspectorPage(tape, len(tape.events), chosen, versions=TensorVersions.of(tape))
    last = next(call for call in reversed(tape.calls) if call.name == "net.h.11")
    assert looked.call == last
    made = tape.ops[looked.index.values[chosen.value].op]
    assert tape.calls[made.call].name.startswith("net.h.11")
    said = "net.h.11", f"Block · last of 12 · {last.parameters} parameters"
    assert titles.title(looked) == said
    frame = select(opened, card.key)
    assert titles.title(InspectorPage(tape, 5, frame)) == said


@pytest.mark.parametrize(("source", "root"), [(NEURON, "L"), (FAN, "loss"), (ODD, "L")])
def test_the_root_of_backward_is_named(source, root):
    assert titles.root_name(page(source)) == root


def test_what_is_missing_is_said_and_never_a_zero():
    backward = happened(taped(NEURON), "backward")
    assert titles.absence_reason(page(NEURON, "n", 1)) == "Not computed yet"
    cases = {
        ("n", 1): "Not computed yet, so no gradient either",
        ("x", None): "No gradient: it does not require one",
        ("b", backward - 1): "No gradient yet: backward has not begun",
        ("b", backward): "Backward has not reached this yet",
    }
    for (name, position), words in cases.items():
        assert titles.absence_reason(page(NEURON, name, position, side="gradient")) == words
    assert titles.absence_reason(page(ODD, "tiny", side="gradient")).startswith("No gradient yet")
    unused = FAN + "u = param(1.0)\n(x * 1.0).backward()\n"
    assert (
        titles.absence_reason(page(unused, "u", side="gradient")) == "None: no gradient reached it"
    )
    zeroed = FAN + "x.grad.zero_()\n"
    optimizer = "p = param(2.0)\nopt = optim.SGD([p], lr=1.0)\n(p * 3).backward()\n"
    reset = optimizer + "opt.zero_grad(set_to_none=False)\n"
    assert page(reset, "p", side="gradient").known.zeros
    assert titles.absence_reason(page(reset, "p", side="gradient")) == "Zeros, since the last reset"
    assert page(zeroed, "y", side="gradient").snapshot().item() == 32


def test_the_sum_of_shares_is_written_out():
    assert titles.gradient_sum_text(page(FAN, "x", side="gradient")) in (
        "48 + 16 = 64",
        "16 + 48 = 64",
    )
    assert titles.gradient_sum_text(page(FAN, "y", side="gradient")) == ""
    tape = taped(FAN)
    first = happened(tape, "node", 1)
    pending = titles.gradient_sum_text(page(FAN, "x", first, side="gradient"))
    assert pending in ("16 + …", "")


def test_shares_of_tensors_are_counted():
    source = "v = torch.ones(3, requires_grad=True)\n(v * 2 + v).sum().backward()\n"
    assert titles.gradient_sum_text(page(source, "v", side="gradient")) == "2 shares arrived"
