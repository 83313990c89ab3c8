"""Edits for the parameters of modules, run by torch."""

import pytest
import torch

from gradscribe.playback.code import parameter_edits as edits

HEAD = "import torch\nfrom torch import nn\n"
NET = HEAD + (
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.fc = nn.Linear(2, 3)\n"
    "    def forward(self, x):\n"
    "        return self.fc(x)\n"
    "model = Net()\n"
    "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "loss = model(torch.ones(4, 2)).mean()\n"
    "loss.backward()\n"
)


def run(source):
    names = {}
    exec(source, names)
    return names


def test_a_parameter_is_frozen_and_freed():
    off = edits.set_requires_grad(NET, 8, "model.fc.weight", False)
    assert off.split("\n")[9] == "model.fc.weight.requires_grad_(False)"
    model = run(off)["model"]
    assert model.fc.weight.grad is None
    assert model.fc.bias.grad is not None
    assert edits.set_requires_grad(off, 8, "model.fc.weight", True) == NET


def test_a_parameter_of_a_sequential_is_indexed():
    source = HEAD + "seq = nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 1))\nseq(torch.ones(1, 1))"
    off = edits.set_requires_grad(source, 4, "seq.1.bias", False)
    assert "seq[1].bias.requires_grad_(False)" in off
    assert [p.requires_grad for p in run(off)["seq"].parameters()] == [True, True, True, False]


def test_a_name_that_is_no_identifier_is_asked_for_by_its_path():
    source = HEAD + (
        "net = nn.ModuleDict({'a-b': nn.Linear(1, 1)})\nlayers = net\nnet['a-b'](torch.ones(1))"
    )
    off = edits.set_requires_grad(source, 5, "net.a-b.weight", False)
    assert not run(off)["net"]["a-b"].weight.requires_grad
    assert edits.set_requires_grad(off, 6, "net.a-b.weight", True) == source


@pytest.mark.parametrize(
    "frozen",
    [
        "for p in net.parameters():\n    p.requires_grad_(False)\n",
        "for p in net.parameters():\n    p.requires_grad = False\n",
        "net.requires_grad_(False)\n",
    ],
)
def test_a_parameter_of_a_frozen_model_is_freed_after_the_others(frozen):
    source = HEAD + f"net = nn.Linear(2, 1)\n{frozen}y = net(torch.ones(1, 2))\n"
    on = edits.set_requires_grad(source, source.count("\n"), "net.bias", True)
    net = run(on)["net"]
    assert net.bias.requires_grad
    assert not net.weight.requires_grad
    # Back again: the line is turned, since without it the loop decides, too.
    off = edits.set_requires_grad(on, on.count("\n"), "net.bias", False)
    assert not run(off)["net"].bias.requires_grad


def test_the_last_assignment_before_the_call_is_the_one():
    source = HEAD + "net = nn.Linear(1, 1)\nnet = nn.Linear(2, 1)\nnet(torch.ones(2))\nnet = 3\n"
    off = edits.set_requires_grad(source, 5, "net.bias", False)
    assert off.split("\n")[4] == "net.bias.requires_grad_(False)"


def test_a_model_is_converted_and_back():
    double = edits.set_dtype(NET, 8, "model.fc.weight", "float64")
    assert double.split("\n")[9] == "model.to(torch.float64)"
    half = edits.set_dtype(double, 8, "model.fc.bias", "float16")
    assert half.split("\n")[9] == "model.to(torch.float16)"
    model = run("\n".join(half.split("\n")[:10]))["model"]
    assert {p.dtype for p in model.parameters()} == {torch.float16}


def test_a_model_is_moved_and_its_dtype_stays():
    double = edits.set_dtype(NET, 8, "model.fc.weight", "float64")
    moved = edits.set_device(double, 8, "model.fc.weight", "meta")
    model = run("\n".join(moved.split("\n")[:11]))["model"]
    assert (model.fc.bias.device.type, model.fc.bias.dtype) == ("meta", torch.float64)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (HEAD + "a = 1; net = nn.Linear(1, 1)\nnet(torch.ones(1))", "net.bias"),
        (HEAD + "x = nn.Linear(1, 1)(torch.ones(1))", "linear.bias"),
        (HEAD + "net, other = nn.Linear(1, 1), 2\nnet(torch.ones(1))", "net.bias"),
        ("net = (", "net.bias"),
    ],
)
def test_a_model_without_a_line_of_its_own_is_left_alone(source, path):
    assert edits.set_requires_grad(source, 4, path, False) == ""
    assert edits.set_dtype(source, 4, path, "float64") == ""


@pytest.mark.parametrize("name", ["x", "", "a.", ".a", "a.b()", "3.a", "a b.c", "a[0].b"])
def test_a_name_is_no_path(name):
    assert not edits.is_path(name)


def test_paths():
    assert edits.is_path("net.0.weight")
    assert edits.is_path("größe.fc.weight")
