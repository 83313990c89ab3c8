"""Starts of backward passes, edited and run by torch."""

import pytest

from gradscribe.playback.code import root_edits as edits

HEAD = "import torch\nx = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x**2\n"


def grad_of(source):
    names = {}
    exec(source, names)
    grad = names["x"].grad if "g" not in names else names["g"][0]
    return grad.tolist()


CALLS = [
    "y.backward()",
    "y.backward(retain_graph=True)",
    "y.backward(None)",
    "y.backward(gradient=None)",
    "(y * 1).backward()",
    "(\n    y  # é\n).backward()",
    "torch.autograd.backward(y)",
    "g = torch.autograd.grad(y, x)",
    "g = torch.autograd.grad(y * 1, [x], create_graph=False)",
    "g = torch.autograd.grad(outputs=y, inputs=x)",
]


@pytest.mark.parametrize("call", CALLS)
def test_each_start_is_what_torch_computes(call):
    source = HEAD + call
    line = source.count("\n") + 1
    if "outputs=" in call:
        assert edits.with_reduction(source, line, "sum") == ""
        return
    with pytest.raises(RuntimeError, match=edits.ERROR):
        grad_of(source)
    # d/dx of sum(x^2) is 2x, of the mean 2x/3, and v * 2x from v.
    assert grad_of(edits.with_reduction(source, line, "sum")) == [2.0, 4.0, 6.0]
    mean = grad_of(edits.with_reduction(source, line, "mean"))
    assert mean == pytest.approx([2 / 3, 4 / 3, 2.0])
    given = edits.with_vector(source, line, " torch.tensor([1.0, 0.0, -1.0])")
    assert grad_of(given) == [2.0, 0.0, -6.0]
    again = edits.with_vector(given, line, "torch.ones_like(y)")
    assert grad_of(again) == [2.0, 4.0, 6.0]
    assert edits.vector_text(again, line) == "torch.ones_like(y)"


def test_the_parts_of_a_call():
    assert edits.root_text("(a + b).backward()", 1) == "a + b"
    assert edits.vector_text("y.backward()", 1) == ""
    assert edits.vector_keyword("y.backward()", 1) == "gradient"
    assert edits.vector_keyword("grad(y, x)", 1) == "grad_outputs"


@pytest.mark.parametrize(
    "source",
    [
        "y.backward(); z.backward()",
        "y.backward(*a)",
        "y.backward(**a)",
        "torch.autograd.backward([y, z])",
        "print(y)",
        "y.backward(",
        "",
    ],
)
def test_a_line_without_a_plain_start_is_left_alone(source):
    assert edits.root_text(source, 1) == ""
    assert edits.with_vector(source, 1, "v") == ""
    assert edits.with_reduction(source, 1, "sum") == ""


@pytest.mark.parametrize(
    "text", ["", "1,\n2", "a)(b", "1) + (2", "x = 3", "import os", "v # c", "(", "1;2", "*v"]
)
def test_what_is_no_expression_is_not_put_in(text):
    assert edits.with_vector(HEAD + "y.backward()", 4, text) == ""


def test_a_start_with_a_vector_gets_no_reduction():
    assert edits.with_reduction("y.backward(v)", 1, "sum") == ""
