"""Hints tell the real shapes, dtypes and devices of what takes part, by name."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn, optim

from gradscribe.engine.hints import operands
from gradscribe.engine.hints.advice import HintContext
from tests.engine.hints.told import told

NAMES = {"torch": torch, "nn": nn, "F": F, "optim": optim}

PROVOKED = [
    ("x, w = torch.ones(2, 3), torch.ones(4, 5)\nx @ w", ["x is (2, 3)", "w is (4, 5)"]),
    ("x, fc = torch.ones(4, 5), nn.Linear(3, 2)\nfc(x)", ["x is (4, 5)", "fc is Linear(3, 2)"]),
    ("x, y = torch.ones(3), torch.ones(4)\nx + y", ["x is (3,)", "y is (4,)"]),
    ("x = torch.ones(3)\nx.expand(2, 4)", ["x is (3,)"]),
    ("x = torch.ones(2, 3)\nx.view(5)", ["x is (2, 3)"]),
    ("x = torch.ones(2, 3).t()\nx.view(6)", ["x is (3, 2)", "reshape"]),
    ("m, v = torch.ones(2, 3), torch.ones(4)\nm @ v", ["m is (2, 3)", "v is (4,)"]),
    ("a, b = torch.ones(2), torch.ones(3)\ntorch.dot(a, b)", ["a is (2,)", "b is (3,)"]),
    ("a, b = torch.ones(2, 3), torch.ones(3, 2)\ntorch.bmm(a, b)", ["a is (2, 3)"]),
    (
        "a, b = torch.ones(2, 3), torch.ones(3, 2)\ntorch.cat([a, b])",
        ["a is (2, 3)", "b is (3, 2)"],
    ),
    ("a, b = torch.ones(2), torch.ones(3)\ntorch.stack([a, b])", ["a is (2,)", "b is (3,)"]),
    (
        "c, x = nn.Conv2d(3, 2, 3), torch.ones(1, 1, 8, 8)\nc(x)",
        ["x is (1, 1, 8, 8)", "Conv2d(3, 2"],
    ),
    ("c, x = nn.Conv2d(3, 2, 3), torch.ones(1, 3, 2, 2)\nc(x)", ["x is (1, 3, 2, 2)"]),
    ("c, x = nn.Conv2d(3, 2, 3), torch.ones(3, 3)\nc(x)", ["x is (3, 3)"]),
    (
        "p, t = torch.ones(2, 1), torch.ones(2)\nF.binary_cross_entropy(p, t)",
        ["p is (2, 1)", "t is (2,)"],
    ),
    (
        "p, t = torch.ones(2, 3), torch.tensor([0, 1, 2])\nF.cross_entropy(p, t)",
        ["p is (2, 3)", "t is (3,)"],
    ),
    (
        "p, t = torch.ones(2, 3), torch.tensor([0, 7])\nF.cross_entropy(p, t)",
        ["class 7", "p is (2, 3)"],
    ),
    ("p, t = torch.ones(2, 3), torch.ones(2)\nF.cross_entropy(p, t)", ["t is (2,) float32"]),
    ("p, t = torch.ones(2, 3), torch.ones(2, 1).long()\nF.cross_entropy(p, t)", ["t is (2, 1)"]),
    ("bn, x = nn.BatchNorm1d(3), torch.ones(1, 3)\nbn(x)", ["x is (1, 3)", "BatchNorm1d(3"]),
    ("x = torch.ones(2)\nx.item()", ["x is (2,)"]),
    ("x = torch.ones(2)\nfloat(x)", ["x is (2,)"]),
    ("x = torch.ones(3)\nx[5]", ["x is (3,)", "from 0 to 2"]),
    ("x = torch.ones(3)\nx[0, 1]", ["x is (3,)"]),
    ("x = torch.ones(2, 3)\nx.sum(5)", ["x is (2, 3)"]),
    ("e, i = nn.Embedding(3, 2), torch.tensor([5])\ne(i)", ["e is Embedding(3, 2)"]),
    ("e, i = nn.Embedding(3, 2), torch.tensor([1.0])\ne(i)", [".long()", "i is (1,)"]),
    ("x, i = torch.ones(2), torch.ones(2)\nx[i]", ["x is (2,) float32", ".long()"]),
    ("x, m = torch.ones(2), torch.tensor([True, False, True])\nx[m]", ["m is (3,)", "mask"]),
    ("a, b = torch.ones(2, 2), torch.ones(2, 2).double()\na @ b", ["b is (2, 2) float64"]),
    ("f, x = nn.Linear(2, 2), torch.ones(2).long()\nf(x)", ["x is (2,) int64", "in float32"]),
    ("x = torch.ones(2).long()\nx.mean()", ["x is (2,) int64", ".float()"]),
    ("a, b = torch.ones(2), torch.ones(2, device='meta')\na + b", ["a is on cpu", "b is on meta"]),
    (
        "p, t = torch.tensor([2.0]), torch.ones(1)\nF.binary_cross_entropy(p, t)",
        ["sigmoid", "p is (1,)"],
    ),
    ("m = torch.zeros(2, 2)\ntorch.linalg.inv(m)", ["inverse", "m is (2, 2)"]),
    ("w = torch.ones(2, requires_grad=True) * 2\noptim.SGD([w], lr=0.1)", ["leaves", "w is (2,)"]),
    (
        "p, t = torch.ones(3, 2), torch.ones(3)\nF.binary_cross_entropy_with_logits(p, t)",
        ["p is (3, 2)", "t is (3,)"],
    ),
    ("x = torch.ones(2, 3)\nx.squeeze(4)", ["x is (2, 3)", "-2 to 1"]),
    ("x, w = torch.ones(2, 3), torch.ones(5, 4)\nF.linear(x, w)", ["x is (2, 3)", "w is (5, 4)"]),
    ("x = torch.ones(2, 3)\nif x:\n    pass", [".any()"]),
    ("x = torch.ones(2, requires_grad=True)\n(x * 2).backward()", [".sum()"]),
    ("x = torch.ones(2)\nx.sum().backward()", ["requires_grad=True"]),
    ("x = torch.ones(2, requires_grad=True)\nx.numpy()", [".detach().numpy()"]),
    ("x = torch.ones(2, requires_grad=True)\nx += 1", ["no_grad"]),
    (
        "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()",
        ["Exp saved"],
    ),
]


@pytest.mark.parametrize(("source", "words"), PROVOKED, ids=[source for source, _ in PROVOKED])
def test_torch_s_own_errors_are_told_with_what_took_part(source, words):
    hint = told(source, **NAMES)
    assert all(word in hint for word in words), hint


def test_at_least_forty_errors_are_provoked():
    assert len(PROVOKED) >= 40


def test_fields_of_modules_are_looked_up_without_running_code():
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
    def forward(self, x):
        return self.fc(x)
Net()(torch.ones(4, 5))
"""
    assert "x is (4, 5) and self.fc is Linear(3, 2)." in told(source, **NAMES)


def test_a_property_of_the_program_s_is_never_called():
    class Trap:
        @property
        def weight(self):
            raise AssertionError("called")

    assert operands.operands(HintContext(ValueError(), "trap.weight + 1", {"trap": Trap()})) == []


@pytest.mark.parametrize("code", ["", "x = (", "for i in x:", "a; b", "é +"])
def test_code_that_is_no_expression_tells_nothing(code):
    assert operands.described(HintContext(ValueError(), code, {"x": 1})) == ""
