import pytest

from gradscribe.playback.tape import event_text, passes
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.scenes import scenes

TWO = """\
x = torch.tensor(3.0, requires_grad=True)
w = torch.tensor(2.0, requires_grad=True)
y = x ** 3 * w
dy, dw = torch.autograd.grad(y, (x, w), create_graph=True)
(d2y,) = torch.autograd.grad(dy, x, retain_graph=True)
dy.backward()
"""


@pytest.fixture
def index(recorded):
    return index_of(recorded(TWO))


def test_passes_are_titled_by_what_they_differentiate(index):
    assert [passes.title(index, run) for run in range(3)] == [
        "∂y/∂(x, w)",
        "∂dy/∂x",
        "backward of dy",
    ]


def test_a_long_list_of_inputs_is_cut(recorded):
    tape = recorded(
        "ps = [torch.ones(1, requires_grad=True) for _ in range(5)]\na, b, c, d, e = ps\n"
        "f = sum(ps).sum()\ngs = torch.autograd.grad(f, ps)"
    )
    assert passes.title(index_of(tape), 0) == "∂f/∂(a, b, c, …)"


def test_results_have_the_notation_of_their_derivative(index):
    names = {v.name: v for v in index.tape.values if v.name}
    assert passes.made_by(index, names["dy"]) == "∂y/∂x"
    assert passes.made_by(index, names["dw"]) == "∂y/∂w"
    assert passes.made_by(index, names["d2y"]) == "∂dy/∂x"
    assert passes.made_by(index, names["y"]) == ""


def test_nodes_belong_to_the_pass_that_made_them(index):
    made = passes.pass_of_nodes(index)
    assert set(made.values()) == {0}
    names = {v.name: v for v in index.tape.values if v.name}
    assert names["dy"].node in made
    assert names["y"].node not in made


def test_a_first_order_program_has_no_nodes_of_passes(fan):
    assert passes.pass_of_nodes(index_of(fan)) == {}


def test_the_passes_of_a_step_are_numbered_in_it(recorded):
    tape = recorded(
        "w = torch.tensor(1.0, requires_grad=True)\nfor i in range(3):\n"
        "    (g,) = torch.autograd.grad(w ** 2, w, create_graph=True)\n"
        "    (g ** 2).backward()\n    w.grad = None"
    )
    index = index_of(tape)
    found = [passes.numbered(index, scene.start, scene.stop) for scene in scenes(tape)]
    assert found == [[0, 1], [2, 3], [4, 5]]


def test_the_ledger_says_which_derivative_begins_and_what_is_returned(index):
    said = [event_text.ledger_text(index, at) for at in range(len(index.tape.events))]
    assert "∂dy/∂x: backward starts at dy" in said
    assert "∂dy/∂x is done" in said
    assert "d2y = 36.0000 (∂dy/∂x)" in said
    assert "Backward starts at dy" in said
    assert not [line for line in said if "(data)" in line]


def test_what_was_returned_for_a_leaf_is_known_though_its_grad_is_none(recorded):
    tape = recorded(TWO.replace("dy.backward()\n", ""))
    index = index_of(tape)
    x = next(v for v in tape.values if v.name == "x")
    known = index.gradient(x.id, len(tape.events))
    assert known.snapshot is None
    assert tape.snapshots[known.returned].item() == 6 * 3.0 * 2.0


def test_rows_of_a_hessian_in_one_statement_are_one_scene(recorded):
    tape = recorded(
        "x = torch.tensor([1.0, 2.0])\n"
        "H = torch.autograd.functional.hessian(lambda p: (p ** 3).sum(), x)"
    )
    assert len(scenes(tape)) == 1
