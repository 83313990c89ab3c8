"""The hints about calls and classes name what is wrong in the program's own text."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn, optim

from tests.engine.hints.told import told

NAMES = {"torch": torch, "nn": nn, "F": F, "optim": optim}
NET = """class Net(nn.Module):
    def {}:
        super().__init__()
        self.fc = nn.Linear(2, 1)
"""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (NET.format("__int__(self)") + "Net().fc", "__int__ on line 2 should be __init__"),
        (NET.format("_init_(self, n)") + "Net(3)", "_init_ on line 2 should be __init__"),
        (NET.format("__init__(self)") + "Net().fcc", "Did you mean .fc?"),
        (NET.format("__init__(self)") + "Net(2)", "takes fewer arguments"),
        (
            NET.format("__init__(self)") + "    def forward(x): ...\nNet()(1)",
            "write def forward(self, ...) on line 5",
        ),
        (NET.format("__init__(self)") + "net = Net\nnet(1)", "a model of it first, with Net()"),
        ("def f(a): ...\nf(1, 2)", "takes fewer arguments"),
        ("torch.ones(2).sum(0, 1, 2, 3)", "compare with the forms"),
    ],
)
def test_arguments_that_are_too_many(source, words):
    assert words in told(source, **NAMES)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("optim.StepLR", "Did you mean torch.optim.lr_scheduler.StepLR?"),
        ("torch.Linear", "Did you mean nn.Linear?"),
        ("torch.cross_entropy", "Did you mean F.cross_entropy?"),
        ("torch.DataLoader", "Did you mean torch.utils.data.DataLoader?"),
        ("nn.Adam", "Did you mean torch.optim.Adam?"),
        ("optim.adam", "Did you mean .Adam?"),
        ("torch.ones(2).sume", "Did you mean .sum?"),
        ("torch.ones(2).zero_grad()", "write x.grad = None"),
        ("nn.Linear(1, 1).step()", "Only an optimizer steps"),
        ("out = nn.LSTM(3, 4)(torch.ones(5, 2, 3))\nout.shape", "This is a tuple"),
        ("nn.ReLU().sum()", "This is the module ReLU"),
        ("torch.nothing_like_it", "Check the spelling"),
        ("torch.ones(2).sum.backward()", "write sum()"),
        ("nn.Linear(1, 1).parameters.grad", "write parameters()"),
        ("(1).Linear", "Check the spelling"),
    ],
)
def test_a_name_that_stands_elsewhere(source, words):
    said = told(source, **NAMES)
    assert words in said
    if "Did you mean torch" in said or "Did you mean nn" in said or "Did you mean F" in said:
        assert eval(said.removeprefix("Did you mean ").removesuffix("?"), dict(NAMES))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("torch.randn(3, require_grad=True)", "Did you mean requires_grad=?"),
        ("torch.ones(3).sum(dims=0)", "Did you mean dim=?"),
        ("torch.ones(3).sum(colour=0)", "compare with the forms"),
        ("net = nn.Linear(1, 1)\noptim.SGD(net.parameters, lr=1)", "net.parameters()"),
        ("net = nn.Linear(1, 1)\noptim.SGD(net, lr=1)", "model.parameters()"),
        ("for x, y in torch.ones(2, 3): pass", "holds more things than"),
        ("for x, y, z in [(1, 2)]: pass", "holds fewer things than"),
        ("a, b = 1, 2, 3", "Left and right of ="),
        (
            "x = torch.ones(1, requires_grad=True)\ny = x * 2\ny.backward\nx.grad.item()",
            "Line 3 names backward without calling it: write y.backward()",
        ),
        (
            "x = torch.ones(1, requires_grad=True)\n(x * 2).backward\n0.1 * x.grad",
            "write (x * 2).backward()",
        ),
        ("x = torch.ones(1, requires_grad=True)\n0.1 * x.grad", "None until backward() has run"),
        ("def f(): pass\nf().sum()", "forget its return"),
        ("def f(): pass\nf() + 1", "forget its return"),
    ],
)
def test_arguments_elements_and_calls_that_do_not_fit(source, words):
    assert words in told(source, **NAMES)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("F.cross_entropy(torch.ones(2, 7, 5), torch.ones(2, 7).long())", ".transpose(1, 2)"),
        ("torch.ones(2) - (torch.ones(2) > 0); (torch.ones(2) > 0) - (torch.ones(2) > 0)", "count"),
        ("torch.ones(2, 2).dot(torch.ones(2, 2))", "a @ b"),
        ("torch.stack(torch.ones(2), torch.ones(2))", "torch.stack([a, b])"),
        ("torch.cat(torch.ones(2), torch.ones(2))", "torch.cat([a, b])"),
        ("torch.ones(2, 3).gather(1, torch.ones(2, 1))", "add .long()"),
        ("torch.tensor([torch.ones(2), torch.ones(3)])", "torch.stack or torch.cat"),
        ("float(torch.tensor([1.0, 2.0]))", "use .sum()"),
        ("[1, 2] + torch.ones(2)", "torch.tensor(...)"),
        ("F.max_pool2d(torch.ones(2, 3), 2)", "(batch, channel, height, width)"),
        ("torch.ones(5).split([2, 2])", "add up to 5"),
        ("range(torch.tensor(2.5))", "int(x)"),
        ("torch.utils.data.Dataset()[0]", "__getitem__(self, index)"),
        ("with torch.no_grad: pass", "with torch.no_grad()"),
        ("F.cross_entropy(torch.ones(1, 4), torch.tensor([-1]))", "There is no class -1"),
        ("nn.ModuleList([nn.ReLU()])(1)", "only holds layers"),
        ("bn = nn.BatchNorm1d(3)\nbn(torch.ones(1, 3))", "momentum=0.1, affine=True)."),
    ],
)
def test_shapes_and_containers(source, words):
    assert words in told(source, **NAMES)
