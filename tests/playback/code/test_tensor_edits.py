"""Edits of a program's text for one of its tensors, run by torch."""

import pytest
import torch

from gradscribe.playback.code import tensor_edits as edits


def run(source):
    names = {"torch": torch}
    exec(source, names)
    return names


@pytest.mark.parametrize(
    "source",
    [
        "x = torch.tensor([1.0, 2.0])",
        "x = torch.tensor([1.0, 2.0],)  # data",
        "x = torch.tensor(\n    [1.0, 2.0],  # é\n)\n",
        "x = torch.tensor((1.0))",
        "x = torch.zeros(2, requires_grad=False)",
        "s = 'ü'; del s\nx = torch.zeros(2)",
        "x = torch.ones(3) * 2",
        "for i in range(2):\n    x = torch.ones(3) * 2\n    y = 1",
    ],
)
def test_a_leaf_requires_a_gradient_and_then_does_not(source):
    line = next(n for n, row in enumerate(source.split("\n"), 1) if "x = " in row)
    on = edits.set_requires_grad(source, line, "x", True)
    if source == "x = torch.tensor((1.0))":
        assert on == "" or run(on)["x"].requires_grad
        return
    assert run(on)["x"].requires_grad
    off = edits.set_requires_grad(on, line, "x", False)
    assert not run(off)["x"].requires_grad


def test_a_line_that_asked_for_the_gradient_is_taken_out_again():
    source = "x = torch.ones(2)\nx.requires_grad_()\n"
    assert edits.set_requires_grad(source, 1, "x", False) == "x = torch.ones(2)\n"


def test_a_line_further_down_that_asks_for_the_gradient_is_taken_out():
    source = "x = torch.ones(2)\nn = 2\nx.requires_grad = True\ny = x * n"
    assert not run(edits.set_requires_grad(source, 1, "x", False))["x"].requires_grad


def test_one_of_several_names_of_a_line_requires_its_gradient():
    on = edits.set_requires_grad("x, y = torch.ones(2)\nz = x * y", 1, "x", True)
    assert [run(on)[name].requires_grad for name in "xyz"] == [True, False, True]
    retained = "a = torch.ones(2, requires_grad=True)\nb, c = a * 2\nb.backward()"
    assert run(edits.set_retain_grad(retained, 2, "b", True))["b"].grad == 1.0


@pytest.mark.parametrize(
    "source",
    [
        "x = torch.nn.Parameter(torch.ones(2))",
        "x = torch.nn.Parameter(torch.ones(2) * 3)",
        "x = torch.ones(2, requires_grad=True)",
        "x = torch.ones(2).requires_grad_()",
        "x: torch.Tensor = torch.ones(2, requires_grad=True)",
    ],
)
def test_a_trained_leaf_stays_one_in_another_dtype(source):
    made = run(edits.set_dtype(source, 1, "x", "float64", is_trained=True))["x"]
    assert (made.dtype, made.is_leaf, made.requires_grad) == (torch.float64, True, True)
    assert isinstance(made, torch.nn.Parameter) == ("Parameter" in source)


def test_param_takes_the_dtype_itself():
    edited = edits.set_dtype("w = param(2.0)", 1, "w", "float64", is_trained=True)
    assert edited == "w = param(2.0, dtype=torch.float64)"


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64"])
@pytest.mark.parametrize(
    "source", ["x = torch.ones(2)", "x = torch.ones(2) + 1", "x = torch.ones(2).exp()"]
)
def test_a_tensor_gets_another_dtype(source, dtype):
    made = run(edits.set_dtype(source, 1, "x", dtype))["x"]
    assert made.dtype == getattr(torch, dtype)


def test_a_leaf_stays_a_leaf_in_another_dtype():
    edited = edits.set_dtype("x = torch.ones(2, requires_grad=True)", 1, "x", "float64")
    assert run(edited)["x"].is_leaf


def test_a_tensor_is_moved():
    assert run(edits.set_device("x = torch.ones(2)", 1, "x", "meta"))["x"].device.type == "meta"
    assert run(edits.set_device("x = -torch.ones(2)", 1, "x", "meta"))["x"].device.type == "meta"


def test_a_result_retains_its_gradient_and_then_does_not():
    source = "x = torch.ones(2, requires_grad=True)\ny = x * 3\ny.sum().backward()"
    on = edits.set_retain_grad(source, 2, "y", True)
    assert edits.retains_grad(on, 2, "y")
    assert run(on)["y"].grad.tolist() == [1.0, 1.0]
    assert edits.set_retain_grad(on, 2, "y", False) == source


@pytest.mark.parametrize(
    ("source", "line", "name"),
    [
        ("if True: x = torch.ones(2) * 2", 1, "x"),
        ("x = torch.ones(2) * 2; y = 1", 1, "x"),
        ("x = torch.ones(2)\nx.requires_grad_(); y = 1", 1, "x"),
        ("x = torch.ones(", 1, "x"),
        ("x = torch.ones(2) * 2", 9, "x"),
        ("x = torch.ones(2) * 2", 1, "net.weight"),
        ("x = torch.ones(2) * 2\r\n", 1, "x"),
    ],
)
def test_a_line_without_a_safe_place_is_left_alone(source, line, name):
    assert edits.set_requires_grad(source, line, name, True) == ""
    if "requires_grad_" in source:
        return
    assert edits.set_retain_grad(source, line, name, True) == ""
    assert edits.set_dtype(source, line, name, "float64") == ""
