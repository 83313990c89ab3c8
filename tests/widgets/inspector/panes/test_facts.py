import pytest

from gradscribe.widgets.inspector.panes import facts
from gradscribe.widgets.inspector.panes.facts import FactsPane
from gradscribe.widgets.inspector.panes.page import InspectorPage, Selection, TensorVersions
from tests.widgets.inspector.panes.programs import FAN, NEURON, ODD, TRAIN, VIEWS, page, taped


def known(looked):
    return dict(facts.facts(looked))


@pytest.fixture
def pane(shown):
    return shown(FactsPane(), 260, 500)


@pytest.mark.checklist(2, 33, 70, 71, 247)
def test_a_tensor_tells_what_torch_says_of_it():
    told = known(page(ODD, "whole"))
    assert told["shape"] == "3 × 4"
    assert told["dtype"] == "int64"
    assert told["device"] == "cpu"
    assert told["strides"] == "(4, 1)"
    assert told["contiguous"] == "yes"
    assert told["requires_grad"] == "no"
    assert told["grad_fn"] == "none"


def test_a_scalar_has_no_strides():
    told = known(page(NEURON, "n"))
    assert told["shape"] == "scalar ()"
    assert "strides" not in told
    assert told["leaf"] == "no"
    assert told["grad_fn"] == "AddBackward0"
    assert told["used by"] == "tanh"


@pytest.mark.checklist(152)
def test_a_transposed_view_tells_its_base_strides_and_storage():
    told = known(page("a = torch.zeros(2, 3)\nt = a.t()[1:]\n", "t"))
    assert told["contiguous"] == "no"
    assert told["strides"] == "(1, 3)"
    assert told["starts at"] == "element 1 of its storage"
    assert "a" in told["storage"]


def test_an_unrelated_tensor_shares_nothing():
    assert known(page(NEURON, "n"))["storage"] == "its own"


def test_an_overwritten_leaf_tells_its_version():
    assert known(page(VIEWS, "a", 1))["version"] == "0"
    assert known(page(VIEWS, "a"))["version"] == "1"


def test_an_op_tells_its_inputs():
    told = known(page("a = torch.ones(2, 3)\ns = a.sum(dim=1)\n", "s", kind="op"))
    assert told["op"]
    assert told["input 0"] == "a · 2 × 3"
    assert told["dim"] == "1"


@pytest.mark.checklist(71)
def test_no_grad_is_told():
    told = known(page("p = param(1.0)\nwith torch.no_grad():\n    q = p * 2\n", "q", kind="op"))
    assert told["gradients"] == "off (no_grad)"


def test_a_module_tells_its_parameters():
    tape = taped(TRAIN)
    chosen = Selection("module", call=1)
    told = known(InspectorPage(tape, 5, chosen, versions=TensorVersions.of(tape)))
    assert told["kind"] == "Linear"
    assert told["parameters"] == "12"
    assert told["ops inside"] == "1"
    assert told["mode"] == "training"
    assert told["inside"] == "net"
    assert told["weight"] == "4 × 2, requires_grad"
    assert told["parameters()"] == "2 tensors, 2 learn"
    assert told["state_dict()"] == "2 tensors, 48 B"
    assert told["to()"] == "cpu float32"
    assert told["hooks"] == "none"
    assert "2.weight" not in told


def test_nothing_selected_has_no_facts(pane):
    assert not pane.show_page(InspectorPage())
    assert not pane.show_page(page(FAN))


def test_the_source_line_is_quoted_and_leads_there(pane, qtbot):
    assert pane.show_page(page(NEURON, "n", source=NEURON))
    assert pane.code.said() == "n = s + b"
    line = NEURON.splitlines().index("n = s + b") + 1
    assert pane.link.text() == f"line {line}"
    with qtbot.waitSignal(pane.line_requested) as heard:
        pane.link.click()
    assert heard.args == [line]


def test_a_form_feed_ends_no_line(pane):
    source = "\f# one\x0b two\na = param(1.0)\nb = a * 2\n"
    assert pane.show_page(page(source, "b", source=source))
    assert pane.code.text() == "b = a * 2"


def test_a_source_that_is_shorter_than_the_tape_breaks_nothing(pane):
    assert pane.show_page(page(NEURON, "n", source="x = 1"))
    assert pane.code.said() == "made by"


@pytest.mark.parametrize("name", ["bad", "empty", "flag", "wave", "six", "big"])
def test_odd_tensors_have_facts(pane, name):
    assert pane.show_page(page(ODD, name))
    assert not pane.grab().isNull()


def test_what_a_node_keeps_is_told_with_its_size_and_until_when():
    source = "x = torch.ones(50, requires_grad=True)\ny = torch.exp(x)\nL = y.sum()\nL.backward()"
    y = page(source, "y").value
    node = next(node for node in taped(source).nodes if node.id == y.node)
    for position, words in ((node.freed - 1, "until"), (node.freed, "freed at")):
        told = known(page(source, "y", position, "op"))
        assert told["saved for backward"] == f"200 B, {words} event {node.freed}"
        assert told["saved result"] == "y · 50 · 200 B"
    told = known(page(source.rpartition("\n")[0], "y", None, "op"))
    assert told["saved for backward"] == "200 B, to the end"


def test_of_many_inputs_some_are_told_and_the_others_counted():
    told = known(
        page("xs = [param(1.0) for _ in range(60)]\ny = torch.stack(xs)\n", "y", kind="op")
    )
    assert told["input 0"]
    assert told["and more"].endswith(" inputs")
    assert "input 24" not in told


def test_numbers_inside_vmap_say_of_which_example_they_are():
    source = "def f(x):\n    z = x * 3\n    return z\nout = torch.vmap(f)(torch.ones(4, 2))\n"
    assert known(page(source, "z"))["numbers"] == "of the first of 4 examples in vmap"
    assert "numbers" not in known(page(source, "out"))
